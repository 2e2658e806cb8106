//! Keeps a prepared statement prepared.
//!
//! SQLite plans `LIMIT ?` and most `column = ?` for the value that is bound, and therefore parses and plans such a
//! statement again whenever a value is bound to it, which costs several times what a small query does. Its "query
//! planner stability guarantee" ends that. The guarantee is on as long as nothing in the schema makes the value
//! matter: a partial index is chosen only if the value implies its condition, `sqlite_stat4` knows how frequent a
//! value is, and LIKE with a NOCASE column (or GLOB) finds its range in the pattern.

use rusqlite::config::DbConfig;
use rusqlite::{Connection, Statement, StatementStatus};

/// What makes plans for the bound value worth their price.
const VALUES_MATTER: &str = "select exists (select 1 from sqlite_schema where name = 'sqlite_stat4' \
                             or (type = 'index' and sql like '%where%') or sql like '%nocase%')";

/// What a connection knows about its plans.
#[derive(Debug)]
pub(super) struct Planning {
    /// The schema that was looked at; none yet.
    schema: Option<i64>,
    stable: bool,
    /// A statement with GLOB was seen: the schema does not tell whether its value matters.
    globs: bool,
}

impl Planning {
    /// For a connection that has prepared nothing yet: a statement never forgets that it was planned for a value.
    pub(super) fn new(connection: &Connection) -> rusqlite::Result<Self> {
        guarantee(connection, true)?;
        Ok(Self {
            schema: None,
            stable: true,
            globs: false,
        })
    }

    /// Before a statement runs: one that was just prepared may be the first to meet a new schema. What cannot be
    /// found out now is found out by the next statement.
    pub(super) fn prepared(
        &mut self,
        connection: &Connection,
        statement: &Statement<'_>,
        sql: &str,
    ) {
        if statement.get_status(StatementStatus::Run) == 0 {
            self.globs |= contains_word(sql, "glob");
            self.look(connection).ok();
        }
    }

    /// After a statement ran: with stable plans only a new schema makes SQLite prepare it again.
    pub(super) fn ran(&mut self, connection: &Connection, statement: &Statement<'_>) {
        if self.stable && statement.reset_status(StatementStatus::RePrepare) > 0 {
            self.look(connection).ok();
        }
    }

    fn look(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let number = |sql| {
            connection
                .prepare_cached(sql)?
                .query_row([], |row| row.get(0))
        };
        let schema: i64 = number("PRAGMA schema_version")?;
        if self.schema == Some(schema) && !(self.stable && self.globs) {
            return Ok(());
        }
        let values_matter: i64 = number(VALUES_MATTER)?;
        let stable = values_matter == 0 && !self.globs;
        if stable != self.stable {
            guarantee(connection, stable)?;
            connection.flush_prepared_statement_cache();
        }
        (self.schema, self.stable) = (Some(schema), stable);
        Ok(())
    }
}

fn guarantee(connection: &Connection, on: bool) -> rusqlite::Result<bool> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, on)
}

fn contains_word(sql: &str, word: &str) -> bool {
    sql.as_bytes()
        .windows(word.len())
        .any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// How often SQLite prepared the statement again while it ran ten times.
    fn prepared_again(connection: &Connection, planning: &mut Planning, sql: &str) -> i32 {
        let mut again = 0;
        for value in 0..10 {
            let mut statement = connection.prepare_cached(sql).unwrap();
            planning.prepared(connection, &statement, sql);
            statement.reset_status(StatementStatus::RePrepare);
            statement.raw_bind_parameter(1, value).unwrap();
            let mut rows = statement.raw_query();
            while rows.next().unwrap().is_some() {}
            drop(rows);
            again += statement.get_status(StatementStatus::RePrepare);
            planning.ran(connection, &statement);
        }
        again
    }

    fn users() -> (Connection, Planning) {
        let connection = Connection::open_in_memory().unwrap();
        let schema = "create table users (id integer primary key, name text, team integer);
                      create index users_by_team on users (team)";
        connection.execute_batch(schema).unwrap();
        let planning = Planning::new(&connection).unwrap();
        (connection, planning)
    }

    #[test]
    fn a_statement_is_parsed_once_whatever_is_bound_to_it() {
        let (connection, mut planning) = users();
        for sql in [
            "select name from users order by id limit ?",
            "select name from users where team = ?",
            "select name from users where name = ?",
        ] {
            // The first statement of a connection may be prepared before the guarantee was given.
            assert!(
                prepared_again(&connection, &mut planning, sql) <= 1,
                "{sql}"
            );
        }
        assert!(planning.stable);
    }

    #[test]
    fn a_schema_whose_plans_depend_on_values_gets_them() {
        for schema in [
            "create index adults on users (name) where team = 1",
            "create table places (name text collate nocase)",
            "analyze",
        ] {
            let (connection, mut planning) = users();
            connection
                .execute_batch("insert into users (name, team) values ('a', 1), ('b', 2)")
                .unwrap();
            let sql = "select name from users where team = ?";
            prepared_again(&connection, &mut planning, sql);
            assert!(planning.stable);
            connection.execute_batch(schema).unwrap();
            prepared_again(&connection, &mut planning, sql);
            assert!(!planning.stable, "{schema}");
        }
    }

    #[test]
    fn a_new_statement_notices_a_new_schema_too() {
        let (connection, mut planning) = users();
        prepared_again(&connection, &mut planning, "select 1 limit ?");
        connection
            .execute_batch("create index adults on users (name) where team = 1")
            .unwrap();
        prepared_again(&connection, &mut planning, "select 2 limit ?");
        assert!(!planning.stable);
        connection.execute_batch("drop index adults").unwrap();
        prepared_again(&connection, &mut planning, "select 3 limit ?");
        assert!(planning.stable);
    }

    #[test]
    fn a_pattern_that_is_bound_finds_its_range() {
        let (connection, mut planning) = users();
        prepared_again(
            &connection,
            &mut planning,
            "select name from users where name GLOB ?",
        );
        assert!(!planning.stable);
    }
}
