//! Every way a piece can take to the socket, over real ones.

#![allow(clippy::unwrap_used)]

use super::*;
use std::future::poll_fn;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

const LENGTH: usize = 3 * CHUNK + 11;

fn transfer(content: &[u8]) -> Transfer {
    let file = tempfile::tempfile().unwrap();
    file.write_all_at(content, 0).unwrap();
    Transfer::new(Piece {
        file: Arc::new(file),
        start: 7,
        length: LENGTH,
    })
}

fn content() -> Vec<u8> {
    (0..LENGTH + 20).map(|place| (place % 251) as u8).collect()
}

/// Sends the whole piece, and says whether any of it had to be fetched, and what arrived.
async fn run(mut transfer: Transfer) -> io::Result<(bool, Vec<u8>)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let receiving = tokio::spawn(async move {
        let mut bytes = Vec::new();
        let (mut socket, _) = listener.accept().await?;
        socket.read_to_end(&mut bytes).await.map(|_| bytes)
    });
    let mut stream = TcpStream::connect(address).await?;
    let (mut sent, mut fetched) = (0, false);
    while sent < LENGTH {
        sent += poll_fn(|context| {
            let polled = transfer.poll_send(&mut stream, sent, context);
            fetched |= transfer.is_fetching();
            polled
        })
        .await?;
    }
    drop(stream);
    Ok((fetched, receiving.await??))
}

#[tokio::test]
async fn what_is_in_memory_is_sent_without_a_thread() {
    let content = content();
    let transfer = transfer(&content);
    let is_known = is_in_memory(&transfer.piece.file, 7, LENGTH);
    let (fetched, received) = run(transfer).await.unwrap();
    assert_eq!(fetched, !is_known);
    assert!(received == content[7..7 + LENGTH]);
}

#[tokio::test]
async fn what_is_not_in_memory_is_fetched_by_a_thread_first() {
    use rustix::fs::{Advice, fadvise};
    let content = content();
    let transfer = transfer(&content);
    transfer.piece.file.sync_all().unwrap();
    fadvise(&transfer.piece.file, 0, None, Advice::DontNeed).unwrap();
    assert!(!is_in_memory(&transfer.piece.file, 7, LENGTH));
    let (fetched, received) = run(transfer).await.unwrap();
    assert!(fetched);
    assert!(received == content[7..7 + LENGTH]);
}

#[tokio::test]
async fn a_file_that_cannot_be_sent_is_read() {
    let content = content();
    let mut transfer = transfer(&content);
    transfer.is_unsendable = true;
    let (fetched, received) = run(transfer).await.unwrap();
    assert!(fetched);
    assert!(received == content[7..7 + LENGTH]);
}

#[tokio::test]
async fn a_file_that_ends_too_early_is_an_error_in_every_way() {
    for is_unsendable in [false, true] {
        let mut transfer = transfer(&content()[..CHUNK]);
        transfer.is_unsendable = is_unsendable;
        let error = run(transfer).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
    let empty = tempfile::tempfile().unwrap();
    let error = bring_into_memory(&empty, 0, 1).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
}

#[test]
fn refusals_of_the_file_are_told_from_failures_of_the_socket() {
    let refused = send_file(
        tempfile::tempfile().unwrap(),
        &File::open("/").unwrap(),
        0,
        1,
    );
    assert!(is_unsendable(&refused.unwrap_err()));
    assert!(!is_unsendable(&io::ErrorKind::ConnectionReset.into()));
    assert!(!is_unsendable(&io::ErrorKind::WouldBlock.into()));
}
