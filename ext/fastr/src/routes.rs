//! x
use fastr_core::http::routes::{RouteId, RouteTable, Target};
use magnus::{Error, RModule, Ruby, function, method, prelude::*};
use std::cell::RefCell;
use std::sync::Arc;
#[magnus::wrap(class = "Fastr::RouteTable", free_immediately)]
pub(crate) struct RubyRoutes(RefCell<Vec<(String, Target)>>);
impl RubyRoutes {
    fn new() -> Self {
        Self(RefCell::default())
    }
    fn add(&self, path: String, id: u32) {
        self.0.borrow_mut().push((path, Target::Ruby(RouteId(id))));
    }
    pub(crate) fn table(&self) -> Arc<RouteTable> {
        Arc::new(RouteTable(self.0.borrow().clone()))
    }
}
pub(crate) fn define(ruby: &Ruby, f: RModule) -> Result<(), Error> {
    let c = f.define_class("RouteTable", ruby.class_object())?;
    c.define_singleton_method("new", function!(RubyRoutes::new, 0))?;
    c.define_method("add", method!(RubyRoutes::add, 2))
}
