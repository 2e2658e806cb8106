//! What a head costs. Not a test of correctness: run it with `--release -- --ignored --nocapture speed`.

use std::hint::black_box;
use std::time::Instant;

use bytes::BytesMut;
use fastr_core::http::guard::Guard;
use fastr_core::http::limits::Limits;

const BENCHMARK: &str = "GET /plaintext HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n";
const API: &str = "GET /users/1 HTTP/1.1\r\nHost: api.example.com\r\nUser-Agent: client/1.0\r\nAccept: application/json\r\n\
    Authorization: Bearer 0123456789abcdef0123456789abcdef\r\n\r\n";
const BROWSER: &str = "GET /articles/2026/09/a-long-title?page=2 HTTP/1.1\r\nHost: www.example.com\r\n\
    User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\r\n\
    Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\n\
    Accept-Language: en-US,en;q=0.5\r\nAccept-Encoding: gzip, deflate, br, zstd\r\nConnection: keep-alive\r\n\
    Cookie: _session=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef; theme=dark\r\n\
    Upgrade-Insecure-Requests: 1\r\nSec-Fetch-Dest: document\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Site: none\r\n\
    Sec-Fetch-User: ?1\r\nPriority: u=0, i\r\n\r\n";
const ROUNDS: u32 = 200_000;

/// The best of five, in nanoseconds a round.
fn measure(mut round: impl FnMut()) -> f64 {
    let time = |round: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..ROUNDS).for_each(|_| round());
        start.elapsed().as_secs_f64() * 1e9 / f64::from(ROUNDS)
    };
    (0..5)
        .map(|_| time(&mut round))
        .fold(f64::INFINITY, f64::min)
}

#[test]
#[ignore = "a measurement"]
fn speed_of_a_head() {
    for (name, head) in [("benchmark", BENCHMARK), ("API", API), ("browser", BROWSER)] {
        let mut guard = Guard::new(&Limits::default());
        let pass = measure(|| {
            assert_eq!(guard.pass(black_box(head.as_bytes())), head.len());
        });
        let (mut input, mut output) =
            (BytesMut::with_capacity(4096), BytesMut::with_capacity(4096));
        let feed = measure(|| {
            input.extend_from_slice(black_box(head.as_bytes()));
            guard.feed(&mut input, &mut output);
            output.clear();
        });
        println!(
            "{name}, {} bytes: pass {pass:.0} ns, feed {feed:.0} ns",
            head.len()
        );
    }
}
