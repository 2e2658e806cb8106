//! `AsyncRecord::Rows.nested_json`: a tree of results as one JSON document. Ruby says how the results hang together.

use std::sync::Arc;

use fastr_core::db::{Branch, JsonColumns, Node, Rows, concat, to_nested_json};
use magnus::prelude::*;
use magnus::{Error, RArray, RClass, Ruby, TryConvert, Value, method};

use crate::convert::{Strings, text};
use crate::error::{guard, raise};
use crate::rows::RubyRows;

/// The JSON of a tree of results. A node is `[parts, only, except, branches]`, a branch
/// `[name, many, parent_key, child_key, links, ordered, node]`.
fn nested_json(ruby: &Ruby, _class: RClass, tree: RArray) -> Result<Value, Error> {
    guard(|_| {
        let json = to_nested_json(&node(tree)?).map_err(|error| raise(ruby, &error))?;
        Ok(text(ruby, &json))
    })
}

fn node(tree: RArray) -> Result<Node, Error> {
    let (parts, only, except, branches): (RArray, _, _, RArray) = (
        tree.entry(0)?,
        tree.entry::<Option<Strings>>(1)?,
        tree.entry::<Option<Strings>>(2)?,
        tree.entry::<RArray>(3)?,
    );
    Ok(Node {
        rows: all_rows(parts)?,
        columns: match (only, except) {
            (Some(names), _) => JsonColumns::Only(names.0),
            (None, Some(names)) => JsonColumns::Except(names.0),
            (None, None) => JsonColumns::All,
        },
        branches: branches
            .into_iter()
            .map(|value| branch(RArray::try_convert(value)?))
            .collect::<Result<_, _>>()?,
    })
}

fn branch(branch: RArray) -> Result<Branch, Error> {
    Ok(Branch {
        name: branch.entry(0)?,
        many: branch.entry(1)?,
        parent_key: branch.entry(2)?,
        child_key: branch.entry(3)?,
        links: branch
            .entry::<Option<RArray>>(4)?
            .map(all_rows)
            .transpose()?,
        ordered: branch.entry(5)?,
        node: node(branch.entry(6)?)?,
    })
}

fn all_rows(parts: RArray) -> Result<Arc<Rows>, Error> {
    let parts: Vec<Arc<Rows>> = parts
        .into_iter()
        .map(|part| <&RubyRows>::try_convert(part).map(|rows| Arc::clone(&rows.rows)))
        .collect::<Result<_, _>>()?;
    Ok(concat(&parts))
}

pub(crate) fn define(class: RClass) -> Result<(), Error> {
    class.define_singleton_method("nested_json", method!(nested_json, 1))
}
