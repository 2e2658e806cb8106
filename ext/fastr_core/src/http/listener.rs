//! The listening socket: binding with an error that helps, accepting within the limits, one task per connection.

use std::io;
use std::net::{SocketAddr, TcpListener as StdListener, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, TcpStream};

use crate::error::Error;
use crate::http::connection;
use crate::http::request::Peer;
use crate::http::server::Shared;

/// How long accepting pauses when the process is out of descriptors.
const PAUSE: Duration = Duration::from_millis(50);
const BACKLOG: i32 = 4096;

/// Binds and listens, without starting to accept.
pub(crate) fn bind(host: &str, port: u16) -> Result<StdListener, Error> {
    let mut last = None;
    for address in addresses(host, port)? {
        match open(address) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = Some(error),
        }
    }
    let error = last.unwrap_or_else(|| io::ErrorKind::AddrNotAvailable.into());
    Err(Error::Bind(explain(host, port, &error)))
}

fn addresses(host: &str, port: u16) -> Result<Vec<SocketAddr>, Error> {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let found = (host, port).to_socket_addrs();
    found
        .map(Iterator::collect)
        .map_err(|error| Error::Bind(format!("cannot listen on {host}:{port}: {error}")))
}

fn open(address: SocketAddr) -> io::Result<StdListener> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

fn explain(host: &str, port: u16, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!(
                "port {port} on {host} is in use; stop the other program or choose another port with -p PORT"
            )
        }
        io::ErrorKind::PermissionDenied => {
            format!(
                "port {port} on {host} needs more rights; choose a port above 1023 with -p PORT"
            )
        }
        io::ErrorKind::AddrNotAvailable => {
            format!("{host} is no address of this machine; choose another with -a ADDRESS")
        }
        _ => format!("cannot listen on {host}:{port}: {error}"),
    }
}

/// Accepts until the server closes.
pub(crate) async fn accept(socket: StdListener, shared: Arc<Shared>) {
    let mut closing = shared.closing.subscribe();
    let Ok(listener) = TcpListener::from_std(socket) else {
        return;
    };
    loop {
        let room = shared.connections.load(Ordering::Acquire) < shared.limits.max_connections;
        let accepted = tokio::select! {
            biased;
            _ = closing.wait_for(|closing| *closing) => return,
            accepted = listener.accept(), if room => accepted,
            () = tokio::time::sleep(PAUSE), if !room => continue,
        };
        match accepted {
            Ok((stream, remote)) => serve(stream, remote, &shared),
            Err(error) if is_about_one_connection(&error) => {}
            // Out of descriptors or memory: existing connections go on, and free some.
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

fn serve(stream: TcpStream, remote: SocketAddr, shared: &Arc<Shared>) {
    let Ok(local) = stream.local_addr() else {
        return;
    };
    let _ = stream.set_nodelay(true);
    shared.connections.fetch_add(1, Ordering::AcqRel);
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        let _open = OpenConnection(Arc::clone(&shared));
        connection::serve(stream, Peer { remote, local }, shared).await;
    });
}

/// Counts a connection until its task ends, however it ends.
struct OpenConnection(Arc<Shared>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.connection_closed();
    }
}

fn is_about_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted
    )
}
