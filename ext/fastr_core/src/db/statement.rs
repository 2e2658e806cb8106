//! What a statement does, guessed from its first words. Whether it writes is only a hint that saves a detour: the
//! database has the last word. Whether it controls transactions is binding, because such a statement would leave its
//! connection in a state that the next user of the connection must not meet.

/// What a statement looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statement {
    /// It probably only reads.
    Read,
    /// It probably inserts.
    Insert,
    /// It probably writes, or sets something up.
    Write,
    /// `BEGIN`, `COMMIT`, `END` or `ROLLBACK`, and what PostgreSQL and MySQL call so.
    Transaction,
    /// `SAVEPOINT`, `RELEASE` or `ROLLBACK TO`: legal inside a transaction only.
    Savepoint,
    /// `ATTACH` or `DETACH`: they change one connection only.
    Attach,
}

/// Pragmas that answer a question about the schema and change nothing.
const READING_PRAGMAS: [&str; 13] = [
    "table_info",
    "table_xinfo",
    "table_list",
    "index_list",
    "index_info",
    "index_xinfo",
    "foreign_key_list",
    "foreign_key_check",
    "database_list",
    "collation_list",
    "function_list",
    "compile_options",
    "integrity_check",
];

/// Classifies one statement by its text.
#[must_use]
pub fn classify(sql: &str) -> Statement {
    let mut words = Words(sql);
    let Some(verb) = words.next() else {
        return Statement::Read;
    };
    let is = |candidates: &[&str]| {
        candidates
            .iter()
            .any(|word| verb.eq_ignore_ascii_case(word))
    };
    if is(&["select", "values", "explain"]) {
        Statement::Read
    } else if is(&["insert", "replace"]) {
        Statement::Insert
    } else if is(&["with"]) {
        with(words)
    } else if is(&["pragma"]) {
        pragma(words)
    } else if is(&["begin", "commit", "end", "abort"])
        || is(&["start", "prepare"]) && next_is(&mut words, "transaction")
    {
        Statement::Transaction
    } else if is(&["rollback"]) {
        rollback(words)
    } else if is(&["savepoint", "release"]) {
        Statement::Savepoint
    } else if is(&["attach", "detach"]) {
        Statement::Attach
    } else {
        Statement::Write
    }
}

fn next_is(words: &mut Words<'_>, expected: &str) -> bool {
    words
        .next()
        .is_some_and(|word| word.eq_ignore_ascii_case(expected))
}

/// The words of a statement, also those in quoted text.
pub(crate) fn words(sql: &str) -> impl Iterator<Item = &str> {
    Words(sql)
}

/// The first word of a statement, none if it has no word.
pub(crate) fn first_word(sql: &str) -> &str {
    Words(sql).next().unwrap_or_default()
}

fn with(words: Words<'_>) -> Statement {
    for word in words {
        if word.eq_ignore_ascii_case("insert") {
            return Statement::Insert;
        }
        if word.eq_ignore_ascii_case("update") || word.eq_ignore_ascii_case("delete") {
            return Statement::Write;
        }
    }
    Statement::Read
}

fn pragma(mut words: Words<'_>) -> Statement {
    let name = words.next().unwrap_or_default();
    if READING_PRAGMAS
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
    {
        Statement::Read
    } else {
        Statement::Write
    }
}

fn rollback(mut words: Words<'_>) -> Statement {
    let first = words.next().unwrap_or_default();
    let next = if first.eq_ignore_ascii_case("transaction") {
        words.next().unwrap_or_default()
    } else {
        first
    };
    if next.eq_ignore_ascii_case("to") {
        Statement::Savepoint
    } else {
        Statement::Transaction
    }
}

/// The bare words of a statement: comments and punctuation are skipped, quoted text is not recognised (a word inside a
/// string costs at most a detour).
struct Words<'a>(&'a str);

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        loop {
            self.0 = skip_comments(self.0);
            let first = self.0.chars().next()?;
            if is_word(first) {
                let end = self.0.find(|c| !is_word(c)).unwrap_or(self.0.len());
                let (word, rest) = self.0.split_at(end);
                self.0 = rest;
                return Some(word);
            }
            self.0 = &self.0[first.len_utf8()..];
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii() && c != '\u{feff}'
}

fn skip_comments(mut sql: &str) -> &str {
    loop {
        let (rest, end) = if let Some(rest) = sql.strip_prefix("--") {
            (rest, "\n")
        } else if let Some(rest) = sql.strip_prefix("/*") {
            (rest, "*/")
        } else {
            return sql;
        };
        sql = rest.split_once(end).map_or("", |(_, after)| after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_case_and_a_byte_order_mark_do_not_hide_the_verb() {
        for sql in [
            "BEGIN",
            "begin immediate",
            " -- x\n\tCoMMit",
            "/* a */ /* b */END;",
            "\u{feff}rollback",
            ";begin",
            "ROLLBACK TRANSACTION",
            "start transaction read only",
            "abort",
            "prepare transaction 'x'",
        ] {
            assert_eq!(classify(sql), Statement::Transaction, "{sql}");
        }
    }

    #[test]
    fn savepoints_are_told_from_transaction_control() {
        for sql in [
            "savepoint a",
            "release a",
            "rollback to a",
            "rollback transaction to savepoint a",
        ] {
            assert_eq!(classify(sql), Statement::Savepoint, "{sql}");
        }
    }

    #[test]
    fn reads_and_writes_are_guessed() {
        assert_eq!(classify("select 1"), Statement::Read);
        assert_eq!(classify("(select 1)"), Statement::Read);
        assert_eq!(
            classify("with a as (select 1) select * from a"),
            Statement::Read
        );
        assert_eq!(
            classify("with a as (select 1) insert into t select * from a"),
            Statement::Insert
        );
        assert_eq!(classify("pragma table_info(users)"), Statement::Read);
        assert_eq!(classify("pragma foreign_keys = off"), Statement::Write);
        assert_eq!(classify("pragma foreign_keys(off)"), Statement::Write);
        assert_eq!(classify("delete from t"), Statement::Write);
        assert_eq!(classify("prepare x as select 1"), Statement::Write);
        assert_eq!(classify(""), Statement::Read);
        assert_eq!(classify("-- only a comment"), Statement::Read);
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_classifier_panic(sql in "(\\PC|[;/*(\n -]){0,60}") {
            let _ = (classify(&sql), first_word(&sql));
        }

        #[test]
        fn nothing_before_the_verb_hides_that_it_controls_transactions(
            blanks in proptest::collection::vec(
                proptest::sample::select(&[" ", "\n", ";", "-- commit\n", "/* ' */", "/**/", "\u{feff}", "--\n"][..]),
                0..6,
            ),
            verb in proptest::sample::select(&["begin", "COMMIT", "End", "rollback"][..]),
        ) {
            proptest::prop_assert_eq!(classify(&format!("{}{verb}", blanks.concat())), Statement::Transaction);
        }
    }
}
