//! Declared order decides: the table against a matcher that tries every route in turn.

#![allow(clippy::unwrap_used)]

use fastr_core::http::routes::{Match, RouteSpec, RouteTable, Target};
use proptest::prelude::*;
use proptest::sample::select;
use regex::Regex;

/// A piece of a pattern: its text and the expressions it may become, the first tried first.
#[derive(Debug, Clone)]
struct Piece {
    text: &'static str,
    expressions: &'static [&'static str],
}

/// Names are numbered where `#` stands.
const PIECES: &[Piece] = &[
    Piece {
        text: "/a",
        expressions: &["/a"],
    },
    Piece {
        text: "/a",
        expressions: &["/a"],
    },
    Piece {
        text: "/b",
        expressions: &["/b"],
    },
    Piece {
        text: "/a.b",
        expressions: &[r"/a\.b"],
    },
    Piece {
        text: "/",
        expressions: &["/"],
    },
    Piece {
        text: "/:#",
        expressions: &["/(@)"],
    },
    Piece {
        text: "/:#",
        expressions: &["/(@)"],
    },
    Piece {
        text: "/a:#",
        expressions: &["/a(@)"],
    },
    Piece {
        text: "/:#.b",
        expressions: &[r"/(@)\.b"],
    },
    Piece {
        text: "/:#-:#",
        expressions: &["/(@)-(@)"],
    },
    Piece {
        text: "/:#.:#.b",
        expressions: &[r"/(@)\.(@)\.b"],
    },
    Piece {
        text: "/*#",
        expressions: &["/(*)"],
    },
    Piece {
        text: "(/:#)",
        expressions: &["/(@)", ""],
    },
    Piece {
        text: "(.:#)",
        expressions: &[r"\.(@)", ""],
    },
    Piece {
        text: "(/b)",
        expressions: &["/b", ""],
    },
];

/// A constraint of every parameter of one route.
const CONSTRAINTS: &[Option<&str>] = &[
    None,
    None,
    None,
    Some("[0-9]+"),
    Some("[a-z]+"),
    Some("a|b|ab"),
    Some("[a-z./]+"),
    Some("[^.]+"),
];

const SEGMENTS: &[&str] = &[
    "a", "b", "ab", "1", "12", "a.b", "b.a.b", "a-b", "1-a-2", "", "%2F", "a%2Fb", "%0A", "a%0a",
    "é", "%61", "-", ".",
];

#[derive(Debug, Clone)]
struct Route {
    pieces: Vec<Piece>,
    constraint: Option<&'static str>,
}

impl Route {
    /// The pattern's text and its parameters' names.
    fn text(&self) -> (String, Vec<String>) {
        let mut names = Vec::new();
        let mut text = String::new();
        for c in self.pieces.iter().flat_map(|piece| piece.text.chars()) {
            match c {
                '#' => {
                    names.push(format!("p{}", names.len()));
                    text.push_str(names.last().unwrap());
                }
                other => text.push(other),
            }
        }
        (text, names)
    }

    /// One expression per alternative, with the numbers of the parameters its groups stand for.
    fn expressions(&self) -> Vec<(Regex, Vec<usize>)> {
        let mut sources = vec![(String::new(), Vec::new())];
        let mut names = 0;
        for piece in &self.pieces {
            let own = piece.text.matches('#').count();
            sources = sources
                .into_iter()
                .flat_map(|(source, groups)| {
                    piece.expressions.iter().map(move |expression| {
                        let mut groups = groups.clone();
                        groups.extend(if expression.is_empty() {
                            0..0
                        } else {
                            names..names + own
                        });
                        (format!("{source}{expression}"), groups)
                    })
                })
                .collect();
            names += own;
        }
        let one = self.constraint.unwrap_or("[^/]+");
        let rest = self.constraint.unwrap_or("(?s:.+)");
        sources
            .into_iter()
            .map(|(source, groups)| {
                let source = if source.is_empty() {
                    "/".to_owned()
                } else {
                    source
                };
                let source = source
                    .replace("(@)", &format!("({one})"))
                    .replace("(*)", &format!("({rest})"));
                (Regex::new(&format!(r"\A{source}\z")).unwrap(), groups)
            })
            .collect()
    }
}

