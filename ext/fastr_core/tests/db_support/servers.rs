//! The servers that `bin/with-databases` starts.

use std::process::Command;
use std::sync::Arc;

use fastr_core::db::{Database, DatabaseOptions};

use super::reactor;

/// One of the two servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Server {
    PostgreSql,
    MySql,
}

pub const SERVERS: [Server; 2] = [Server::PostgreSql, Server::MySql];

impl Server {
    fn variable(self, rest: &str) -> String {
        let name = match self {
            Server::PostgreSql => "PG",
            Server::MySql => "MYSQL",
        };
        let variable = format!("FASTR_TEST_{name}{rest}");
        std::env::var(&variable).unwrap_or_else(|_| {
            panic!("{variable} is not set: run this as `bin/with-databases cargo test …`")
        })
    }

    pub fn url(self) -> String {
        self.variable("")
    }

    pub fn open(self, options: DatabaseOptions) -> Arc<Database> {
        Database::open(&self.url(), options, reactor()).unwrap()
    }

    pub fn of_size(self, size: usize) -> Arc<Database> {
        self.open(DatabaseOptions {
            size: Some(size),
            ..DatabaseOptions::default()
        })
    }

    /// A statement that does nothing for so many seconds.
    pub fn sleep(self, seconds: f64) -> String {
        match self {
            Server::PostgreSql => format!("select 1 from pg_sleep({seconds})"),
            Server::MySql => format!("select sleep({seconds})"),
        }
    }

    /// start, stop, kill, restart, pause or resume.
    pub fn control(self, word: &str) {
        let command = format!("{} {word}", self.variable("_CONTROL"));
        let status = Command::new("sh").args(["-c", &command]).status().unwrap();
        assert!(status.success(), "{command}");
    }
}
