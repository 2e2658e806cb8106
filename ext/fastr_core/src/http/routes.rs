//! x
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteId(pub u32);
#[derive(Debug, Clone)]
pub enum Target {
    Ruby(RouteId),
    Constant(std::sync::Arc<http::Response<bytes::Bytes>>),
}
pub enum Match<'a> {
    Found {
        target: &'a Target,
        captures: Vec<String>,
    },
    MethodNotAllowed {
        allow: String,
    },
    NotFound,
    BadPath(String),
}
#[derive(Debug, Default)]
pub struct RouteTable(pub Vec<(String, Target)>);
impl RouteTable {
    pub fn matched(&self, _m: &str, path: &str, _host: Option<&str>) -> Match<'_> {
        for (p, t) in &self.0 {
            if p == path {
                return Match::Found {
                    target: t,
                    captures: vec![],
                };
            }
        }
        Match::NotFound
    }
}