type Answer = Option<(usize, Vec<Option<String>>)>;

fn naive(routes: &[Route], path: &str) -> Answer {
    let marked = path.replace("%2F", "%00").replace("%2f", "%00");
    let decoded = percent_encoding::percent_decode_str(&marked)
        .decode_utf8()
        .unwrap()
        .into_owned();
    for (number, route) in routes.iter().enumerate() {
        let (_, names) = route.text();
        let whole = route
            .constraint
            .map(|source| Regex::new(&format!(r"\A(?:{source})\z")).unwrap());
        for (expression, groups) in route.expressions() {
            let Some(found) = expression.captures(&decoded) else {
                continue;
            };
            let mut values = vec![None; names.len()];
            for (group, param) in groups.iter().enumerate() {
                values[*param] = Some(found[group + 1].replace('\0', "/"));
            }
            let fits = |value: &String| whole.as_ref().is_none_or(|whole| whole.is_match(value));
            if values.iter().flatten().all(fits) {
                return Some((number, values));
            }
        }
    }
    None
}

fn table(routes: &[Route]) -> RouteTable {
    let mut builder = RouteTable::builder();
    for route in routes {
        let (text, names) = route.text();
        let constraints: Vec<(&str, &str)> = route
            .constraint
            .iter()
            .flat_map(|source| names.iter().map(move |name| (name.as_str(), *source)))
            .collect();
        let spec = RouteSpec {
            constraints: &constraints,
            ..RouteSpec::new(&["GET"], &text)
        };
        builder.add(spec, Target::Ruby(0)).unwrap();
    }
    builder.build().unwrap()
}

fn route() -> impl Strategy<Value = Route> {
    let pieces = proptest::collection::vec(select(PIECES), 1..4);
    // Every alternative has to start with a slash.
    let pieces = pieces.prop_filter("starts with a slash", |pieces| {
        pieces[0].text != "(.:#)"
            && (!pieces[0].text.starts_with('(')
                || pieces.iter().all(|piece| piece.text != "(.:#)"))
    });
    (pieces, select(CONSTRAINTS)).prop_map(|(pieces, constraint)| Route { pieces, constraint })
}

fn path() -> impl Strategy<Value = String> {
    proptest::collection::vec(select(SEGMENTS), 1..5)
        .prop_map(|segments| format!("/{}", segments.join("/")))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(3000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_table_finds_what_trying_every_route_in_turn_finds(
        routes in proptest::collection::vec(route(), 1..10),
        paths in proptest::collection::vec(path(), 1..20),
    ) {
        let table = table(&routes);
        for path in paths {
            let found: Answer = match table.matched("GET", "", &path) {
                Match::Found { route, captures } => {
                    Some((route.0 as usize, captures.iter().map(|value| value.map(str::to_owned)).collect()))
                }
                Match::NotFound => None,
                other => panic!("{path}: {other:?}"),
            };
            prop_assert_eq!(&found, &naive(&routes, &path), "{} in {:?}", path, routes);
        }
    }

    #[test]
    fn no_pattern_or_path_makes_the_table_panic(pattern in "/?[a:*()\\\\./{}é0]{0,12}", path in "\\PC{0,20}", source in "\\PC{0,8}") {
        let mut builder = RouteTable::builder();
        let constraints = [("a", source.as_str())];
        for constraints in [&[][..], &constraints] {
            let _ = builder.add(RouteSpec { constraints, ..RouteSpec::any(&pattern) }, Target::Ruby(0));
        }
        let _ = builder.build().unwrap().matched("GET", "h", &path);
    }
}
