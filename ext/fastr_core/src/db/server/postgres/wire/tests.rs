//! What a server may send, without a server: whatever it is and in whichever pieces it comes, there is no panic, no
//! endless wait and no allocation that its bytes do not back.

use std::io;

use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use super::{Cells, Fault, Report, Status, Wire, affected, frame, messages};

fn block<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap();
    [&[tag], length.to_be_bytes().as_slice(), body].concat()
}

fn wire() -> (Wire<DuplexStream>, DuplexStream) {
    let (ours, theirs) = tokio::io::duplex(64);
    (Wire::new(ours), theirs)
}

/// What a wire makes of bytes that come in these pieces, and how it ends.
fn read(bytes: &[u8], pieces: &[usize]) -> (Vec<(u8, Vec<u8>)>, Fault) {
    block(async {
        let (mut wire, mut server) = wire();
        let serving = async {
            let mut rest = bytes;
            let mut pieces = pieces.iter().cycle();
            while !rest.is_empty() {
                let length = pieces.next().copied().unwrap_or(1).clamp(1, rest.len());
                if server.write_all(&rest[..length]).await.is_err() {
                    break;
                }
                rest = &rest[length..];
                tokio::task::yield_now().await;
            }
            drop(server);
        };
        let reading = async {
            let mut frames = Vec::new();
            let fault = loop {
                match wire.next().await {
                    Ok(frame) => frames.push((frame.tag, frame.body.to_vec())),
                    Err(fault) => break fault,
                }
            };
            drop(wire);
            (frames, fault)
        };
        tokio::join!(serving, reading).1
    })
}

fn frames() -> impl Strategy<Value = Vec<(u8, Vec<u8>)>> {
    let tags = prop::sample::select(b"12CDEIKRTnst".to_vec());
    let body = prop::collection::vec(any::<u8>(), 0..300);
    prop::collection::vec((tags, body), 0..20)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn messages_come_whole_in_whichever_pieces(
        sent in frames(),
        pieces in prop::collection::vec(1_usize..200, 1..20),
    ) {
        let bytes: Vec<u8> = sent.iter().flat_map(|(tag, body)| message(*tag, body)).collect();
        let (came, fault) = read(&bytes, &pieces);
        prop_assert_eq!(came, sent);
        prop_assert!(matches!(fault, Fault::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof));
    }

    #[test]
    fn any_bytes_end_in_a_fault(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        pieces in prop::collection::vec(1_usize..50, 1..5),
    ) {
        let (came, fault) = read(&bytes, &pieces);
        let taken: usize = came.iter().map(|(_, body)| body.len() + frame::HEAD).sum();
        prop_assert!(taken <= bytes.len());
        prop_assert!(fault.is_final());
    }

    #[test]
    fn any_bytes_are_a_row_or_a_fault(body in prop::collection::vec(any::<u8>(), 0..60), columns in 0_usize..5) {
        let mut cells = Cells::default();
        if let Ok(row) = cells.find(&body, columns) {
            let values: Vec<Option<&[u8]>> = row.iter().collect();
            prop_assert_eq!(values.len(), columns);
            let bytes: usize = values.iter().flatten().map(|value| value.len()).sum();
            prop_assert_eq!(2 + columns * 4 + bytes, body.len());
            for (index, value) in values.iter().enumerate() {
                prop_assert_eq!(row.get(index), *value);
            }
        }
    }

    #[test]
    fn a_row_is_found_as_it_was_written(
        values in prop::collection::vec(prop::option::of(prop::collection::vec(any::<u8>(), 0..20)), 0..6),
        extra in prop::collection::vec(any::<u8>(), 0..3),
    ) {
        let mut body = u16::try_from(values.len()).unwrap().to_be_bytes().to_vec();
        for value in &values {
            let length = value.as_ref().map_or(-1, |value| i32::try_from(value.len()).unwrap());
            body.extend_from_slice(&length.to_be_bytes());
            body.extend(value.iter().flatten());
        }
        let mut cells = Cells::default();
        let found: Vec<Option<Vec<u8>>> = cells
            .find(&body, values.len())
            .unwrap()
            .iter()
            .map(|value| value.map(<[u8]>::to_vec))
            .collect();
        prop_assert_eq!(&found, &values);
        prop_assert!(cells.find(&body, values.len() + 1).is_err());
        body.extend_from_slice(&extra);
        prop_assert_eq!(cells.find(&body, values.len()).is_ok(), extra.is_empty());
    }

    #[test]
    fn any_bytes_are_a_report_or_a_fault(body in prop::collection::vec(any::<u8>(), 0..100)) {
        let _ = Report::parse(&body);
        let _ = affected(&body);
    }
}

