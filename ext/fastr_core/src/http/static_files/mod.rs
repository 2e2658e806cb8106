//! Static files.
