//! A site with files, and clients that read as fast or as slowly as an example asks.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fastr_core::http::limits::Limits;
use fastr_core::http::routes::RouteTable;
use fastr_core::http::{Server, ServerOptions};
use fastr_core::reactor::Reactor;
use socket2::{Domain, Socket, Type};

pub const MIB: usize = 1 << 20;
pub const PATIENCE: Duration = Duration::from_secs(20);

pub struct Site {
    pub folder: tempfile::TempDir,
    pub server: Server,
    _reactor: Arc<Reactor>,
}

pub fn site_in(folder: tempfile::TempDir, limits: Limits) -> Site {
    let reactor = Reactor::start().unwrap();
    let options = ServerOptions {
        port: 0,
        public: Some(folder.path().to_owned()),
        limits,
        ..ServerOptions::default()
    };
    let routes = Arc::new(RouteTable::builder().build().unwrap());
    let server = Server::listen(&reactor, options, routes).unwrap();
    Site {
        folder,
        server,
        _reactor: reactor,
    }
}

pub fn site_with(limits: Limits) -> Site {
    site_in(tempfile::tempdir().unwrap(), limits)
}

pub fn site() -> Site {
    site_with(Limits::default())
}

impl Site {
    pub fn put(&self, name: &str, length: usize) -> Vec<u8> {
        let content = content(length);
        std::fs::write(self.folder.path().join(name), &content).unwrap();
        content
    }

    pub fn client(&self) -> Client {
        Client::new(TcpStream::connect(self.server.address()).unwrap())
    }

    /// A client whose window is a few packets.
    pub fn narrow_client(&self) -> Client {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.set_recv_buffer_size(16 << 10).unwrap();
        let address: SocketAddr = self.server.address();
        socket.connect(&address.into()).unwrap();
        Client::new(socket.into())
    }

    pub fn loses_its_connections(&self) -> bool {
        let deadline = Instant::now() + PATIENCE;
        while self.server.connections() > 0 && Instant::now() < deadline {
            std::thread::yield_now();
        }
        self.server.connections() == 0
    }
}

/// Bytes that differ from place to place, so that a shifted part is seen.
pub fn content(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

pub struct Client(pub BufReader<TcpStream>);

#[derive(Debug)]
pub struct Head {
    pub status: u16,
    pub fields: HashMap<String, String>,
}

impl Head {
    pub fn length(&self) -> usize {
        self.fields["content-length"].parse().unwrap()
    }
}

impl Client {
    pub fn new(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Client(BufReader::with_capacity(8 << 10, stream))
    }

    pub fn send(&mut self, text: &str) -> &mut Self {
        self.0.get_mut().write_all(text.as_bytes()).unwrap();
        self
    }

    pub fn ask(&mut self, method: &str, path: &str, fields: &str) -> &mut Self {
        self.send(&format!(
            "{method} {path} HTTP/1.1\r\nHost: a\r\n{fields}\r\n"
        ))
    }

    pub fn head(&mut self) -> Head {
        let status = self.line().split(' ').nth(1).unwrap().parse().unwrap();
        let mut fields = HashMap::new();
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(": ") else {
                return Head { status, fields };
            };
            fields.insert(name.to_owned(), value.to_owned());
        }
    }

    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    pub fn answer(&mut self) -> (Head, Vec<u8>) {
        let head = self.head();
        let mut body = vec![0; head.length()];
        self.0.read_exact(&mut body).unwrap();
        (head, body)
    }

    pub fn gets(&mut self, path: &str) -> Vec<u8> {
        let (head, body) = self.ask("GET", path, "").answer();
        assert_eq!(head.status, 200, "{path}");
        body
    }

    /// Everything until the connection ends, in order or by a reset.
    pub fn rest(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        if let Err(error) = self.0.read_to_end(&mut bytes) {
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
        }
        bytes
    }
}

/// Like `assert_eq!`, without printing megabytes.
pub fn same(left: &[u8], right: &[u8]) {
    assert_eq!(left.len(), right.len());
    let differs = left
        .iter()
        .zip(right)
        .position(|(left, right)| left != right);
    assert_eq!(differs, None, "the first byte that differs");
}
