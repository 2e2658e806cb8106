//! Whatever the pieces a stream arrives in, the outcome is the same; and no stream panics.

use fastr_core::http::limits::Limits;
use proptest::prelude::*;

use crate::support::{feed, pass_and_feed, small_limits};

/// Messages that pass, are rewritten, are refused, or are left unfinished.
const MESSAGES: [&str; 24] = [
    "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /some/path?with=query HTTP/1.1\r\nHost: a.example:8080\r\nAccept: */*\r\n\r\n",
    "\r\nGET / HTTP/1.0\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n\r\n\r\n1\r\na\r\n0\r\nX: y\r\nX_Y: z\r\n\r\n",
    "GET / HTTP/1.1\r\nX_Y: z\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: x\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nA_B: c\r\nUpgrade: x\r\nContent-Length: 1\r\n\r\nb",
    "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.1\nHost: a\r\n\r\n",
    "GET / HTTP/2.0\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nhello",
    "GET /a/path/that/is/longer/than/the/sixty/bytes/the/test/allows/it/to/be HTTP/1.1\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\n1: 1\r\n2: 2\r\n3: 3\r\n4: 4\r\n5: 5\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello!\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;an-extension-that-is-too-long\r\nhello\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nCookie: a\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n",
    "GET / HTTP/1.1\r\nHo",
];

/// Cuts `stream` at `places`, taken modulo its length.
fn cut<'a>(stream: &'a [u8], places: &[usize]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = places
        .iter()
        .map(|place| place % (stream.len() + 1))
        .collect();
    places.extend([0, stream.len()]);
    places.sort_unstable();
    places
        .windows(2)
        .map(|pair| &stream[pair[0]..pair[1]])
        .collect()
}

fn assert_same_in_pieces(limits: &Limits, stream: &[u8], places: &[usize]) {
    let whole = feed(limits, [stream]);
    let pieces = cut(stream, places);
    assert_eq!(feed(limits, pieces.iter().copied()), whole);
    assert_eq!(pass_and_feed(limits, [stream]), whole);
    assert_eq!(pass_and_feed(limits, pieces.iter().copied()), whole);
    assert_eq!(feed(limits, stream.chunks(1)), whole);
    assert_eq!(pass_and_feed(limits, stream.chunks(1)), whole);
}

#[test]
fn each_message_comes_to_the_same_when_cut_anywhere() {
    for message in MESSAGES {
        let stream = [message, MESSAGES[0]].concat();
        for place in 0..stream.len() {
            assert_same_in_pieces(&small_limits(), stream.as_bytes(), &[place]);
        }
    }
}

proptest! {
    #[test]
    fn a_pipelined_stream_comes_to_the_same_in_any_pieces(
        messages in prop::collection::vec(prop::sample::select(&MESSAGES[..]), 1..6),
        places in prop::collection::vec(any::<usize>(), 0..12),
    ) {
        assert_same_in_pieces(&small_limits(), messages.concat().as_bytes(), &places);
    }

    #[test]
    fn a_damaged_stream_comes_to_the_same_in_any_pieces(
        messages in prop::collection::vec(prop::sample::select(&MESSAGES[..]), 1..4),
        damage in prop::collection::vec((any::<usize>(), prop::sample::select(&b"\r\n\0 :;_0aG\x80"[..])), 1..4),
        places in prop::collection::vec(any::<usize>(), 0..12),
    ) {
        let mut stream = messages.concat().into_bytes();
        for (place, byte) in damage {
            let place = place % stream.len();
            stream[place] = byte;
        }
        assert_same_in_pieces(&small_limits(), &stream, &places);
    }

    #[test]
    fn random_bytes_never_panic(
        stream in prop::collection::vec(any::<u8>(), 0..400),
        places in prop::collection::vec(any::<usize>(), 0..12),
    ) {
        assert_same_in_pieces(&small_limits(), &stream, &places);
        let chunked = [b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", stream.as_slice()].concat();
        assert_same_in_pieces(&small_limits(), &chunked, &places);
    }

    #[test]
    fn a_passed_head_holds_no_line_that_does_not_end_in_cr_lf(stream in "[A-Z]{1,3} /[ -~\r\n]{0,80}\r\n\r\n") {
        let outcome = feed(&Limits::default(), [stream.as_bytes()]);
        let text = String::from_utf8(outcome.output).unwrap();
        prop_assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
        prop_assert_eq!(text.matches('\r').count(), text.matches("\r\n").count());
    }
}
