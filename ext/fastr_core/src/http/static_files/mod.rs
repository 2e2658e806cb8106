//! x
#[derive(Debug)]
pub struct StaticFiles;
impl StaticFiles {
    pub fn new(_r: &std::path::Path, _o: ()) -> Self {
        StaticFiles
    }
    pub async fn serve(
        &self,
        _m: &http::Method,
        _p: &str,
        _h: &http::HeaderMap,
    ) -> Option<http::Response<StaticBody>> {
        None
    }
}
pub type StaticBody = http_body_util::combinators::BoxBody<bytes::Bytes, std::io::Error>;
