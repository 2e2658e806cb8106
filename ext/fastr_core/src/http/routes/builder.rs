//! Building a route table. Every error names the pattern and what is wrong in it.

use std::sync::Arc;

use super::constraint::Constraint;
use super::host::{Host, HostPattern};
use super::index::Index;
use super::matcher::Matcher;
use super::methods::{HEAD, MethodNames, Methods};
use super::shape::Shape;
use super::target::{RouteId, Target};
use super::{Alternative, Route, RouteTable, pattern};
use crate::error::Error;

/// One route, as it is added.
#[derive(Debug, Clone, Copy)]
pub struct RouteSpec<'a> {
    /// The methods in upper case; none for every method.
    pub methods: Option<&'a [&'a str]>,
    /// The pattern, as the module describes.
    pub pattern: &'a str,
    /// Regular expressions by parameter name, without delimiters; options go in front as `(?im)`.
    pub constraints: &'a [(&'a str, &'a str)],
    /// The host the route is for; none for every host.
    pub host: Option<HostPattern<'a>>,
}

impl<'a> RouteSpec<'a> {
    /// A route for every method and host, without constraints.
    #[must_use]
    pub fn any(pattern: &'a str) -> Self {
        RouteSpec {
            methods: None,
            pattern,
            constraints: &[],
            host: None,
        }
    }

    /// A route for these methods.
    #[must_use]
    pub fn new(methods: &'a [&'a str], pattern: &'a str) -> Self {
        RouteSpec {
            methods: Some(methods),
            ..Self::any(pattern)
        }
    }
}

/// Collects routes in the order in which they are to be tried.
#[derive(Debug)]
pub struct RouteTableBuilder {
    routes: Vec<Route>,
    alternatives: Vec<Alternative>,
    shapes: Vec<Shape>,
    method_names: MethodNames,
    has_head: bool,
}

impl RouteTableBuilder {
    pub(super) fn new() -> Self {
        RouteTableBuilder {
            routes: Vec::new(),
            alternatives: Vec::new(),
            shapes: Vec::new(),
            method_names: MethodNames::new(),
            has_head: false,
        }
    }

    /// Adds a route after those added so far.
    ///
    /// # Errors
    /// `Invalid` when the pattern, a constraint or a method is unusable; the builder is as it was.
    pub fn add(&mut self, spec: RouteSpec<'_>, target: Target) -> Result<RouteId, Error> {
        self.try_add(spec, target).map_err(|what| {
            Error::Invalid(format!(
                "the route pattern {:?} is unusable: {what}",
                spec.pattern
            ))
        })
    }

    /// Makes the table.
    ///
    /// # Errors
    /// `Invalid` when the routes cannot be indexed together.
    pub fn build(self) -> Result<RouteTable, Error> {
        let index = Index::new(&self.shapes)
            .map_err(|what| Error::Invalid(format!("the routes cannot be indexed: {what}")))?;
        Ok(RouteTable {
            routes: self.routes,
            alternatives: self.alternatives,
            index,
            method_names: self.method_names,
            has_head: self.has_head,
        })
    }

    fn try_add(&mut self, spec: RouteSpec<'_>, target: Target) -> Result<RouteId, String> {
        let pattern = pattern::parse(spec.pattern)?;
        let constraints = constraints(&pattern.names, spec.constraints)?;
        let host = spec.host.map(Host::new).transpose()?.map(Arc::new);
        let route =
            RouteId(u32::try_from(self.routes.len()).map_err(|_| "there are too many routes")?);
        let mut compiled = Vec::new();
        for pieces in &pattern.alternatives {
            compiled.push((
                Matcher::new(pieces, &constraints)?,
                Shape::new(pieces, &constraints),
            ));
        }
        let methods = self.methods(spec.methods)?;
        self.has_head |= spec.methods.is_some() && methods.meets(HEAD);
        for (matcher, shape) in compiled {
            self.alternatives.push(Alternative {
                route,
                methods,
                host: host.clone(),
                matcher,
            });
            self.shapes.push(shape);
        }
        self.routes.push(Route {
            names: pattern.names,
            target,
        });
        Ok(route)
    }

    fn methods(&mut self, names: Option<&[&str]>) -> Result<Methods, String> {
        let Some(names) = names else {
            return Ok(Methods::ANY);
        };
        if names.is_empty() {
            return Err("its list of methods is empty (give none for every method)".to_owned());
        }
        let mut methods = Methods::NONE;
        for name in names {
            if !name
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte == b'-')
                || name.is_empty()
            {
                return Err(format!(
                    "{name:?} is no method (methods are written in upper case)"
                ));
            }
            let known = self.method_names.learn(name);
            methods = methods.with(known.ok_or("the routes mention more than 63 methods")?);
        }
        Ok(methods)
    }
}

/// The constraints by the number of their parameter.
fn constraints(
    names: &[String],
    sources: &[(&str, &str)],
) -> Result<Vec<Option<Constraint>>, String> {
    let mut constraints = vec![None; names.len()];
    for (name, source) in sources {
        let Some(param) = names.iter().position(|known| known == name) else {
            let known = if names.is_empty() {
                "it has none".to_owned()
            } else {
                format!("it has {}", names.join(", "))
            };
            return Err(format!(
                "the constraint `{name}` belongs to no parameter ({known})"
            ));
        };
        if constraints[param].is_some() {
            return Err(format!("the constraint `{name}` is given twice"));
        }
        let constraint = Constraint::new(source).map_err(|why| {
            format!("the constraint `{name}` is no usable regex ({source}): {why}")
        })?;
        constraints[param] = Some(constraint);
    }
    Ok(constraints)
}
