//! Files of a public folder, answered without Ruby.
//!
//! It owns everything from the path to the response: which names may be served at all, opening beneath the root,
//! validators, ranges, precompressed siblings and the streamed body. It refuses by staying silent: what is no regular
//! file beneath the root is `None`, and the router goes on. What needs a disk runs on blocking threads, not on the reactor,
//! and a path whose first segment is no name in the folder costs neither a thread nor a system call.
//!
//! Entity tags are strong, made of size and modification time in nanoseconds: a file that is rewritten with the same
//! size within one tick of the file system's clock keeps its tag. Changes are seen within
//! [`StaticOptions::fresh_for`]. A `.br` or `.gz` sibling is trusted to be of the same version as its file.

mod beneath;
mod body;
mod conditions;
mod encoding;
mod listing;
mod memory;
mod name;
mod range;
mod response;
mod source;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderValue, Method, Response};

use crate::error::Error;
use beneath::{Look, Root};
pub use body::StaticBody;
use encoding::Accepted;
use listing::Listing;
use memory::Memory;
use source::Source;

/// How a public folder is served.
#[derive(Debug, Clone)]
pub struct StaticOptions {
    /// Answer a path that ends in `/` with the `index.html` of that folder. Off, as it was in 2010.
    pub index: bool,
    /// The value of `Cache-Control`, if there shall be one.
    pub cache_control: Option<String>,
    /// Use `.br` and `.gz` siblings for clients that accept them.
    pub precompressed: bool,
    /// How long what is known about the folder and about small files is believed. Zero asks the disk every time.
    pub fresh_for: Duration,
    /// How many bytes of small files are kept in memory.
    pub memory: usize,
}

impl Default for StaticOptions {
    fn default() -> Self {
        StaticOptions {
            index: false,
            cache_control: None,
            precompressed: true,
            fresh_for: Duration::from_secs(1),
            memory: 8 << 20,
        }
    }
}

/// A public folder.
#[derive(Debug)]
pub struct StaticFiles {
    listing: Listing,
    memory: Memory,
    index: bool,
    precompressed: bool,
    cache_control: Option<HeaderValue>,
}

impl StaticFiles {
    /// Serves the folder `root`. It may be missing: then nothing is served until it appears.
    ///
    /// # Errors
    /// `Invalid` when `cache_control` cannot be sent as a header.
    pub fn new(root: impl Into<PathBuf>, options: StaticOptions) -> Result<Self, Error> {
        let cache_control = options
            .cache_control
            .as_deref()
            .map(HeaderValue::from_str)
            .transpose();
        let cache_control = cache_control.map_err(|_| {
            let value = options.cache_control.unwrap_or_default();
            Error::Invalid(format!(
                "the Cache-Control of static files cannot be {value:?}"
            ))
        })?;
        Ok(StaticFiles {
            listing: Listing::new(root.into(), options.fresh_for),
            memory: Memory::new(options.memory, options.fresh_for),
            index: options.index,
            precompressed: options.precompressed,
            cache_control,
        })
    }

    /// Whether no file has this path, as far as that is known without a look at the folder: so it is for most requests
    /// of an application.
    #[must_use]
    pub fn lacks(&self, path: &str) -> bool {
        let first = path.strip_prefix('/').unwrap_or(path).split('/').next();
        first.is_some_and(|first| {
            !first.is_empty() && !first.contains('%') && self.listing.lacks(first)
        })
    }

    /// Answers a request, or leaves it to the router. `path` is raw, still percent-encoded, without the query.
    ///
    /// Only GET and HEAD are answered. Must be called on a tokio runtime.
    pub async fn serve(
        &self,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
    ) -> Option<Response<StaticBody>> {
        if method != Method::GET && method != Method::HEAD {
            return None;
        }
        let name = name::relative(path, self.index)?;
        let root = self.listing.root_of(&name).await?;
        let accepted = if self.precompressed {
            Accepted::of(headers)
        } else {
            Accepted::NOTHING
        };
        let source = match self.memory.get(&name, accepted) {
            Some(known) => known,
            None => match self.open(root, name, accepted).await {
                Ok(opened) => opened,
                Err(error) if beneath::is_exhaustion(&error) => {
                    return Some(response::unavailable());
                }
                Err(_) => return None,
            },
        };
        Some(response::respond(
            &source,
            method,
            headers,
            self.cache_control.as_ref(),
        ))
    }

    /// Opens a file: at once if the kernel knows it and it is not small, else on a blocking thread. Remembers small ones.
    async fn open(&self, root: Arc<Root>, name: String, accepted: Accepted) -> io::Result<Source> {
        let precompressed = self.precompressed;
        let known = Source::open(&root, &name, accepted, precompressed, Look::InMemory);
        if known.is_ok() {
            return known;
        }
        let opening = move || {
            let source = Source::open(&root, &name, accepted, precompressed, Look::Blocking)?;
            Ok::<_, io::Error>((name, source))
        };
        let (name, source) = tokio::task::spawn_blocking(opening).await??;
        self.memory.put(name, accepted, &source);
        Ok(source)
    }
}
