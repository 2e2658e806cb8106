//! What a statement's text tells before it runs: its verb, whether there is more than one, what it does to an open
//! transaction. Strings, quoted names and comments are skipped; what is not understood counts as anything.

/// What a statement may do to the transaction of its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing.
    None,
    /// Opens one.
    Begins,
    /// Ends it.
    Ends,
    /// Changes the schema, and ends it on the way.
    Schema,
    /// Ends it on the way.
    Commits,
    /// Anything: the server has to be asked.
    Unknown,
}

/// What is known of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Traits {
    pub(super) effect: Effect,
    /// It only reads: repeating it does no harm.
    pub(super) reads: bool,
    /// It writes rows, or may.
    pub(super) writes: bool,
    /// It controls transactions: prepared forms of it are of no use.
    pub(super) is_control: bool,
    /// There is a second statement after the first.
    pub(super) is_several: bool,
    /// Why it may not run here: it would leave the connection in a state that its next user must not meet.
    pub(super) refusal: Option<&'static str>,
}

/// Words of a read that locks, writes, or asks for what only this connection knows.
const DEPENDS: [&str; 8] = [
    "update",
    "share",
    "into",
    "nextval",
    "lastval",
    "last_insert_id",
    "found_rows",
    "row_count",
];

/// Looks at a statement's text.
pub(super) fn traits(sql: &str) -> Traits {
    let mut words: Vec<String> = Vec::new();
    let (mut ended, mut is_several, mut depends) = (false, false, sql.contains('@'));
    for token in Tokens(sql) {
        match token {
            ";" => ended = true,
            word => {
                is_several |= ended;
                let word = word.to_ascii_lowercase();
                depends |= DEPENDS.contains(&word.as_str());
                if words.len() < 12 {
                    words.push(word);
                }
            }
        }
    }
    let word = |index: usize| words.get(index).map_or("", String::as_str);
    let verb = word(0);
    let chains = words.iter().any(|word| word == "chain");
    let is_temporary = word(1) == "temporary" || word(3) == "temporary";
    let effect = match (verb, word(1)) {
        ("begin", "") | ("start", "transaction") | ("begin", "work") => Effect::Begins,
        ("rollback", "to") | ("rollback", "work") if words.iter().any(|word| word == "to") => {
            Effect::None
        }
        ("commit" | "rollback", _) if !chains => Effect::Ends,
        ("create" | "drop", _) if is_temporary => Effect::None,
        ("create" | "alter" | "drop" | "rename", _) => Effect::Schema,
        ("truncate" | "analyze" | "optimize" | "grant" | "revoke" | "flush", _) => Effect::Commits,
        (
            "select" | "insert" | "update" | "delete" | "replace" | "with" | "show" | "explain"
            | "describe" | "desc" | "do" | "values" | "savepoint" | "release" | "kill",
            _,
        ) => Effect::None,
        ("set", "password") => Effect::Commits,
        ("set", second) if second != "statement" => Effect::None,
        _ => Effect::Unknown,
    };
    Traits {
        effect,
        reads: matches!(
            verb,
            "select" | "show" | "explain" | "describe" | "desc" | "values" | "do"
        ) && !depends,
        writes: matches!(
            verb,
            "insert" | "update" | "delete" | "replace" | "call" | "load"
        ),
        is_control: matches!(effect, Effect::Begins | Effect::Ends)
            || matches!(verb, "savepoint" | "release" | "rollback")
            || verb == "set" && word(1) == "transaction",
        is_several,
        refusal: refusal(verb, &words),
    }
}

fn refusal(verb: &str, words: &[String]) -> Option<&'static str> {
    match verb {
        "use" => Some(
            "USE would change the database of everybody who gets this connection later; name the database in the \
             URL, or write database.table",
        ),
        "set" if words.iter().any(|word| word == "autocommit") => Some(
            "without autocommit nothing is ever committed by who gets this connection later; use `transaction`",
        ),
        "lock" | "unlock" => Some(
            "locked tables would stay locked for who gets this connection later; lock, work and unlock in one \
             `execute_script`, or lock rows by FOR UPDATE in a transaction",
        ),
        _ => None,
    }
}

