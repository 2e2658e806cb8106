//! hyper behind the guard: it reads every message as the guard framed it, and a rejection arrives in its turn.

use std::cell::RefCell;
use std::convert::Infallible;
use std::rc::Rc;

use bytes::Bytes;
use fastr_core::http::guard::Rejection;
use fastr_core::http::limits::Limits;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::feed;

/// What the service saw of each request: its line, and its body or the rejection it carries.
type Seen = Rc<RefCell<Vec<String>>>;

async fn serve(
    seen: Seen,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    if let Some(rejection) = Rejection::carried_by(&parts.method, &parts.uri, &parts.headers) {
        seen.borrow_mut()
            .push(format!("rejected {}", rejection.status));
        return Ok(Response::new(Full::from(rejection.reason.into_owned())));
    }
    let body = body.collect().await.map(|body| body.to_bytes());
    let body = body
        .as_deref()
        .map_or("broken".into(), String::from_utf8_lossy);
    seen.borrow_mut()
        .push(format!("{} {} {body}", parts.method, parts.uri));
    Ok(Response::new(Full::default()))
}

/// Sends what the guard leaves of `stream` to hyper, and returns what the service saw.
fn through_hyper(stream: &str) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a transport in memory does not fail");
    let outcome = feed(&Limits::default(), [stream.as_bytes()]);
    let seen = Seen::default();
    runtime.block_on(async {
        let (mut client, server) = tokio::io::duplex(1 << 20);
        client
            .write_all(&outcome.output)
            .await
            .expect("a transport in memory does not fail");
        client
            .shutdown()
            .await
            .expect("a transport in memory does not fail");
        let service = hyper::service::service_fn(|request| serve(seen.clone(), request));
        let connection = hyper::server::conn::http1::Builder::new()
            .half_close(true)
            .serve_connection(TokioIo::new(server), service);
        // A body that was cut off makes the connection fail, and that is as it should be.
        let _ = connection.await;
        let mut answers = Vec::new();
        client
            .read_to_end(&mut answers)
            .await
            .expect("a transport in memory does not fail");
    });
    seen.take()
}

#[test]
fn hyper_reads_pipelined_requests_as_they_were_framed() {
    let stream = "\
        GET /a?b HTTP/1.1\r\nHost: a\r\n\r\n\
        \r\nPOST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nGET /\
        POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;x=\"y\"\r\nab\r\n1\r\nc\r\n0\r\nX: y\r\nA_B: c\r\n\r\n\
        OPTIONS * HTTP/1.1\r\nHost: a\r\nX_Y: z\r\n\r\n\
        GET http://b:80/d HTTP/1.1\r\nHost: b\r\n\r\n\
        GET http://b?e HTTP/1.1\r\nHost: b\r\n\r\n\
        GET /last HTTP/1.0\r\n\r\n";
    let seen = through_hyper(stream);
    assert_eq!(
        seen,
        [
            "GET /a?b ",
            "POST /b GET /",
            "POST /c abc",
            "OPTIONS * ",
            "GET http://b:80/d ",
            "GET http://b/?e ",
            "GET /last "
        ],
    );
}

#[test]
fn hyper_accepts_as_many_fields_as_the_guard() {
    let fields = "X: y\r\n".repeat(99);
    assert_eq!(
        through_hyper(&format!("GET / HTTP/1.1\r\nHost: a\r\n{fields}\r\n")),
        ["GET / "]
    );
}

#[test]
fn a_rejection_reaches_the_service_behind_the_requests_before_it() {
    let seen = through_hyper(
        "GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\n\r\nGET /c HTTP/1.1\r\nHost: a\r\n\r\n",
    );
    assert_eq!(seen, ["GET /a ", "rejected 400"]);
}

#[test]
fn the_rest_of_a_broken_body_is_never_a_request() {
    let smuggled = "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
    let seen = through_hyper(&format!(
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1 \r\na\r\n{smuggled}"
    ));
    assert_eq!(seen, ["POST /a broken"]);
}

#[test]
fn a_real_request_carries_no_rejection() {
    let seen = through_hyper("OPTIONS * HTTP/1.1\r\nHost: a\r\nFastr-Rejected: 400 x\r\n\r\n");
    assert_eq!(seen, ["OPTIONS * "]);
}
