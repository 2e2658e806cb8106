//! What a connection knows of the statements it has prepared, beside sqlx's own cache of the prepared forms: how many
//! values they take, what their columns are, what they do.

use std::collections::HashMap;
use std::sync::Arc;

use sqlx::{AssertSqlSafe, Either, Executor, MySqlConnection, SqlSafeStr, SqlStr, Statement};

use super::columns::Layout;
use super::decode::Format;
use super::error;
use super::text::{self, Traits};

/// The server has no prepared form of such a statement.
const UNSUPPORTED: u16 = 1295;

/// The server keeps no more prepared statements.
const TOO_MANY_PREPARED: u16 = 1461;

/// The statement is not understood.
const SYNTAX: u16 = 1064;

/// No fewer statements are kept prepared. Closing one costs up to 40 ms: the server answers nothing to it, and sqlx
/// leaves Nagle's algorithm on, so the next statement waits until the server's kernel acknowledges the close. That is
/// why statements are closed all together when there are too many, and never one by one.
const LEAST: usize = 16;

/// One statement.
#[derive(Debug)]
pub(super) struct Prepared {
    sql: Arc<str>,
    pub(super) traits: Traits,
    /// How many values it takes.
    pub(super) parameters: usize,
    /// What its columns were when it was prepared, or at its last execution.
    pub(super) layout: Option<Arc<Layout>>,
    /// In which format it answers.
    pub(super) format: Format,
}

impl Prepared {
    /// The statement's text for sqlx. It comes from the SQL builder, or from who wrote raw SQL on purpose: this is the
    /// one place that vouches for it.
    pub(super) fn sql(&self) -> SqlStr {
        safe(&self.sql)
    }

    fn new(sql: Arc<str>, traits: Traits) -> Self {
        Self {
            sql,
            traits,
            parameters: 0,
            layout: None,
            format: Format::Text,
        }
    }
}

/// The statements that one connection knows.
#[derive(Debug)]
pub(super) struct Statements {
    known: HashMap<Arc<str>, Arc<Prepared>>,
    capacity: usize,
    /// The link's count of schema changes when they were prepared.
    pub(super) schema: u64,
}

/// How many statements a connection keeps prepared, of so many that were asked for.
pub(super) fn capacity(asked: usize) -> usize {
    asked.max(LEAST)
}

/// Why a statement was not prepared.
#[derive(Debug)]
pub(super) enum Refusal {
    /// It may not run here.
    Ours(String),
    /// The server's reason.
    Server(sqlx::Error),
    /// The server's reason, and there are several statements where one is allowed.
    Several(sqlx::Error),
}

impl Statements {
    pub(super) fn new(capacity: usize, schema: u64) -> Self {
        Self {
            known: HashMap::new(),
            capacity,
            schema,
        }
    }

    /// Whether there is no room for another one.
    pub(super) fn is_full(&self) -> bool {
        self.known.len() >= self.capacity
    }

    /// The statement, if it was prepared before.
    pub(super) fn get(&self, sql: &str) -> Option<Arc<Prepared>> {
        self.known.get(sql).map(Arc::clone)
    }

    /// Prepares a statement for the first time.
    pub(super) async fn prepare(
        &mut self,
        connection: &mut MySqlConnection,
        sql: &str,
    ) -> Result<Arc<Prepared>, Refusal> {
        let traits = text::traits(sql);
        if let Some(reason) = traits.refusal {
            return Err(Refusal::Ours(reason.into()));
        }
        let mut prepared = Prepared::new(sql.into(), traits);
        if !traits.is_control {
            match connection.prepare(safe(&prepared.sql)).await {
                Ok(statement) => {
                    prepared.parameters = match statement.parameters() {
                        Some(Either::Right(count)) => count,
                        _ => 0,
                    };
                    let columns = statement.columns();
                    prepared.layout = (!columns.is_empty()).then(|| Arc::new(Layout::new(columns)));
                    prepared.format = Format::Binary;
                }
                Err(failure) => match error::number(&failure) {
                    Some(UNSUPPORTED | TOO_MANY_PREPARED) => {}
                    Some(SYNTAX) if traits.is_several => return Err(Refusal::Several(failure)),
                    _ => return Err(Refusal::Server(failure)),
                },
            }
        }
        if prepared.format == Format::Text && traits.is_several {
            return Err(Refusal::Ours(several().into()));
        }
        Ok(self.keep(prepared))
    }

    /// Remembers what the columns of a statement have become.
    pub(super) fn relayout(&mut self, old: &Prepared, layout: Arc<Layout>) {
        let prepared = Prepared {
            sql: Arc::clone(&old.sql),
            layout: Some(layout),
            ..*old
        };
        self.keep(prepared);
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self, schema: u64) {
        self.known.clear();
        self.schema = schema;
    }

    fn keep(&mut self, prepared: Prepared) -> Arc<Prepared> {
        let prepared = Arc::new(prepared);
        self.known
            .insert(Arc::clone(&prepared.sql), Arc::clone(&prepared));
        prepared
    }
}

/// What to do with several statements.
pub(super) fn several() -> &'static str {
    "there is a second statement after the first; submit them one by one or use `execute_script`"
}

fn safe(sql: &Arc<str>) -> SqlStr {
    AssertSqlSafe(Arc::clone(sql)).into_sql_str()
}
