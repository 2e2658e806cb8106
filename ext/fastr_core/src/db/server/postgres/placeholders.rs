//! Finds the placeholders of a statement, where PostgreSQL would find them: not in strings, quoted names and comments.
//! It refuses a second statement, as the protocol with placeholders does.

/// A statement taken apart at its placeholders.
#[derive(Debug)]
pub(super) struct Text<'a> {
    sql: &'a str,
    /// Where each placeholder stands, and its number from 1.
    found: Vec<(std::ops::Range<usize>, usize)>,
    has_returning: bool,
}

impl<'a> Text<'a> {
    pub(super) fn scan(sql: &'a str) -> Result<Self, &'static str> {
        let mut text = Self {
            sql,
            found: Vec::new(),
            has_returning: false,
        };
        let bytes = sql.as_bytes();
        let mut at = 0;
        let mut has_ended = false;
        while let Some(&byte) = bytes.get(at) {
            let next = text.token(bytes, at, byte);
            let is_blank = byte.is_ascii_whitespace() || is_comment(bytes, at);
            if has_ended && !is_blank && byte != b';' {
                return Err(
                    "there is a second statement after the first; submit them one by one or use `execute_script`",
                );
            }
            has_ended |= byte == b';';
            at = next;
        }
        Ok(text)
    }

    /// Whether the statement gives back rows although it writes.
    pub(super) fn has_returning(&self) -> bool {
        self.has_returning
    }

    /// The statement with something else for each placeholder.
    pub(super) fn replaced(
        &self,
        count: usize,
        mut write: impl FnMut(&mut String, usize) -> Result<(), String>,
    ) -> Result<String, String> {
        let needed = self
            .found
            .iter()
            .map(|(_, number)| *number)
            .max()
            .unwrap_or(0);
        if needed != count {
            return Err(super::encode::wrong_count(needed, count));
        }
        let mut out = String::with_capacity(self.sql.len() + count * 8);
        let mut copied = 0;
        for (place, number) in &self.found {
            out.push_str(&self.sql[copied..place.start]);
            out.push(' ');
            write(&mut out, number - 1)?;
            out.push(' ');
            copied = place.end;
        }
        out.push_str(&self.sql[copied..]);
        Ok(out)
    }

    /// Where the token ends that begins here.
    fn token(&mut self, bytes: &[u8], at: usize, byte: u8) -> usize {
        match byte {
            b'\'' => quoted(bytes, at + 1, b'\'', false),
            b'"' => quoted(bytes, at + 1, b'"', false),
            b'-' if bytes.get(at + 1) == Some(&b'-') => {
                memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length)
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => comment(bytes, at),
            b'$' => self.dollar(bytes, at),
            byte if is_name(byte) && !byte.is_ascii_digit() => {
                let end = name_end(bytes, at);
                let name = &bytes[at..end];
                self.has_returning |= name.eq_ignore_ascii_case(b"returning");
                if name.eq_ignore_ascii_case(b"e") && bytes.get(end) == Some(&b'\'') {
                    return quoted(bytes, end + 1, b'\'', true);
                }
                end
            }
            byte if byte.is_ascii_digit() => name_end(bytes, at),
            _ => at + 1,
        }
    }

    /// `$1`, or a string between two `$tag$`.
    fn dollar(&mut self, bytes: &[u8], at: usize) -> usize {
        let digits = bytes[at + 1..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if digits > 0 {
            let end = at + 1 + digits;
            // More digits than any statement has placeholders: none that a value can be given to.
            let number = self.sql[at + 1..end].parse().unwrap_or(usize::MAX);
            self.found.push((at..end, number.max(1)));
            return end;
        }
        let tag = bytes[at + 1..]
            .iter()
            .take_while(|byte| is_name(**byte) && **byte != b'$')
            .count();
        let end = at + 1 + tag;
        if bytes.get(end) != Some(&b'$') {
            return at + 1;
        }
        let mark = &bytes[at..=end];
        let rest = &bytes[end + 1..];
        memchr::memmem::find(rest, mark).map_or(bytes.len(), |length| end + 1 + length + mark.len())
    }
}

fn is_comment(bytes: &[u8], at: usize) -> bool {
    matches!(bytes.get(at..at + 2), Some(b"--" | b"/*"))
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn name_end(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..]
        .iter()
        .take_while(|byte| is_name(**byte))
        .count()
}

/// After the closing quote; a doubled one closes nothing.
fn quoted(bytes: &[u8], mut at: usize, quote: u8, has_escapes: bool) -> usize {
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        if byte == b'\\' && has_escapes {
            at += 1;
        } else if byte == quote {
            if bytes.get(at) != Some(&quote) {
                return at;
            }
            at += 1;
        }
    }
    bytes.len()
}

/// After a comment, which may hold others.
fn comment(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0;
    while at < bytes.len() {
        match bytes.get(at..at + 2) {
            Some(b"/*") => {
                depth += 1;
                at += 2;
            }
            Some(b"*/") => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(sql: &str, count: usize) -> Result<String, String> {
        let text = Text::scan(sql)?;
        text.replaced(count, |out, index| {
            out.push_str(&format!("<{index}>"));
            Ok(())
        })
    }

    #[test]
    fn placeholders_are_found_where_they_are() {
        for (sql, count, expected) in [
            ("select $1, $2", 2, "select  <0> ,  <1> "),
            ("select $2::int, $1", 2, "select  <1> ::int,  <0> "),
            ("select '$1', \"$1\", $1", 1, "select '$1', \"$1\",  <0> "),
            (
                "select 'it''s $1', E'a\\'$1', $1",
                1,
                "select 'it''s $1', E'a\\'$1',  <0> ",
            ),
            ("select 'a\\', $1", 1, "select 'a\\',  <0> "),
            (
                "select $$ $1 $$, $x$ $1 $$ $x$, $1",
                1,
                "select $$ $1 $$, $x$ $1 $$ $x$,  <0> ",
            ),
            ("select a$1, $1 -- $2\n", 1, "select a$1,  <0>  -- $2\n"),
            (
                "select /* $1 /* $2 */ $3 */ $1;",
                1,
                "select /* $1 /* $2 */ $3 */  <0> ;",
            ),
            ("select 1 ; -- end", 0, "select 1 ; -- end"),
            ("select 'open $1", 0, "select 'open $1"),
            ("select $", 0, "select $"),
            ("select 'ü$1ü', $1", 1, "select 'ü$1ü',  <0> "),
        ] {
            assert_eq!(replaced(sql, count).as_deref(), Ok(expected), "{sql}");
        }
    }

    #[test]
    fn a_second_statement_and_a_wrong_count_are_refused() {
        assert!(
            replaced("select 1; select 2", 0)
                .unwrap_err()
                .contains("second statement")
        );
        assert!(replaced("select 1;; /* x */ drop table t", 0).is_err());
        assert!(
            replaced("select $1", 2)
                .unwrap_err()
                .contains("one placeholder")
        );
        assert!(replaced("select $99999999999999999999", 1).is_err());
        assert!(
            Text::scan("insert into t values (1) RETURNING id")
                .unwrap()
                .has_returning()
        );
        assert!(!Text::scan("select 'returning'").unwrap().has_returning());
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_scanner_panic(sql in "(\\PC|[$'\"eE0-9;/*\\\\\n -]){0,60}", count in 0_usize..4) {
            let _ = replaced(&sql, count);
        }

        // The oracle knows the pieces; the scanner only their text.
        #[test]
        fn placeholders_are_found_among_any_pieces(
            pieces in proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..12),
        ) {
            let sql: String = pieces.iter().map(|(text, _)| format!("{text} ")).collect();
            let expected: String = pieces.iter().map(|(text, is_placeholder)| match is_placeholder {
                true => " <0>  ".to_owned(),
                false => format!("{text} "),
            }).collect();
            let count = usize::from(pieces.iter().any(|(_, is_placeholder)| *is_placeholder));
            proptest::prop_assert_eq!(replaced(&sql, count), Ok(expected));
        }
    }

    /// Pieces of a statement, and whether each is a placeholder.
    const PIECES: [(&str, bool); 16] = [
        ("$1", true),
        ("$1", true),
        ("'$1'", false),
        ("'it''s $1'", false),
        ("'\\'", false),
        ("E'\\'$1'", false),
        ("e'\\\\'", false),
        ("\"$1\"", false),
        ("\"a\"\"$1\"", false),
        ("-- $1 '\n", false),
        ("/* $1 /* ' */ $1 */", false),
        ("$$ $1 ' $$", false),
        ("$tag$ $1 $$ $tag$", false),
        ("name$1", false),
        ("ünique$1", false),
        ("12 - 3 / 4", false),
    ];
}
