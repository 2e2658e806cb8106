//! The rows of a statement in batches, handed over while it runs. A reader that is slow slows the server; one that went
//! away is stopped by the pool, and the rest is drained here.

use std::sync::Arc;

use futures_util::TryStreamExt;
use sqlx::mysql::{MySqlArguments, MySqlRow};
use sqlx::{Either, MySqlConnection, Row};

use super::columns::Layout;
use super::fetch;
use super::prepared::Prepared;
use crate::db::feed::Feed;
use crate::db::rows::{Rows, Value};

/// Hands rows over until the end. What the columns have become, if they were no longer those that were known.
pub(super) async fn feed(
    connection: &mut MySqlConnection,
    statement: &Prepared,
    arguments: MySqlArguments,
    batch: usize,
    feed: &Feed<Arc<Rows>>,
) -> Result<Option<Arc<Layout>>, sqlx::Error> {
    let mut batches = Batches::new(statement, batch);
    let mut steps = fetch::execute(connection, statement, arguments);
    while let Some(step) = steps.try_next().await? {
        if let Either::Right(row) = step
            && !batches.is_over
            && let Some(full) = batches.row(&row)
        {
            batches.is_over = feed.push(full).await.is_err();
        }
    }
    if let Some(rest) = batches.rest() {
        let _ = feed.push(rest).await;
    }
    Ok(batches.changed)
}

/// Rows of a stream, on their way into batches.
struct Batches<'a> {
    statement: &'a Prepared,
    layout: Option<Arc<Layout>>,
    changed: Option<Arc<Layout>>,
    values: Vec<Value>,
    rows: usize,
    size: usize,
    is_over: bool,
}

impl<'a> Batches<'a> {
    fn new(statement: &'a Prepared, size: usize) -> Self {
        Self {
            statement,
            layout: None,
            changed: None,
            values: Vec::new(),
            rows: 0,
            size,
            is_over: false,
        }
    }

    /// Takes a row, and gives a batch once it is full.
    fn row(&mut self, row: &MySqlRow) -> Option<Arc<Rows>> {
        let layout = match &self.layout {
            Some(layout) => Arc::clone(layout),
            None => self.lay_out(row),
        };
        fetch::push(&mut self.values, &layout, row, self.statement.format);
        self.rows += 1;
        (self.rows >= self.size).then(|| self.take()).flatten()
    }

    fn rest(&mut self) -> Option<Arc<Rows>> {
        (self.rows > 0 && !self.is_over)
            .then(|| self.take())
            .flatten()
    }

    fn take(&mut self) -> Option<Arc<Rows>> {
        self.rows = 0;
        let columns = Arc::clone(&self.layout.as_ref()?.columns);
        Some(Arc::new(Rows::new(
            columns,
            std::mem::take(&mut self.values),
        )))
    }

    fn lay_out(&mut self, row: &MySqlRow) -> Arc<Layout> {
        let known = self
            .statement
            .layout
            .as_ref()
            .filter(|layout| layout.fits(row.columns()));
        let layout = known.map_or_else(|| Arc::new(Layout::new(row.columns())), Arc::clone);
        if known.is_none() {
            self.changed = Some(Arc::clone(&layout));
        }
        self.layout = Some(Arc::clone(&layout));
        layout
    }
}
