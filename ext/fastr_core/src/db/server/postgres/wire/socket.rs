//! The bytes below the protocol: TCP, TCP with TLS, or a socket of this machine. It knows how to reach a server and
//! nothing of what is said.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::client::TlsStream;

use super::super::options::{Options, SslMode};
use super::fault::Fault;
use super::{messages, tls};

/// A way to a server.
pub(in super::super) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Socket {
    /// Connects, and encrypts as `mode` demands.
    pub(super) async fn open(options: &Options, mode: SslMode) -> Result<Self, Fault> {
        if let Some(path) = options.socket() {
            return Ok(Socket::Unix(UnixStream::connect(path).await?));
        }
        let mut tcp = TcpStream::connect((options.host.as_str(), options.port)).await?;
        tcp.set_nodelay(true)?;
        if matches!(mode, SslMode::Disable | SslMode::Allow) {
            return Ok(Socket::Tcp(tcp));
        }
        match encrypts(&mut tcp).await? {
            true => {
                let tls = tls::handshake(tcp, options, mode).await?;
                Ok(Socket::Tls(Box::new(tls)))
            }
            false if mode == SslMode::Prefer => Ok(Socket::Tcp(tcp)),
            false => Err(Fault::Tls("the server does not support TLS".into())),
        }
    }

    pub(super) fn is_encrypted(&self) -> bool {
        matches!(self, Socket::Tls(_))
    }
}

/// Whether the server agrees to encrypt.
async fn encrypts(tcp: &mut TcpStream) -> Result<bool, Fault> {
    let mut request = Vec::new();
    messages::ssl_request(&mut request);
    tcp.write_all(&request).await?;
    // Nothing beyond this byte may be read: what follows belongs to the handshake, or to an attacker.
    match tcp.read_u8().await? {
        b'S' => Ok(true),
        b'N' => Ok(false),
        _ => Err(Fault::malformed("the answer to the request to encrypt")),
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Socket::Tcp(tcp) => Pin::new(tcp).poll_read(context, into),
            Socket::Unix(unix) => Pin::new(unix).poll_read(context, into),
            Socket::Tls(tls) => Pin::new(tls).poll_read(context, into),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Socket::Tcp(tcp) => Pin::new(tcp).poll_write(context, bytes),
            Socket::Unix(unix) => Pin::new(unix).poll_write(context, bytes),
            Socket::Tls(tls) => Pin::new(tls).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Socket::Tls(tls) => Pin::new(tls).poll_flush(context),
            // The others keep nothing back.
            Socket::Tcp(_) | Socket::Unix(_) => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Socket::Tcp(tcp) => Pin::new(tcp).poll_shutdown(context),
            Socket::Unix(unix) => Pin::new(unix).poll_shutdown(context),
            Socket::Tls(tls) => Pin::new(tls).poll_shutdown(context),
        }
    }
}
