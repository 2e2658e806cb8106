//! What a client may send, how long it may take, and how much of the server it may hold.
//!
//! This file owns the numbers and their reasons. It enforces none of them: [`super::guard`] applies the ones about
//! message framing, the connection applies the timers, the listener and the service the rest.

use std::time::Duration;

const KIB: usize = 1024;
const MIB: u64 = 1024 * 1024;

/// The limits and per-phase timers of one listener.
///
/// Sizes are bytes, rates are bytes per second. [`Limits::default`] suits a server that faces the internet without a
/// proxy; every field may be changed on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Longest request line, without its line end: 8 KiB, which RFC 9112 section 3 asks for at least. Longer is 414.
    /// hyper itself stops at a request-target of 65,534 bytes.
    pub request_line: usize,
    /// All field lines of a head together, with their line ends and the empty line: 64 KiB. More is 431.
    pub header_block: usize,
    /// Field lines in a head, and separately in a trailer section: 100, hyper's own number. More is 431.
    pub header_count: usize,
    /// Longest chunk-size line with its extensions, without its line end: 256 bytes.
    pub chunk_line: usize,
    /// All chunk extensions of one body together: 16 KiB, hyper's own number. Stops a body that is mostly framing.
    pub chunk_extensions: usize,
    /// All trailer field lines of one body together, with their line ends: 16 KiB.
    pub trailer_block: usize,
    /// Largest request body, declared or counted: 16 MiB. More is 413, at once when the length is declared.
    pub max_body: u64,
    /// Whether field names with `_` reach the application. Off: CGI-style names map `-` and `_` to the same key, so
    /// that `X_Forwarded_For` could replace the `X-Forwarded-For` of a proxy.
    pub keep_underscores: bool,

    /// From the first byte of a head to its last: 10 s, then 408. A head fits in one packet or a few; only a
    /// slow-headers attack needs longer.
    pub head_timeout: Duration,
    /// An idle connection between requests, and a new one that sends nothing: 65 s. Above the 60 s of common load
    /// balancers, so that the server is not the one that closes under a request on its way.
    pub keep_alive_timeout: Duration,
    /// Between two reads of a body: 30 s, then 408.
    pub body_timeout: Duration,
    /// Slowest body after [`Limits::body_grace`], counted while the application waits for it: 240 bytes per second.
    /// Zero turns the check off.
    pub body_rate: u64,
    /// How long a body may be slower than [`Limits::body_rate`] in the beginning: 20 s.
    pub body_grace: Duration,
    /// Between two writes that the client's window accepts: 30 s, then the connection is cut.
    pub write_timeout: Duration,
    /// From a complete head to the beginning of its response: 30 s, then 503 and the slot is freed.
    pub handler_timeout: Duration,
    /// How long a refused client is still read from after its answer, so that a reset does not destroy the answer on
    /// its way: 2 s (RFC 9112 section 9.6).
    pub linger: Duration,

    /// Open connections: 10,000. At the limit the listener stops accepting until one closes.
    pub max_connections: usize,
    /// Requests that Ruby was given, or that wait for it, and whose answer is not complete: 10,000. The next one is
    /// answered 503 with Retry-After.
    pub max_in_flight: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            request_line: 8 * KIB,
            header_block: 64 * KIB,
            header_count: 100,
            chunk_line: 256,
            chunk_extensions: 16 * KIB,
            trailer_block: 16 * KIB,
            max_body: 16 * MIB,
            keep_underscores: false,

            head_timeout: Duration::from_secs(10),
            keep_alive_timeout: Duration::from_secs(65),
            body_timeout: Duration::from_secs(30),
            body_rate: 240,
            body_grace: Duration::from_secs(20),
            write_timeout: Duration::from_secs(30),
            handler_timeout: Duration::from_secs(30),
            linger: Duration::from_secs(2),

            max_connections: 10_000,
            max_in_flight: 10_000,
        }
    }
}
