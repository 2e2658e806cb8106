//! One connection: its state, its timers, and hyper driven over a guarded stream.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use futures_util::FutureExt;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use tokio::net::TcpStream;

use crate::http::direct::{self, End};
use crate::http::guarded_stream::GuardedStream;
use crate::http::request::Peer;
use crate::http::sendfile::FileQueue;
use crate::http::server::Shared;
use crate::http::service::Service;

/// How many header fields hyper takes without being told.
const HYPER_HEADERS: usize = 100;

/// What the two sides of a connection, the stream and the service, tell each other. Both run in one task.
#[derive(Debug, Default)]
pub(crate) struct ConnectionState {
    answered: AtomicU64,
    streaming: AtomicBool,
    files: FileQueue,
}

impl ConnectionState {
    /// A request arrived at the service. The guard lives until its answer is handed to hyper whole.
    pub(crate) fn request_started(self: &Arc<Self>) -> Activity {
        Activity(Arc::clone(self))
    }

    /// The answer's head is out and its body follows in pieces.
    pub(crate) fn answer_streams(&self) {
        self.streaming.store(true, Ordering::Relaxed);
    }

    /// How many requests are done: their answers are with hyper, whole.
    pub(crate) fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    /// The pieces of files that hyper has placeholders for.
    pub(crate) fn files(&self) -> &FileQueue {
        &self.files
    }

    /// Whether a streamed answer is under way.
    pub(crate) fn is_streaming(&self) -> bool {
        self.streaming.load(Ordering::Relaxed)
    }
}

/// Marks its connection as busy until it is dropped.
#[derive(Debug)]
pub(crate) struct Activity(Arc<ConnectionState>);

impl Drop for Activity {
    fn drop(&mut self) {
        self.0.answered.fetch_add(1, Ordering::Relaxed);
        self.0.streaming.store(false, Ordering::Relaxed);
    }
}

/// Serves a connection until one side closes it.
pub(crate) async fn serve(stream: TcpStream, peer: Peer, shared: Arc<Shared>) {
    let state = Arc::new(ConnectionState::default());
    let mut stream = GuardedStream::new(stream, Arc::clone(&state), Arc::clone(&shared));
    let mut closing = shared.closing.subscribe();
    let service = Arc::new(Service::new(Arc::clone(&shared), state, peer));
    let closed = async {
        let _ = closing.wait_for(|closing| *closing).await;
    };
    if !matches!(
        direct::serve(&mut stream, &service, closed).await,
        Ok(End::Handed)
    ) {
        return;
    }
    let service = service_fn(move |request| service.answer_hyper(request).map(Ok::<_, Infallible>));
    let mut builder = http1::Builder::new();
    // Without `pipeline_flush`: with it hyper takes a body as fast as it is given, whatever the client takes.
    builder.header_read_timeout(None);
    // hyper is faster with its own number, and the guard has counted already.
    if shared.limits.header_count > HYPER_HEADERS {
        builder.max_headers(shared.limits.header_count);
    }
    // Boxed: on the stack of this future it would take its place twice, before and after it is pinned.
    let mut connection = Box::pin(builder.serve_connection(stream, service));
    tokio::select! {
        // In this order: an answer that hyper takes over is with it before it hears of the end.
        biased;
        // What went wrong on a connection was its client's doing, and its client knows.
        _ = connection.as_mut() => return,
        _ = closing.wait_for(|closing| *closing) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}
