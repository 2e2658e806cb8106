//! The head of a request that is simple enough for the direct way: a GET without a body that asks for nothing else.
//!
//! It refuses nothing. What it does not take is hyper's, whose reading it does not differ from.

use std::mem::MaybeUninit;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, EXPECT, TRANSFER_ENCODING, UPGRADE};
use http::{HeaderMap, HeaderName, HeaderValue, Uri};

use crate::http::request::{Peer, Request};

/// More fields than that are hyper's.
const FIELDS: usize = 32;

/// The request that `bytes` are; none unless they are exactly one, a plain GET of HTTP/1.1.
pub(crate) fn parse(bytes: &Bytes, peer: Peer) -> Option<Box<Request>> {
    let mut fields = [const { MaybeUninit::uninit() }; FIELDS];
    let mut head = httparse::Request::new(&mut []);
    let parsed = head.parse_with_uninit_headers(bytes, &mut fields);
    if parsed != Ok(httparse::Status::Complete(bytes.len())) {
        return None;
    }
    let target = head.path.filter(|target| target.starts_with('/'))?;
    if head.method != Some("GET") || head.version != Some(1) {
        return None;
    }
    let uri = Uri::from_maybe_shared(bytes.slice_ref(target.as_bytes())).ok()?;
    let fields = fields_of(bytes, head.headers)?;
    // A new one is a GET of HTTP/1.1.
    let (mut head, ()) = http::Request::new(()).into_parts();
    head.uri = uri;
    head.headers = fields;
    Some(Request::arrived(head, peer))
}

/// The fields; none if one of them asks for more than an answer.
fn fields_of(bytes: &Bytes, fields: &[httparse::Header<'_>]) -> Option<HeaderMap> {
    let mut map = HeaderMap::with_capacity(fields.len());
    for field in fields {
        let name = HeaderName::from_bytes(field.name.as_bytes()).ok()?;
        let is_ours = match name {
            CONNECTION => field.value.eq_ignore_ascii_case(b"keep-alive"),
            CONTENT_LENGTH | EXPECT | TRANSFER_ENCODING | UPGRADE => false,
            _ => true,
        };
        if !is_ours {
            return None;
        }
        let value = HeaderValue::from_maybe_shared(bytes.slice_ref(field.value)).ok()?;
        map.append(name, value);
    }
    Some(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: impl Into<Bytes>) -> Option<Box<Request>> {
        let address = std::net::SocketAddr::from(([127, 0, 0, 1], 80));
        let peer = Peer {
            remote: address,
            local: address,
        };
        parse(&text.into(), peer)
    }

    #[test]
    fn a_plain_get_has_its_target_and_fields() {
        let text = "GET /a%20b?c=d HTTP/1.1\r\nHost: x\r\nX-Two: 1\r\nx-two: \u{fc}\r\nConnection: Keep-Alive\r\n\r\n";
        let request = parsed(text).expect("a plain request");
        assert_eq!(request.head.uri, "/a%20b?c=d");
        assert_eq!(request.head.method, http::Method::GET);
        assert_eq!(request.head.version, http::Version::HTTP_11);
        assert_eq!(request.head.headers["host"], "x");
        let values: Vec<&[u8]> = request
            .head
            .headers
            .get_all("x-two")
            .iter()
            .map(HeaderValue::as_bytes)
            .collect();
        assert_eq!(values, [b"1".as_slice(), "\u{fc}".as_bytes()]);
    }

    #[test]
    fn what_is_not_one_plain_get_is_left_to_hyper() {
        for text in [
            "POST / HTTP/1.1\r\nHost: x\r\n\r\n",
            "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET / HTTP/1.0\r\nHost: x\r\n\r\n",
            "GET * HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: y\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\n",
        ] {
            assert!(parsed(text).is_none(), "{text:?}");
        }
    }

    #[test]
    fn more_fields_than_usual_are_left_to_hyper() {
        let fields = "a: b\r\n".repeat(FIELDS);
        let text = format!("GET / HTTP/1.1\r\n{fields}\r\n");
        assert!(parsed(text).is_some());
        let text = format!("GET / HTTP/1.1\r\n{fields}c: d\r\n\r\n");
        assert!(parsed(text).is_none());
    }
}
