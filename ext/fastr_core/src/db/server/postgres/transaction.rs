//! Transactions as far as the text of a statement tells: the statement that opens one, and what a statement leaves behind
//! that is cut off. Whether one is open only the server says.

use crate::db::Isolation;
use crate::db::query::BeginOptions;
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
