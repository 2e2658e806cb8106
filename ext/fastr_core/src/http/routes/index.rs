//! From a path to the few alternatives that may match it.
//!
//! It owns the tree: one leaf per shape, and behind each leaf every alternative that may match a path of that shape,
//! in the order of adding. Alternatives that span segments lie in no leaf of their own (the tree could not hold them
//! beside a parameter) but behind every leaf they meet. So whichever leaf a path leads to, the declared order decides.

use matchit::Router;

use super::shape::Shape;

/// Finds candidates by path.
#[derive(Debug)]
pub(super) struct Index {
    tree: Router<usize>,
    leaves: Vec<Box<[u32]>>,
    /// The alternatives for paths that lead to no leaf.
    open: Box<[u32]>,
}

impl Index {
    /// Indexes the shapes; a candidate is the position of its shape.
    pub(super) fn new(shapes: &[Shape]) -> Result<Self, String> {
        let mut tree = Router::new();
        let mut leaves = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for shape in shapes
            .iter()
            .filter(|shape| !shape.is_open && seen.insert(*shape))
        {
            let leaf = leaf(shape);
            tree.insert(&leaf, leaves.len())
                .map_err(|error| format!("{leaf:?}: {error}"))?;
            leaves.push(positions(shapes, |other| shape.meets(other)));
        }
        Ok(Index {
            tree,
            leaves,
            open: positions(shapes, |shape| shape.is_open),
        })
    }

    /// Every alternative that may match the decoded path, in the order of adding.
    pub(super) fn candidates(&self, path: &str) -> &[u32] {
        match self.tree.at(path) {
            Ok(found) => &self.leaves[*found.value],
            Err(_) => &self.open,
        }
    }
}

fn positions(shapes: &[Shape], belongs: impl Fn(&Shape) -> bool) -> Box<[u32]> {
    let positions = (0..).zip(shapes).filter(|(_, shape)| belongs(shape));
    positions.map(|(position, _)| position).collect()
}

/// The shape in the tree's own syntax.
fn leaf(shape: &Shape) -> String {
    let segment = |(position, segment): (usize, &Option<String>)| match segment {
        Some(text) => format!("/{}", text.replace('{', "{{").replace('}', "}}")),
        None => format!("/{{{position}}}"),
    };
    shape.segments.iter().enumerate().map(segment).collect()
}
