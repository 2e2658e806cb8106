//! The HTTP server, from the socket to the event queue and back.

pub mod form;
pub mod guard;
pub mod limits;
pub mod multipart;
pub mod request;
pub mod routes;
pub mod static_files;
