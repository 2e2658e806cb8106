//! x
#[derive(Debug, Clone)]
pub struct Limits {
    pub max_connections: usize,
    pub max_in_flight: usize,
    pub max_body: u64,
    pub handler_timeout: std::time::Duration,
}
impl Default for Limits {
    fn default() -> Self {
        Self {
            max_connections: 20000,
            max_in_flight: 10000,
            max_body: 16 << 20,
            handler_timeout: std::time::Duration::from_secs(30),
        }
    }
}
