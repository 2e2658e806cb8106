//! A server: its options, its life from `listen` to `stop`, and what its connections share.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};

use crate::error::Error;
use crate::event::{Completer, Outcome, RequestId};
use crate::http::limits::Limits;
use crate::http::listener;
use crate::http::routes::RouteTable;
use crate::http::static_files::{StaticFiles, StaticOptions};
use crate::reactor::Reactor;

/// How a server behaves. Every field has a default but the route table.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// Address or host name to listen on.
    pub host: String,
    /// Port; 0 picks a free one.
    pub port: u16,
    /// The folder of static files, served before any route.
    pub public: Option<PathBuf>,
    /// Sizes and times.
    pub limits: Limits,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            host: "127.0.0.1".into(),
            port: 3000,
            public: None,
            limits: Limits::default(),
        }
    }
}

/// What all connections of a server share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) reactor: Arc<Reactor>,
    pub(crate) limits: Limits,
    pub(crate) static_files: Option<StaticFiles>,
    pub(crate) routes: Mutex<Arc<RouteTable>>,
    pub(crate) in_flight: AtomicUsize,
    pub(crate) connections: AtomicUsize,
    pub(crate) all_closed: Notify,
    pub(crate) closing: watch::Sender<bool>,
}

impl Shared {
    pub(crate) fn routes(&self) -> Arc<RouteTable> {
        Arc::clone(&self.routes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A connection ended; the last one of a closing server lets it go.
    pub(crate) fn connection_closed(&self) {
        if self.connections.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.all_closed.notify_waiters();
        }
    }
}

static NEXT_REQUEST: AtomicU64 = AtomicU64::new(1);

pub(crate) fn next_request_id() -> RequestId {
    RequestId(NEXT_REQUEST.fetch_add(1, Ordering::Relaxed))
}

/// A listening server. Dropping it stops accepting and lets its connections finish.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    address: SocketAddr,
}

impl Server {
    /// Binds, listens and starts to accept.
    ///
    /// # Errors
    /// [`Error::Bind`] naming the address and the way out.
    pub fn listen(
        reactor: &Arc<Reactor>,
        options: ServerOptions,
        routes: Arc<RouteTable>,
    ) -> Result<Self, Error> {
        let socket = listener::bind(&options.host, options.port)?;
        let address = socket.local_addr()?;
        let static_files = options
            .public
            .map(|root| StaticFiles::new(root, StaticOptions::default()))
            .transpose()?;
        let shared = Arc::new(Shared {
            reactor: Arc::clone(reactor),
            limits: options.limits,
            static_files,
            routes: Mutex::new(routes),
            in_flight: AtomicUsize::new(0),
            connections: AtomicUsize::new(0),
            all_closed: Notify::new(),
            closing: watch::Sender::new(false),
        });
        let accepting = Arc::clone(&shared);
        reactor
            .handle()
            .spawn(async move { listener::accept(socket, accepting).await });
        Ok(Self { shared, address })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Requests that wait for an answer of Ruby.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.shared.in_flight.load(Ordering::Acquire)
    }

    /// Open connections.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Acquire)
    }

    /// Replaces the route table; requests that are matched already keep their route.
    pub fn replace_routes(&self, routes: Arc<RouteTable>) {
        *self
            .shared
            .routes
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = routes;
    }

    /// Stops accepting, closes idle connections, and completes when the last answer is out or `deadline` passed
    /// (with [`Error::TimedOut`] then; what is left is cut when the reactor stops).
    pub fn stop(&self, deadline: Duration, completer: Completer) {
        self.shared.closing.send_replace(true);
        let shared = Arc::clone(&self.shared);
        self.shared.reactor.operate(completer, async move {
            let drained = async {
                loop {
                    let closed = shared.all_closed.notified();
                    if shared.connections.load(Ordering::Acquire) == 0 {
                        return;
                    }
                    closed.await;
                }
            };
            match tokio::time::timeout(deadline, drained).await {
                Ok(()) => Ok(Outcome::Done),
                Err(_) => Err(Error::TimedOut(
                    "requests were still in flight at the deadline".into(),
                )),
            }
        });
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.closing.send_replace(true);
    }
}
