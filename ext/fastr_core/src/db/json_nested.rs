//! Several results as one JSON document: parents with their children inside, found by keys. An association to many is
//! an array, one to a single row an object or `null`. Values become what they become in `json`.
//!
//! It is given all rows and asks for none. It refuses nothing but columns that a result does not have.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;

use super::json::{Cell, JsonColumns, Member, find_column, key, members, write_cell};
use super::rows::{Rows, Value};
use crate::error::Error;

/// Rows, what of them is shown, and what hangs below each.
#[derive(Debug)]
pub struct Node {
    /// The rows.
    pub rows: Arc<Rows>,
    /// Which columns become members.
    pub columns: JsonColumns,
    /// What becomes further members, behind the columns.
    pub branches: Vec<Branch>,
}

/// An association: the children whose key equals the parent's.
#[derive(Debug)]
pub struct Branch {
    /// The member's name.
    pub name: String,
    /// Whether it is an array, rather than an object or `null`.
    pub many: bool,
    /// The parent's column.
    pub parent_key: String,
    /// The child's column.
    pub child_key: String,
    /// Pairs of a parent's and a child's key, where rows of other tables stand between them. Without it the keys are
    /// compared directly.
    pub links: Option<Arc<Rows>>,
    /// Whether children found by way of pairs come in the order of their rows, rather than of the pairs.
    pub ordered: bool,
    /// The children.
    pub node: Node,
}

/// Renders the rows as an array of objects.
///
/// # Errors
/// A `Query` error if a chosen column or a key is not part of its result.
pub fn to_nested_json(node: &Node) -> Result<Bytes, Error> {
    let plan = Plan::new(node)?;
    let mut out = Vec::with_capacity(64 * node.rows.len() + 2);
    plan.write_array(&mut out, 0..node.rows.len());
    Ok(Bytes::from(out))
}

/// A node, with everything looked up that is the same for all of its rows.
struct Plan<'a> {
    rows: &'a Rows,
    members: Vec<Member>,
    branches: Vec<BranchPlan<'a>>,
}

struct BranchPlan<'a> {
    key: Vec<u8>,
    many: bool,
    parent_key: usize,
    children: HashMap<Key<'a>, Vec<usize>>,
    plan: Plan<'a>,
}

impl<'a> Plan<'a> {
    fn new(node: &'a Node) -> Result<Self, Error> {
        // Where nothing was asked for, there are no columns to choose from.
        let members = match node.rows.columns() {
            [] => Vec::new(),
            columns => members(columns, &node.columns)?,
        };
        let branches = node
            .branches
            .iter()
            .enumerate()
            .map(|(index, branch)| BranchPlan::new(members.len() + index, branch, &node.rows))
            .collect::<Result<_, Error>>()?;
        Ok(Self {
            rows: &node.rows,
            members,
            branches,
        })
    }

    fn write_array(&self, out: &mut Vec<u8>, indexes: impl IntoIterator<Item = usize>) {
        out.push(b'[');
        for (position, index) in indexes.into_iter().enumerate() {
            if position > 0 {
                out.push(b',');
            }
            self.write_object(out, index);
        }
        out.push(b']');
    }

    fn write_object(&self, out: &mut Vec<u8>, index: usize) {
        let row = self.rows.row(index).unwrap_or(&[]);
        out.push(b'{');
        for member in &self.members {
            out.extend_from_slice(&member.key);
            write_cell(out, member.kind, Cell::from(&row[member.index]));
        }
        for branch in &self.branches {
            branch.write(out, &row[branch.parent_key]);
        }
        out.push(b'}');
    }
}

impl<'a> BranchPlan<'a> {
    fn new(position: usize, branch: &'a Branch, parents: &Rows) -> Result<Self, Error> {
        let rows = &branch.node.rows;
        let direct = if rows.columns().is_empty() {
            HashMap::new()
        } else {
            by_key(rows, find_column(rows.columns(), &branch.child_key)?)
        };
        Ok(Self {
            key: key(position, &branch.name),
            many: branch.many,
            parent_key: find_column(parents.columns(), &branch.parent_key)?,
            children: match &branch.links {
                Some(links) => through(links, &direct, branch.ordered),
                None => direct,
            },
            plan: Plan::new(&branch.node)?,
        })
    }

    fn write(&self, out: &mut Vec<u8>, parent: &Value) {
        out.extend_from_slice(&self.key);
        let children = Key::of(parent)
            .and_then(|key| self.children.get(&key))
            .map_or(&[][..], Vec::as_slice);
        if self.many {
            return self.plan.write_array(out, children.iter().copied());
        }
        match children.first() {
            Some(&index) => self.plan.write_object(out, index),
            None => out.extend_from_slice(b"null"),
        }
    }
}

/// The rows that have each key, in order.
fn by_key(rows: &Rows, column: usize) -> HashMap<Key<'_>, Vec<usize>> {
    let mut found: HashMap<Key<'_>, Vec<usize>> = HashMap::with_capacity(rows.len());
    for (index, row) in rows.iter().enumerate() {
        if let Some(key) = Key::of(&row[column]) {
            found.entry(key).or_default().push(index);
        }
    }
    found
}

/// The children of each parent by way of the pairs.
fn through<'a>(
    links: &'a Rows,
    children: &HashMap<Key<'a>, Vec<usize>>,
    ordered: bool,
) -> HashMap<Key<'a>, Vec<usize>> {
    let mut found: HashMap<Key<'a>, Vec<usize>> = HashMap::new();
    for link in links.iter() {
        let (Some(parent), Some(child)) = (Key::of(&link[0]), Key::of(&link[1])) else {
            continue;
        };
        if let Some(indexes) = children.get(&child) {
            found.entry(parent).or_default().extend_from_slice(indexes);
        }
    }
    if ordered {
        found
            .values_mut()
            .for_each(|indexes| indexes.sort_unstable());
    }
    found
}

/// A value as something to look up. Text that is a whole number equals that number, since two tables may declare
/// their keys differently.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Key<'a> {
    Integer(i64),
    Text(&'a str),
    Bytes(&'a [u8]),
    Other(String),
}

impl<'a> Key<'a> {
    /// None for NULL, which equals nothing.
    fn of(value: &'a Value) -> Option<Self> {
        Some(match value {
            Value::Null => return None,
            Value::Integer(number) => Key::Integer(*number),
            Value::Text(text) => whole(text).map_or(Key::Text(text), Key::Integer),
            Value::Blob(bytes) => Key::Bytes(bytes),
            other => Key::Other(format!("{other:?}")),
        })
    }
}

/// The number whose text this is, digit for digit.
fn whole(text: &str) -> Option<i64> {
    let short = (1..=20).contains(&text.len());
    let plain = short && (text == "0" || !text.trim_start_matches('-').starts_with('0'));
    plain
        .then(|| text.parse().ok())
        .flatten()
        .filter(|_| !text.starts_with('+'))
}