/// The bare words of a text, and its semicolons.
struct Tokens<'a>(&'a str);

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        loop {
            let rest = self.0;
            let first = rest.chars().next()?;
            let end = match first {
                '\'' | '"' | '`' => quoted(rest, first),
                '#' => line(rest),
                '-' if is_dashes(rest) => line(rest),
                '/' if rest.starts_with("/*")
                    && !rest.starts_with("/*!")
                    && !rest.starts_with("/*M!") =>
                {
                    rest.find("*/").map_or(rest.len(), |end| end + 2)
                }
                ';' => {
                    self.0 = &rest[1..];
                    return Some(&rest[..1]);
                }
                // A comment that the server executes: its digits make a word that no verb is.
                _ if is_word(first) => {
                    let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                    self.0 = &rest[end..];
                    return Some(&rest[..end]);
                }
                other => other.len_utf8(),
            };
            self.0 = &rest[end..];
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

fn is_dashes(rest: &str) -> bool {
    rest.strip_prefix("--")
        .is_some_and(|after| after.is_empty() || after.starts_with(char::is_whitespace))
}

fn line(rest: &str) -> usize {
    rest.find('\n').map_or(rest.len(), |end| end + 1)
}

/// The length of a quoted text. A doubled quote reads as two texts in a row, which comes to the same.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (index, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' if quote != '`' => escaped = true,
            c if c == quote => return index + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effects_on_a_transaction_are_known_or_said_to_be_unknown() {
        for (sql, effect) in [
            ("START TRANSACTION READ ONLY", Effect::Begins),
            ("/* a */ begin", Effect::Begins),
            ("begin not atomic select 1; end", Effect::Unknown),
            ("# a\ncommit", Effect::Ends),
            ("rollback and chain", Effect::Unknown),
            ("rollback to savepoint a", Effect::None),
            ("rollback work to a", Effect::None),
            ("rollback", Effect::Ends),
            ("-- x\nalter table t add a int", Effect::Schema),
            ("create temporary table t (a int)", Effect::None),
            ("create or replace temporary table t (a int)", Effect::None),
            ("/*!40101 commit */", Effect::Unknown),
            ("call p()", Effect::Unknown),
            ("lock tables t read", Effect::Unknown),
            ("select 'commit'", Effect::None),
        ] {
            assert_eq!(traits(sql).effect, effect, "{sql}");
        }
    }

    #[test]
    fn a_second_statement_is_seen_wherever_it_hides() {
        for sql in [
            "select 1; drop table t",
            "select ';' ; x",
            "select 1;-- a\n x",
            "select `;`;/*!1 x */",
        ] {
            assert!(traits(sql).is_several, "{sql}");
        }
        for sql in [
            "select 1;",
            "select ';x'",
            "select 'a'';x'",
            r"select '\';x'",
            "select 1; -- x",
            "select 1;/* x */",
        ] {
            assert!(!traits(sql).is_several, "{sql}");
        }
    }

    #[test]
    fn a_read_that_locks_or_writes_a_file_is_not_repeated() {
        assert!(traits("select * from t").reads);
        for sql in [
            "select * from t for update",
            "select 1 into outfile 'x'",
            "update t set a = 1",
            "select last_insert_id()",
            "select @a",
            "",
        ] {
            assert!(!traits(sql).reads, "{sql}");
        }
    }

    #[test]
    fn what_would_outlast_its_user_is_refused() {
        for sql in [
            "set @@session.autocommit = 0",
            "use x",
            "LOCK TABLES t READ",
            "unlock tables",
        ] {
            assert!(traits(sql).refusal.is_some(), "{sql}");
        }
        for sql in [
            "set @a = 'autocommit'",
            "select 'use'",
            "select 1 for update",
        ] {
            assert!(traits(sql).refusal.is_none(), "{sql}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_scanner_panic(sql in "(\\PC|[;/*'\"`#!\\\\\n -]){0,60}") {
            let _ = traits(&sql);
        }

        #[test]
        fn only_a_semicolon_outside_strings_and_comments_ends_a_statement(
            pieces in proptest::collection::vec(
                proptest::sample::select(&["a", "';x'", "'it''s;x'", r"'\';x'", "\";x\"", "`;x`", "-- ;x\n", "# ;x\n", "/* ;x */", "1-1"][..]),
                0..8,
            ),
            has_second in proptest::bool::ANY,
        ) {
            let end = if has_second { "; x" } else { " ;" };
            proptest::prop_assert_eq!(traits(&format!("select {} {end}", pieces.join(" "))).is_several, has_second);
        }
    }
}
