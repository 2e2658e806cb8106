//! The messages of the client, appended to what is to be sent. It writes what it is told and refuses only what the
//! protocol's lengths cannot say.

/// Values are sent and taken in the binary form.
pub(in super::super) const BINARY: u16 = 1;
/// Values are sent and taken as text.
pub(in super::super) const TEXT: u16 = 0;

/// PostgreSQL takes no larger message.
const LARGEST: usize = (1 << 30) - 8;

/// A message that was begun; its length is entered at the end.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Mark(usize);

/// Begins a message with this letter, or without one.
pub(in super::super) fn begin(out: &mut Vec<u8>, tag: Option<u8>) -> Mark {
    out.extend(tag);
    let mark = Mark(out.len());
    out.extend_from_slice(&[0; 4]);
    mark
}

/// Ends it. Whether PostgreSQL takes a message of this size.
#[must_use]
pub(in super::super) fn end(out: &mut [u8], mark: Mark) -> bool {
    let length = out.len() - mark.0;
    let Some(length) = u32::try_from(length).ok().filter(|_| length <= LARGEST) else {
        return false;
    };
    out[mark.0..mark.0 + 4].copy_from_slice(&length.to_be_bytes());
    true
}

/// A whole message of a few small parts.
fn whole(out: &mut Vec<u8>, tag: u8, parts: &[&[u8]]) {
    let mark = begin(out, Some(tag));
    parts.iter().for_each(|part| out.extend_from_slice(part));
    let is_small = end(out, mark);
    debug_assert!(is_small, "these messages are small");
}

/// Prepares a statement; without a name it lasts until the next one without. Whether PostgreSQL takes a text of that
/// size.
#[must_use]
pub(in super::super) fn parse(out: &mut Vec<u8>, name: &str, sql: &str) -> bool {
    let mark = begin(out, Some(b'P'));
    for part in [name, sql] {
        out.extend_from_slice(part.as_bytes());
        out.push(0);
    }
    // The server finds the types of all placeholders.
    out.extend_from_slice(&0_u16.to_be_bytes());
    end(out, mark)
}

/// Runs any number of statements without values. Whether PostgreSQL takes a text of that size.
#[must_use]
pub(in super::super) fn query(out: &mut Vec<u8>, sql: &str) -> bool {
    let mark = begin(out, Some(b'Q'));
    out.extend_from_slice(sql.as_bytes());
    out.push(0);
    end(out, mark)
}

/// Asks for the placeholders and columns of a statement.
pub(in super::super) fn describe(out: &mut Vec<u8>, name: &str) {
    whole(out, b'D', &[b"S", name.as_bytes(), b"\0"]);
}

/// The beginning of a `Bind`: the portal, the statement, and the form of all values. The count of the values and they
/// themselves follow, then [`end_of_bind`].
pub(in super::super) fn bind(out: &mut Vec<u8>, portal: &str, name: &str, form: u16) -> Mark {
    let mark = begin(out, Some(b'B'));
    for part in [portal, name] {
        out.extend_from_slice(part.as_bytes());
        out.push(0);
    }
    out.extend_from_slice(&1_u16.to_be_bytes());
    out.extend_from_slice(&form.to_be_bytes());
    mark
}

/// The end of a `Bind`, with the form of all columns. Whether PostgreSQL takes it.
#[must_use]
pub(in super::super) fn end_of_bind(out: &mut Vec<u8>, mark: Mark, form: u16) -> bool {
    out.extend_from_slice(&1_u16.to_be_bytes());
    out.extend_from_slice(&form.to_be_bytes());
    end(out, mark)
}

/// Runs a portal for at most so many rows; 0 means all.
pub(in super::super) fn execute(out: &mut Vec<u8>, portal: &str, rows: u32) {
    whole(out, b'E', &[portal.as_bytes(), b"\0", &rows.to_be_bytes()]);
}

/// Forgets a statement.
pub(in super::super) fn close_statement(out: &mut Vec<u8>, name: &str) {
    whole(out, b'C', &[b"S", name.as_bytes(), b"\0"]);
}

/// Forgets a portal.
pub(in super::super) fn close_portal(out: &mut Vec<u8>, name: &str) {
    whole(out, b'C', &[b"P", name.as_bytes(), b"\0"]);
}

/// Ends a statement: the server answers that it is ready for the next, whatever came before.
pub(in super::super) fn sync(out: &mut Vec<u8>) {
    whole(out, b'S', &[]);
}

/// Says that no data will be copied.
pub(in super::super) fn copy_fail(out: &mut Vec<u8>) {
    whole(out, b'f', &[b"the client copies nothing\0"]);
}

/// Says good-bye.
pub(super) fn terminate(out: &mut Vec<u8>) {
    whole(out, b'X', &[]);
}

/// A password or another answer in the course of logging in.
pub(super) fn password(out: &mut Vec<u8>, parts: &[&[u8]]) {
    whole(out, b'p', parts);
}

/// Asks for encryption.
pub(super) fn ssl_request(out: &mut Vec<u8>) {
    out.extend_from_slice(&8_u32.to_be_bytes());
    out.extend_from_slice(&80_877_103_u32.to_be_bytes());
}

/// Asks to stop what another connection runs.
pub(super) fn cancel_request(out: &mut Vec<u8>, process: u32, secret: u32) {
    for number in [16, 80_877_102, process, secret] {
        out.extend_from_slice(&number.to_be_bytes());
    }
}

/// The first message of a session.
pub(super) fn startup<'a>(
    out: &mut Vec<u8>,
    parameters: impl IntoIterator<Item = (&'a str, &'a str)>,
) {
    const VERSION: u32 = 3 << 16;
    let mark = begin(out, None);
    out.extend_from_slice(&VERSION.to_be_bytes());
    for (name, value) in parameters {
        for part in [name, value] {
            out.extend_from_slice(part.as_bytes());
            out.push(0);
        }
    }
    out.push(0);
    let is_small = end(out, mark);
    debug_assert!(is_small, "a URL is small");
}
