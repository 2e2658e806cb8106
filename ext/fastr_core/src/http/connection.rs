//! x
use crate::http::{request::Peer, server::Shared, service::Service};
use std::sync::Arc;
pub(crate) struct ConnectionState;
impl ConnectionState {
    pub(crate) fn request_started(&self) {}
    pub(crate) fn answer_streams(&self) {}
    pub(crate) fn take_rejection(&self) -> (u16, String) {
        (400, "x".into())
    }
}
pub(crate) async fn serve(stream: tokio::net::TcpStream, peer: Peer, shared: Arc<Shared>) {
    let service = Arc::new(Service::new(
        Arc::clone(&shared),
        Arc::new(ConnectionState),
        peer,
    ));
    let mut closing = shared.closing.subscribe();
    let service = hyper::service::service_fn(move |request| {
        let service = Arc::clone(&service);
        async move { Ok::<_, std::convert::Infallible>(service.answer(request).await) }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .pipeline_flush(true)
        .serve_connection(hyper_util::rt::TokioIo::new(stream), service);
    tokio::pin!(connection);
    tokio::select! { _ = connection.as_mut() => return, _ = closing.wait_for(|c| *c) => {} }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}
