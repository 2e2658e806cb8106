//! The HTTP server, from the socket to the event queue and back.

mod answering;
mod answers;
pub mod body;
mod connection;
mod declared_length;
mod direct;
pub mod form;
pub mod guard;
mod guarded_stream;
mod lazy_timer;
pub mod limits;
mod listener;
pub mod multipart;
mod plain_request;
mod reply;
pub mod request;
pub mod request_body;
pub mod responder;
mod response_stream;
pub mod routes;
mod sendfile;
pub mod sent_file;
pub mod server;
mod service;
pub mod static_files;
pub mod status_page;
mod tracked;
pub mod written;

pub use server::{Server, ServerOptions};
