//! From a path to the few alternatives that may match it.
//!
//! It owns the tree: one leaf per shape, and behind each leaf every alternative that may match a path of that shape,
//! in the order of adding. Alternatives that span segments lie in no leaf of their own (the tree could not hold them
//! beside a parameter) but behind every leaf they meet. So whichever leaf a path leads to, the declared order decides.
//! Shapes without parameters are looked up in a hash first, which halves the time of a static hit.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use matchit::Router;

use super::shape::Shape;

/// Finds candidates by path.
#[derive(Debug)]
pub(super) struct Index {
    statics: HashMap<Box<str>, usize, BuildHasherDefault<PathHasher>>,
    tree: Router<usize>,
    leaves: Vec<Box<[u32]>>,
    /// The alternatives for paths that lead to no leaf.
    open: Box<[u32]>,
}

impl Index {
    /// Indexes the shapes; a candidate is the position of its shape.
    pub(super) fn new(shapes: &[Shape]) -> Result<Self, String> {
        let mut tree = Router::new();
        let mut statics = HashMap::default();
        let mut leaves = Vec::new();
        let mut seen = HashSet::new();
        for shape in shapes
            .iter()
            .filter(|shape| !shape.is_open && seen.insert(*shape))
        {
            match literal(shape) {
                Some(path) => drop(statics.insert(path, leaves.len())),
                None => {
                    let leaf = leaf(shape);
                    tree.insert(&leaf, leaves.len())
                        .map_err(|error| format!("{leaf:?}: {error}"))?;
                }
            }
            leaves.push(positions(shapes, |other| shape.meets(other)));
        }
        Ok(Index {
            statics,
            tree,
            leaves,
            open: positions(shapes, |shape| shape.is_open),
        })
    }

    /// Every alternative that may match the decoded path, in the order of adding.
    pub(super) fn candidates(&self, path: &str) -> &[u32] {
        if let Some(leaf) = self.statics.get(path) {
            return &self.leaves[*leaf];
        }
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

/// The one path of a shape without parameters.
fn literal(shape: &Shape) -> Option<Box<str>> {
    let mut path = String::new();
    for segment in &shape.segments {
        path.push('/');
        path.push_str(segment.as_ref()?);
    }
    Some(path.into())
}

/// The shape in the tree's own syntax.
fn leaf(shape: &Shape) -> String {
    let segment = |(position, segment): (usize, &Option<String>)| match segment {
        Some(text) => format!("/{}", text.replace('{', "{{").replace('}', "}}")),
        None => format!("/{{{position}}}"),
    };
    shape.segments.iter().enumerate().map(segment).collect()
}

/// A multiplicative hash. The keys are the application's own paths, so that no client can make them collide.
#[derive(Debug, Default)]
struct PathHasher(u64);

impl PathHasher {
    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for PathHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.mix(u64::from_le_bytes(last) ^ bytes.len() as u64);
    }

    fn finish(&self) -> u64 {
        // The table's index is in the low bits, the best mixed ones are high.
        self.0.rotate_left(26)
    }
}