#[test]
fn a_length_that_no_message_has_is_a_fault_at_once() {
    for length in [0_u32, 3, 1 << 30, u32::MAX] {
        let bytes = [&b"D"[..], &length.to_be_bytes()].concat();
        assert!(frame::length(&bytes).is_err(), "{length}");
    }
    // One that may be is waited for, and no room is made for what has not come.
    let (came, fault) = read(&[b'D', 0x3f, 0, 0, 0, 1, 2, 3], &[8]);
    assert!(came.is_empty());
    assert!(matches!(fault, Fault::Io(_)), "{fault:?}");
}

#[test]
fn the_state_of_the_session_is_what_the_server_says() {
    block(async {
        let (mut wire, mut server) = wire();
        for (letter, status) in [
            (b'T', Status::Open),
            (b'E', Status::Failed),
            (b'I', Status::Idle),
        ] {
            server.write_all(&message(b'Z', &[letter])).await.unwrap();
            assert_eq!(wire.next().await.unwrap().tag, b'Z');
            assert_eq!(wire.status(), status);
        }
        server.write_all(&message(b'Z', b"?")).await.unwrap();
        assert!(wire.next().await.is_err());
        // A wire that is broken stays so.
        server.write_all(&message(b'Z', b"I")).await.unwrap();
        assert!(wire.next().await.is_err() && wire.send().await.is_err());
    });
}

#[test]
fn what_the_server_said_unasked_is_heard_before_anything_is_sent() {
    let fatal = message(b'E', b"SFATAL\0VFATAL\0C57P01\0Mterminating\0\0");
    let notice = message(b'N', b"SNOTICE\0VNOTICE\0C00000\0Mx\0\0");
    let setting = message(b'S', b"TimeZone\0UTC\0");
    block(async {
        let (mut wire, mut server) = wire();
        assert!(wire.check().await.is_ok());
        server.write_all(&notice).await.unwrap();
        server.write_all(&setting).await.unwrap();
        assert!(wire.check().await.is_ok());
        server.write_all(&fatal).await.unwrap();
        drop(server);
        let Err(Fault::Server(report)) = wire.check().await else {
            panic!("the server said why");
        };
        assert!(report.is_fatal && report.state == "57P01" && report.message == "terminating");
        assert!(wire.check().await.is_err());
    });
    block(async {
        let (mut wire, mut server) = wire();
        server
            .write_all(&message(b'C', b"SELECT 1\0"))
            .await
            .unwrap();
        assert!(matches!(wire.check().await, Err(Fault::Protocol(_))));
    });
    block(async {
        let (mut wire, server) = wire();
        drop(server);
        assert!(matches!(wire.check().await, Err(Fault::Io(_))));
    });
}

#[test]
fn a_server_that_waits_for_its_answers_to_be_taken_blocks_nobody() {
    block(async {
        let (mut wire, mut server) = wire();
        // The pipe holds 64 bytes: the server writes far more before it reads.
        let answers: Vec<u8> = (0..100)
            .flat_map(|_| message(b'C', b"SELECT 1\0"))
            .collect();
        messages::query(&mut wire.output, &"x".repeat(10_000))
            .then_some(())
            .unwrap();
        let length = wire.output.len();
        let serving = async {
            server.write_all(&answers).await.unwrap();
            let mut taken = vec![0; length];
            server.read_exact(&mut taken).await.unwrap();
        };
        let (sent, ()) = tokio::join!(wire.send(), serving);
        sent.unwrap();
        for _ in 0..100 {
            assert_eq!(wire.next().await.unwrap().tag, b'C');
        }
    });
}

#[test]
fn a_server_with_other_settings_than_fastr_reads_is_refused() {
    for (setting, part) in [
        (&b"client_encoding\0LATIN1\0"[..], "client_encoding"),
        (b"integer_datetimes\0off\0", "integer_datetimes"),
        (b"no end", "malformed"),
    ] {
        let (came, fault) = read(&message(b'S', setting), &[100]);
        assert!(came.is_empty());
        assert!(
            matches!(&fault, Fault::Protocol(reason) if reason.contains(part)),
            "{fault:?}"
        );
    }
}

#[test]
fn tags_tell_how_many_rows_there_were() {
    for (tag, count) in [
        (&b"SELECT 5\0"[..], 5),
        (b"INSERT 0 3\0", 3),
        (b"CREATE TABLE\0", 0),
        (b"", 0),
        (b"UPDATE 99999999999999999999999\0", 0),
    ] {
        assert_eq!(affected(tag), count, "{tag:?}");
    }
}
