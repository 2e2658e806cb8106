//! The framing guard, in the order of RFC 9112. Each test names the rule it holds; those that guard against a
//! published advisory of another server name its class.

mod body;
mod chunked;
mod connection;
mod fields;
mod hyper_agrees;
mod message;
mod request_line;
mod speed;
mod splits;
mod support;
