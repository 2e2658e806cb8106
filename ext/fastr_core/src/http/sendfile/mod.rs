//! Files that reach the socket past hyper: sendfile(2) copies nothing and wakes nobody.
//!
//! hyper takes a body as bytes and decides when they are written. So a body gives it a *placeholder* for a piece of a
//! file: bytes of a block that exists for nothing else, as many as the piece is long. The piece itself goes into the
//! connection's [`FileQueue`]. When hyper writes, the stream knows a placeholder by its address and sends the piece in
//! its place. hyper counts, orders and splits placeholders as it does any bytes.
//!
//! A placeholder that is not what the queue says next is refused, as is anything that hyper might have copied while
//! pieces wait: a connection is rather cut than answered with the block's content.

mod system;
mod transfer;

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;

pub(crate) use system::send_before_file;
pub(crate) use transfer::{Transfer, read};

/// The longest piece. Another connection gets its turn between two of them at the latest.
pub(crate) const LONGEST_PIECE: usize = 1 << 20;

/// What placeholders are made of. Nobody reads it, so that the system never gives it memory.
static BLOCK: OnceLock<Bytes> = OnceLock::new();

/// A piece of a file, no longer than [`LONGEST_PIECE`].
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    pub(crate) file: Arc<File>,
    pub(crate) start: u64,
    pub(crate) length: usize,
}

/// The pieces that hyper was given placeholders for, in the order of their bytes. Clones share the queue.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileQueue(Arc<Mutex<VecDeque<Piece>>>);

impl FileQueue {
    /// Queues a piece; what is returned is written in its place.
    pub(crate) fn push(&self, piece: Piece) -> Bytes {
        let block = BLOCK.get_or_init(|| Bytes::from(vec![0; LONGEST_PIECE]));
        let placeholder = block.slice(..piece.length);
        self.pieces().push_back(piece);
        placeholder
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pieces().is_empty()
    }

    /// Begins the piece that these bytes stand for.
    ///
    /// # Errors
    /// When it is another one than hyper was given next.
    pub(crate) fn begin(&self, placeholder: &[u8]) -> io::Result<Transfer> {
        let piece = self.pieces().pop_front();
        let expected = piece.filter(|piece| is_untouched(placeholder, piece));
        expected.map(Transfer::new).ok_or_else(out_of_order)
    }

    fn pieces(&self) -> std::sync::MutexGuard<'_, VecDeque<Piece>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_untouched(placeholder: &[u8], piece: &Piece) -> bool {
    position(placeholder) == Some(0) && placeholder.len() == piece.length
}

/// How far into the block these bytes begin: how much of their piece was sent. None for all other bytes.
pub(crate) fn position(bytes: &[u8]) -> Option<usize> {
    let block = BLOCK.get().filter(|_| !bytes.is_empty())?;
    let distance = bytes.as_ptr().addr().checked_sub(block.as_ptr().addr())?;
    (distance < block.len()).then_some(distance)
}

/// What hyper wants written is not what it was given.
pub(crate) fn out_of_order() -> io::Error {
    io::Error::other("the pieces of a file came out of order")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn piece(start: u64, length: usize) -> Piece {
        let file = Arc::new(tempfile::tempfile().unwrap());
        Piece {
            file,
            start,
            length,
        }
    }

    #[test]
    fn placeholders_are_known_by_their_address_and_say_how_much_was_sent() {
        let queue = FileQueue::default();
        let placeholder = queue.push(piece(0, 1000));
        assert_eq!(placeholder.len(), 1000);
        assert_eq!(position(&placeholder), Some(0));
        assert_eq!(position(&placeholder[400..]), Some(400));
        assert_eq!(position(&placeholder[1000..]), None);
        assert_eq!(position(&[0; 1000]), None);
        assert_eq!(position(b""), None);
    }

    #[test]
    fn the_longest_piece_has_a_placeholder_and_copies_share_the_queue() {
        let queue = FileQueue::default();
        let placeholder = queue.clone().push(piece(0, LONGEST_PIECE));
        assert_eq!(
            position(&placeholder[LONGEST_PIECE - 1..]),
            Some(LONGEST_PIECE - 1)
        );
        assert!(!queue.is_empty());
        assert!(queue.begin(&placeholder).is_ok());
        assert!(queue.is_empty());
    }

    #[test]
    fn a_placeholder_that_is_not_the_next_one_is_refused() {
        let queue = FileQueue::default();
        assert!(queue.begin(&queue.push(piece(0, 7))[1..]).is_err());
        assert!(queue.begin(&queue.push(piece(0, 7))[..6]).is_err());
        let first = queue.push(piece(0, 7));
        let second = queue.push(piece(7, 9));
        assert!(queue.begin(&second).is_err());
        assert!(queue.begin(&first).is_err(), "its piece is gone");
    }
}
