//! One question and its whole answer: it sends what was appended, hands every message of the answer to whoever asked,
//! and always reads on until the server is ready for the next statement, whatever went wrong in between.

use super::error::{self, Reached};
use super::session::PostgresSession;
use super::wire::{self, Fault, Frame, Interrupt, Report, messages};
use crate::db::server::driver::Failure;
use crate::error::DatabaseErrorKind;

/// Why an answer is no result.
#[derive(Debug)]
pub(super) enum Ending {
    /// The server says so, or the connection broke.
    Fault(Fault),
    /// It cannot be taken, or is not wanted, for this reason.
    Refused(DatabaseErrorKind, String),
}

impl From<Fault> for Ending {
    fn from(fault: Fault) -> Self {
        Ending::Fault(fault)
    }
}

/// By which of its two protocols a statement was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    /// In parts that a `Sync` ends.
    Extended,
    /// The same, with others behind it, which nothing that is done about it may touch.
    Pipelined,
    /// As plain text.
    Simple,
}

const NO_COPY: &str = "COPY FROM STDIN and COPY TO STDOUT are not supported; insert many rows with one INSERT, and \
                       read many with `stream`";

/// COPY over the connection itself is not supported.
pub(super) fn no_copy() -> Ending {
    Ending::Refused(DatabaseErrorKind::Query, NO_COPY.into())
}

impl PostgresSession {
    /// Sends what was appended, unless the connection is dead already.
    pub(super) async fn ask(&mut self, sql: &str, reached: Reached) -> Result<(), Failure> {
        if let Err(fault) = self.wire.check().await {
            self.wire.output.clear();
            let reached = match reached {
                Reached::Answer => Reached::Answer,
                _ => Reached::Nothing,
            };
            return Err(error::of_statement(fault.into(), sql, reached));
        }
        let sent = self.wire.send().await;
        sent.map_err(|fault| error::of_statement(fault.into(), sql, reached))
    }

    /// Runs statements as plain text.
    pub(super) async fn simple(
        &mut self,
        sql: &str,
        reached: Reached,
        take: impl FnMut(Frame<'_>) -> Result<(), Ending>,
    ) -> Result<(), Failure> {
        let start = self.wire.output.len();
        if !messages::query(&mut self.wire.output, sql) {
            self.wire.output.truncate(start);
            return Err(error::refused("the statement is too large", sql));
        }
        self.ask(sql, reached).await?;
        let ended = self.answer(Protocol::Simple, take).await;
        ended.map_err(|ending| error::of_statement(ending, sql, reached))
    }

    /// Reads an answer to its end. `take` gets what there is of rows and descriptions, until something goes wrong.
    pub(super) async fn answer(
        &mut self,
        protocol: Protocol,
        take: impl FnMut(Frame<'_>) -> Result<(), Ending>,
    ) -> Result<(), Ending> {
        let ended = self.answer_to_its_end(protocol, take).await;
        if matches!(&ended, Err(Ending::Fault(fault)) if fault.is_final()) {
            self.wire.give_up();
        }
        ended
    }

    async fn answer_to_its_end(
        &mut self,
        protocol: Protocol,
        mut take: impl FnMut(Frame<'_>) -> Result<(), Ending>,
    ) -> Result<(), Ending> {
        let mut ended = Ok(());
        loop {
            let frame = self.wire.next().await?;
            let taken = match frame.tag {
                b'Z' => return ended,
                b'E' => Err(Fault::Server(Box::new(Report::parse(frame.body)?)).into()),
                // The server takes everything behind it for data.
                b'G' if protocol == Protocol::Pipelined => {
                    Err(Fault::Protocol("a COPY stands among other statements".into()).into())
                }
                b'G' => {
                    self.copy_nothing(protocol).await?;
                    Err(no_copy())
                }
                b'H' | b'W' | b'd' | b'c' => Err(no_copy()),
                // Notifications are for who listens.
                b'A' => Ok(()),
                _ if ended.is_err() => Ok(()),
                _ => take(frame),
            };
            match taken {
                Ok(()) => {}
                Err(Ending::Fault(fault)) if fault.is_final() => return Err(fault.into()),
                // The first reason counts: what comes after it comes of it.
                Err(_) if ended.is_err() => {}
                Err(Ending::Refused(kind, reason)) => {
                    ended = Err(Ending::Refused(kind, reason));
                    if protocol != Protocol::Pipelined {
                        self.interrupt().await?;
                    }
                }
                Err(reason) => ended = Err(reason),
            }
        }
    }

    /// The server waits for data and reads nothing else meanwhile, not even the `Sync` behind the statement.
    async fn copy_nothing(&mut self, protocol: Protocol) -> Result<(), Fault> {
        messages::copy_fail(&mut self.wire.output);
        if protocol == Protocol::Extended {
            messages::sync(&mut self.wire.output);
        }
        self.wire.send().await
    }

    /// Stops a statement whose rows nobody wants any more; if that is impossible they are read to their end.
    async fn interrupt(&self) -> Result<(), Fault> {
        match wire::cancel(&self.options, self.key.secret()).await {
            Interrupt::Delivered | Interrupt::Unsent(_) => Ok(()),
            Interrupt::Unknown => Err(Fault::Io(std::io::ErrorKind::TimedOut.into())),
        }
    }
}
