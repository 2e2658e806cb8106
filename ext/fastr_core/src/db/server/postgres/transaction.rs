//! Transactions as one connection sees them: the statement that opens one, and whether one is open. It reads the first
//! words of statements and decides nothing about queues.

use sqlx::Row;

use super::error::{self, Reached};
use super::session::PostgresSession;
use crate::db::Isolation;
use crate::db::query::BeginOptions;
use crate::db::server::driver::Failure;
use crate::db::statement::{Statement, first_word};
use crate::error::Error;

/// One statement, so that it costs one round trip.
pub(super) fn begin(options: &BeginOptions) -> Result<String, Error> {
    let is_serializable = options.isolation == Some(Isolation::Serializable);
    if options.deferrable && !(is_serializable && options.read_only) {
        return Err(Error::Invalid(
            "a deferrable transaction waits only if it is serializable and read only; add isolation: :serializable, \
             read_only: true"
                .into(),
        ));
    }
    let mut sql = String::from("BEGIN");
    if let Some(isolation) = options.isolation {
        sql.push_str(" ISOLATION LEVEL ");
        sql.push_str(isolation.sql());
    }
    if options.read_only {
        sql.push_str(" READ ONLY");
    }
    if options.deferrable {
        sql.push_str(" DEFERRABLE");
    }
    Ok(sql)
}

/// Whether a transaction is open once this statement has run.
pub(super) fn after(statement: Statement, sql: &str, was_open: bool) -> bool {
    match statement {
        Statement::Transaction => {
            let is_chained = words(sql).any(|word| word.eq_ignore_ascii_case("chain"));
            is_chained || opens(sql)
        }
        Statement::Write if opens(sql) => true,
        _ => was_open,
    }
}

fn opens(sql: &str) -> bool {
    let word = first_word(sql);
    word.eq_ignore_ascii_case("begin") || word.eq_ignore_ascii_case("start")
}

/// Whether a server that shuts down in the middle of it leaves nothing of it behind.
pub(super) fn is_atomic(statement: Statement, sql: &str) -> bool {
    match statement {
        Statement::Read | Statement::Insert => true,
        _ => ["update", "delete", "merge", "with"]
            .iter()
            .any(|verb| first_word(sql).eq_ignore_ascii_case(verb)),
    }
}

/// COPY over the connection itself, which needs a protocol of its own.
pub(super) fn is_copy_with_client(sql: &str) -> bool {
    if !first_word(sql).eq_ignore_ascii_case("copy") {
        return false;
    }
    let words: Vec<&str> = sql.split_ascii_whitespace().collect();
    let is = |word: &str, expected: &str| word.trim_end_matches(';').eq_ignore_ascii_case(expected);
    words.windows(2).any(|pair| {
        is(pair[0], "from") && is(pair[1], "stdin") || is(pair[0], "to") && is(pair[1], "stdout")
    })
}

fn words(sql: &str) -> impl Iterator<Item = &str> {
    sql.split(|character: char| !character.is_ascii_alphanumeric())
}

/// Whether a script left a transaction open. The server is only asked if one of the script's words can open one.
pub(super) async fn is_open(session: &mut PostgresSession, script: &str) -> Result<bool, Failure> {
    let may = words(script).any(|word| {
        [
            "begin", "start", "commit", "rollback", "end", "abort", "prepare",
        ]
        .iter()
        .any(|control| word.eq_ignore_ascii_case(control))
    });
    if !may {
        return Ok(session.was_in_transaction());
    }
    // Outside of a transaction every simple statement is one of its own, which begins when it arrives.
    let question = "select now() <> statement_timestamp()";
    match sqlx::raw_sql(question)
        .fetch_one(&mut session.connection)
        .await
    {
        Ok(row) => Ok(row
            .try_get_raw(0)
            .is_ok_and(|answer| answer.as_bytes().is_ok_and(|text| text == b"t"))),
        Err(error) => {
            let failure = error::of_statement(error, question, Reached::Preparation);
            let failure = session.settled(failure).await;
            // A transaction that failed is one all the same.
            match &failure.error.code {
                Some(crate::error::ErrorCode::State(state)) if state == "25P02" => Ok(true),
                _ => Err(failure),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_statement_opens_a_transaction() {
        let options = BeginOptions {
            isolation: Some(Isolation::Serializable),
            read_only: true,
            deferrable: true,
            ..BeginOptions::default()
        };
        assert_eq!(
            begin(&options).unwrap(),
            "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE"
        );
        assert_eq!(begin(&BeginOptions::default()).unwrap(), "BEGIN");
        let alone = BeginOptions {
            deferrable: true,
            ..BeginOptions::default()
        };
        assert!(
            begin(&alone)
                .unwrap_err()
                .to_string()
                .contains("serializable")
        );
    }

    #[test]
    fn only_a_copy_over_the_connection_is_one() {
        assert!(is_copy_with_client("copy t from stdin"));
        assert!(is_copy_with_client("/* x */ COPY (select 1) TO STDOUT"));
        assert!(!is_copy_with_client("copy t from '/tmp/stdin.csv2'"));
        assert!(!is_copy_with_client("select 'copy t from stdin'"));
    }
}
