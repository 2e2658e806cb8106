//! What goes wrong on a connection, before anybody has judged it: the server's report, a broken socket, bytes that are
//! no protocol.

use std::io;

use super::frame::Parser;

/// Why a connection did not do what was asked.
#[derive(Debug)]
pub(in super::super) enum Fault {
    /// The server says why.
    Server(Box<Report>),
    /// The connection broke.
    Io(io::Error),
    /// It cannot be encrypted as demanded.
    Tls(String),
    /// The server sent what PostgreSQL does not send, or wants what fastr does not have.
    Protocol(String),
}

impl Fault {
    /// The server sent bytes that are not in the form of the protocol.
    pub(super) fn malformed(what: &str) -> Self {
        Fault::Protocol(format!("{what} is malformed"))
    }

    /// Whether nothing more can come over the connection.
    pub(in super::super) fn is_final(&self) -> bool {
        !matches!(self, Fault::Server(report) if !report.is_fatal)
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Fault::Io(error)
    }
}

/// An error as the server reports it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in super::super) struct Report {
    /// Whether the server ends the connection with it.
    pub(in super::super) is_fatal: bool,
    /// Its SQLSTATE.
    pub(in super::super) state: String,
    pub(in super::super) message: String,
    pub(in super::super) detail: Option<String>,
    pub(in super::super) hint: Option<String>,
    /// Where in the statement, in characters from 1.
    pub(in super::super) position: Option<usize>,
    pub(in super::super) table: Option<String>,
    pub(in super::super) column: Option<String>,
    pub(in super::super) constraint: Option<String>,
}

impl Report {
    /// Reads the fields of an `ErrorResponse`. Before the encoding is agreed upon they may hold any bytes.
    pub(in super::super) fn parse(body: &[u8]) -> Result<Self, Fault> {
        let mut report = Report::default();
        let mut parser = Parser::new(body, "an error");
        let mut severity = String::new();
        loop {
            let field = parser.byte()?;
            if field == 0 {
                break;
            }
            let text = String::from_utf8_lossy(parser.bytes_to_nul()?).into_owned();
            match field {
                // The second is never translated, but servers before 9.6 have only the first.
                b'S' if severity.is_empty() => severity = text,
                b'V' => severity = text,
                b'C' => report.state = text,
                b'M' => report.message = text,
                b'D' => report.detail = Some(text),
                b'H' => report.hint = Some(text),
                b'P' => report.position = text.parse().ok(),
                b't' => report.table = Some(text),
                b'c' => report.column = Some(text),
                b'n' => report.constraint = Some(text),
                _ => {}
            }
        }
        report.is_fatal = matches!(severity.as_str(), "FATAL" | "PANIC");
        Ok(report)
    }
}
