//! The route table: patterns, constraints, order, methods, hosts and hostile paths.

#![allow(clippy::unwrap_used, clippy::type_complexity)]

use std::sync::Arc;
use std::time::Instant;

use fastr_core::Error;
use fastr_core::http::routes::{
    ConstantResponse, HostPattern, Match, RouteId, RouteSpec, RouteTable, RouteTableBuilder, Target,
};

const GET: &[&str] = &["GET"];

fn add(builder: &mut RouteTableBuilder, spec: RouteSpec<'_>) -> RouteId {
    builder.add(spec, Target::Ruby(0)).unwrap()
}

fn table(patterns: &[&str]) -> RouteTable {
    constrained(
        &patterns
            .iter()
            .map(|pattern| (*pattern, &[][..]))
            .collect::<Vec<_>>(),
    )
}

fn constrained(routes: &[(&str, &[(&str, &str)])]) -> RouteTable {
    let mut builder = RouteTable::builder();
    for (pattern, constraints) in routes {
        add(
            &mut builder,
            RouteSpec {
                constraints,
                ..RouteSpec::new(GET, pattern)
            },
        );
    }
    builder.build().unwrap()
}

/// The route and its captures, absent ones as "-".
fn get(table: &RouteTable, path: &str) -> Option<(u32, Vec<String>)> {
    match table.matched("GET", "localhost", path) {
        Match::Found { route, captures } => Some((
            route.0,
            captures
                .iter()
                .map(|value| value.unwrap_or("-").to_owned())
                .collect(),
        )),
        Match::NotFound => None,
        other => panic!("{path}: {other:?}"),
    }
}

fn found(route: u32, captures: &[&str]) -> Option<(u32, Vec<String>)> {
    Some((
        route,
        captures.iter().map(|value| (*value).to_owned()).collect(),
    ))
}

fn refusal(pattern: &str, constraints: &[(&str, &str)]) -> String {
    let spec = RouteSpec {
        constraints,
        ..RouteSpec::any(pattern)
    };
    match RouteTable::builder().add(spec, Target::Ruby(0)) {
        Err(Error::Invalid(text)) => {
            assert!(
                text.contains(&format!("{pattern:?}")),
                "{text} does not name the pattern"
            );
            text
        }
        other => panic!("{pattern}: {other:?}"),
    }
}

#[test]
fn a_static_path_matches_itself_only() {
    let table = table(&["/", "/about", "/a.b"]);
    assert_eq!(get(&table, "/"), found(0, &[]));
    assert_eq!(get(&table, "/about"), found(1, &[]));
    for path in [
        "", "about", "/about/", "//about", "/About", "/aXb", "/about/x", "*",
    ] {
        assert_eq!(get(&table, path), None, "{path}");
    }
}

#[test]
fn a_parameter_takes_one_segment_that_is_not_empty() {
    let table = table(&["/users/:id/edit"]);
    assert_eq!(get(&table, "/users/7/edit"), found(0, &["7"]));
    assert_eq!(get(&table, "/users//edit"), None);
    assert_eq!(get(&table, "/users/7/8/edit"), None);
    assert_eq!(get(&table, "/users/7/edit/"), None);
}

#[test]
fn text_around_a_parameter_belongs_to_the_segment() {
    let table = table(&["/v:major/:name.json", "/:from-:to", "/:x.:y.tar"]);
    assert_eq!(get(&table, "/v2/a.json.json"), found(0, &["2", "a.json"]));
    assert_eq!(get(&table, "/a-b-c"), found(1, &["a-b", "c"]));
    assert_eq!(get(&table, "/a--"), found(1, &["a", "-"]));
    assert_eq!(get(&table, "/é.ü.tar"), found(2, &["é", "ü"]));
    for path in [
        "/v2/.json",
        "/v/a.json",
        "/-",
        "/a-",
        "/-b",
        "/.x.tar",
        "/x..tar",
    ] {
        assert_eq!(get(&table, path), None, "{path}");
    }
}

#[test]
fn a_splat_takes_the_rest_and_at_least_one_character() {
    let table = table(&["/files/*rest", "/a/*middle/z", "/b/:c/*d.txt"]);
    assert_eq!(get(&table, "/files/a/b/"), found(0, &["a/b/"]));
    assert_eq!(get(&table, "/files//"), found(0, &["/"]));
    assert_eq!(get(&table, "/files/"), None);
    assert_eq!(get(&table, "/files"), None);
    assert_eq!(get(&table, "/a/1/2/z"), found(1, &["1/2"]));
    assert_eq!(get(&table, "/b/1/2/3.txt"), found(2, &["1", "2/3"]));
}

#[test]
fn optional_parts_are_tried_present_first() {
    let table = table(&[
        "/posts(/:year(/:month))",
        "/users/:id(.:format)",
        "(/:locale)/help",
        "(/:only)",
    ]);
    assert_eq!(get(&table, "/posts"), found(0, &["-", "-"]));
    assert_eq!(get(&table, "/posts/2026"), found(0, &["2026", "-"]));
    assert_eq!(get(&table, "/posts/2026/09"), found(0, &["2026", "09"]));
    assert_eq!(get(&table, "/users/7"), found(1, &["7", "-"]));
    assert_eq!(get(&table, "/users/7.8.json"), found(1, &["7.8", "json"]));
    assert_eq!(get(&table, "/users/7."), found(1, &["7.", "-"]));
    assert_eq!(get(&table, "/de/help"), found(2, &["de"]));
    assert_eq!(get(&table, "/help"), found(2, &["-"]));
    assert_eq!(get(&table, "/"), found(3, &["-"]));
}

#[test]
fn the_first_route_added_wins_whatever_its_shape() {
    let open_first = table(&["/*all", "/users/new"]);
    assert_eq!(get(&open_first, "/users/new"), found(0, &["users/new"]));
    let param_first = table(&[
        "/users/:id",
        "/users/new",
        "/:controller/:action",
        "/:a/*rest",
        "/users/*rest",
    ]);
    assert_eq!(get(&param_first, "/users/new"), found(0, &["new"]));
    assert_eq!(get(&param_first, "/posts/new"), found(2, &["posts", "new"]));
    assert_eq!(get(&param_first, "/users/1/2"), found(3, &["users", "1/2"]));
    let same_shape = constrained(&[
        ("/u/:id", &[("id", r"\d+")]),
        ("/u/:slug", &[]),
        ("/u/x:y", &[]),
    ]);
    assert_eq!(get(&same_shape, "/u/12"), found(0, &["12"]));
    assert_eq!(get(&same_shape, "/u/xa"), found(1, &["xa"]));
}

#[test]
fn braces_in_a_pattern_are_plain_text() {
    let table = table(&["/{id}", "/{*rest}/:a", "/:a"]);
    assert_eq!(get(&table, "/{id}"), found(0, &[]));
    assert_eq!(get(&table, "/{other}"), found(2, &["{other}"]));
}

#[test]
fn constraints_cover_the_whole_decoded_value() {
    let table = constrained(&[
        ("/n/:id", &[("id", r"^\d+$")]),
        ("/w/:id", &[("id", r"\w+")]),
        ("/r/:id", &[("id", "a|bc")]),
    ]);
    assert_eq!(get(&table, "/n/12"), found(0, &["12"]));
    assert_eq!(get(&table, "/n/%31%32"), found(0, &["12"]));
    for path in [
        "/n/12%0A",
        "/n/%0A12",
        "/n/12%0Ax",
        "/n/1x",
        "/n/%D9%A3",
        "/w/a%0A",
        "/w/a-b",
        "/w/%C3%A9",
        "/r/abc",
        "/r/a%0A",
    ] {
        assert_eq!(get(&table, path), None, "{path}");
    }
    assert_eq!(get(&table, "/r/bc"), found(2, &["bc"]));
}

#[test]
fn an_encoded_slash_is_data_and_meets_the_constraint_as_a_slash() {
    let table = constrained(&[
        ("/a/:id/b", &[]),
        ("/c/:id", &[("id", "[a-z/]{3}")]),
        ("/d/:id", &[("id", "[^/]+x?")]),
        ("/e/f", &[]),
    ]);
    assert_eq!(get(&table, "/a/x%2Fy/b"), found(0, &["x/y"]));
    assert_eq!(
        get(&table, "/c/x%2fy"),
        None,
        "only a plain slash can be matched as a slash"
    );
    assert_eq!(get(&table, "/c/x/y"), found(1, &["x/y"]));
    assert_eq!(get(&table, "/d/x%2Fy"), None);
    assert_eq!(get(&table, "/e%2Ff"), None);
}

#[test]
fn a_constraint_that_accepts_slashes_spans_segments() {
    let table = constrained(&[("/raw/:path", &[("path", ".+")]), ("/:a/:b", &[])]);
    assert_eq!(get(&table, "/raw/x/y"), found(0, &["x/y"]));
    assert_eq!(get(&table, "/other/x"), found(1, &["other", "x"]));
    assert_eq!(
        get(&table, "/raw/x%0Ay"),
        found(1, &["raw", "x\ny"]),
        "a dot matches no newline"
    );
}

#[test]
fn several_constrained_parameters_share_a_segment() {
    let table = constrained(&[
        ("/:from-:to", &[("from", r"\d+"), ("to", "[a-z-]+")]),
        ("/:a:b", &[("a", r"\d"), ("b", r"\d")]),
    ]);
    assert_eq!(get(&table, "/1-a-b"), found(0, &["1", "a-b"]));
    assert_eq!(get(&table, "/a-1"), None);
    assert_eq!(get(&table, "/12"), found(1, &["1", "2"]));
}

#[test]
fn the_dialect_of_constraints_is_ascii_and_knows_hex_digits_flags_and_anchors() {
    let accepts = |source: &str, value: &str| {
        let table = constrained(&[("/:x/end", &[("x", source)])]);
        get(&table, &format!("/{value}/end")).is_some()
    };
    assert!(accepts(r"\h{4}", "0aF9") && !accepts(r"\h{4}", "0aG9"));
    assert!(accepts(r"[\h-]+", "a-0") && !accepts(r"[\h-]+", "a-z"));
    assert!(accepts("(?i)abc", "ABC") && accepts(r"(?i)\Aabc\Z", "aBc") && !accepts("abc", "ABC"));
    assert!(
        accepts("(?m)a.b", "a%0Ab") && !accepts("a.b", "a%0Ab") && accepts("(?m-ix:a.b)", "a%0Ab")
    );
    assert!(accepts(r"a\$", "a$") && accepts(r"[a\]]+", "a]") && accepts(r"(?<n>a)+", "aa"));
    assert!(!accepts(r"\S+", "a%20b") && !accepts(r"\w+", "%C3%A9"));
    assert!(accepts(r"a\/b", "a/b") && accepts(r"[0-9a-f]{2}(-[0-9a-f]{2})*", "0a-ff"));
    assert!(!accepts("x*", ""), "a value is never empty");
}

#[test]
fn bad_paths_are_told_apart_from_unknown_ones() {
    let table = table(&["/:id", "/*rest"]);
    for path in [
        "/%",
        "/%4",
        "/%zz",
        "/a/%%41",
        "/%00",
        "/a\0",
        "/%FF",
        "/%C3",
        "/%ED%A0%80",
    ] {
        assert!(
            matches!(table.matched("GET", "", path), Match::BadPath(_)),
            "{path}"
        );
    }
    assert!(matches!(
        table.matched("GET", "", &"/a".repeat(40_000)),
        Match::BadPath(_)
    ));
    assert_eq!(get(&table, "/%25%2e%2E"), found(0, &["%.."]));
}

#[test]
fn methods_that_no_route_takes_get_the_list_of_those_allowed() {
    let mut builder = RouteTable::builder();
    add(&mut builder, RouteSpec::new(&["DELETE"], "/a/:id"));
    add(&mut builder, RouteSpec::new(&["GET", "PURGE"], "/a/:id"));
    add(
        &mut builder,
        RouteSpec {
            constraints: &[("id", r"\d+")],
            ..RouteSpec::new(&["PUT"], "/a/:id")
        },
    );
    add(&mut builder, RouteSpec::new(&["POST"], "/b"));
    let table = builder.build().unwrap();
    let allow = |method: &str, path: &str| match table.matched(method, "", path) {
        Match::MethodNotAllowed { allow } => allow,
        other => panic!("{other:?}"),
    };
    assert_eq!(allow("POST", "/a/x"), "GET, HEAD, DELETE, OPTIONS, PURGE");
    assert_eq!(
        allow("OPTIONS", "/a/1"),
        "GET, HEAD, PUT, DELETE, OPTIONS, PURGE"
    );
    assert_eq!(allow("BREW", "/b"), "POST, OPTIONS");
    assert_eq!(allow("HEAD", "/b"), "POST, OPTIONS");
    assert_eq!(table.matched("OPTIONS", "", "/c"), Match::NotFound);
}

#[test]
fn head_is_answered_by_get_unless_a_route_names_head() {
    let mut builder = RouteTable::builder();
    let get = add(&mut builder, RouteSpec::new(GET, "/a"));
    let any = add(&mut builder, RouteSpec::any("/:x"));
    let head = add(&mut builder, RouteSpec::new(&["HEAD"], "/b"));
    let table = builder.build().unwrap();
    let route = |method: &str, path: &str| match table.matched(method, "", path) {
        Match::Found { route, .. } => route,
        other => panic!("{other:?}"),
    };
    assert_eq!((route("HEAD", "/a"), route("POST", "/a")), (get, any));
    assert_eq!(
        (route("HEAD", "/b"), route("GET", "/b"), route("BREW", "/b")),
        (head, any, any)
    );
}

#[test]
fn hosts_are_compared_without_port_and_case() {
    let mut builder = RouteTable::builder();
    let exact = RouteSpec {
        host: Some(HostPattern::Exact("api.example.com")),
        ..RouteSpec::any("/")
    };
    let regex = RouteSpec {
        host: Some(HostPattern::Regex(r"\w+\.example\.com")),
        ..RouteSpec::any("/")
    };
    let v6 = RouteSpec {
        host: Some(HostPattern::Exact("[::1]")),
        ..RouteSpec::any("/")
    };
    for spec in [exact, regex, v6] {
        add(&mut builder, spec);
    }
    let table = builder.build().unwrap();
    let route = |host: &str| match table.matched("GET", host, "/") {
        Match::Found { route, .. } => Some(route.0),
        _ => None,
    };
    assert_eq!(route("API.example.com:8080"), Some(0));
    assert_eq!(route("WWW.Example.com"), Some(1));
    assert_eq!((route("[::1]:3000"), route("[::1]")), (Some(2), Some(2)));
    for host in [
        "",
        "example.com",
        "evil.com/www.example.com",
        "www.example.com.evil.com",
        "api.example.com:x",
    ] {
        assert_eq!(route(host), None, "{host}");
    }
}

#[test]
fn names_and_targets_are_kept_by_route() {
    let mut builder = RouteTable::builder();
    let up = Arc::new(ConstantResponse::text(http::StatusCode::OK, "up"));
    let health = builder
        .add(RouteSpec::new(GET, "/up"), Target::Constant(up))
        .unwrap();
    let ruby = builder
        .add(RouteSpec::any("/:b(/*a)"), Target::Ruby(9))
        .unwrap();
    let table = builder.build().unwrap();
    assert!(
        matches!(table.target(health), Target::Constant(up) if up.body == "up" && up.headers.len() == 1)
    );
    assert!(matches!(table.target(ruby), Target::Ruby(9)));
    assert_eq!(
        (table.names(ruby), table.len()),
        (&["b".to_owned(), "a".to_owned()][..], 2)
    );
}

#[test]
fn a_constant_response_that_would_split_the_answer_is_refused() {
    assert!(ConstantResponse::new(200, &[("x", "a\r\nset-cookie: b")], "").is_err());
    assert!(ConstantResponse::new(200, &[("x y", "a")], "").is_err());
    assert!(ConstantResponse::new(100, &[], "").is_err());
    assert!(ConstantResponse::new(99, &[], "").is_err());
    assert!(ConstantResponse::new(301, &[("location", "/new")], "").is_ok());
}

#[test]
fn errors_name_the_pattern_and_what_is_wrong_in_it() {
    let cases: &[(&str, &[(&str, &str)], &str)] = &[
        ("users", &[], "must start with `/`"),
        (
            "",
            &[("id", "x")],
            "the constraint `id` belongs to no parameter (it has none)",
        ),
        (
            "/:id",
            &[("di", "x")],
            "`di` belongs to no parameter (it has id)",
        ),
        ("/:id", &[("id", "x"), ("id", "y")], "given twice"),
        ("/:id", &[("id", "(x")], "unclosed group"),
        ("/:id", &[("id", "x(?=y)")], "look-around"),
        ("/a(/:b", &[], "the `(` at column 3 is never closed"),
        ("/a)", &[], "the `)` at column 3 closes nothing"),
        ("/a()", &[], "optional part at column 3 is empty"),
        ("/:a/:a", &[], "the name `a` occurs twice"),
        ("/:", &[], "the `:` at column 2 needs a name"),
        ("/*", &[], "the `*` at column 2 needs a name"),
        ("/:1", &[], "needs a name"),
        ("/a\\", &[], "escapes nothing"),
        ("(/a)b", &[], "must start with `/`"),
        ("/(a)(b)(c)(d)(e)(f)(g)", &[], "more than 64"),
        ("/a\0", &[], "NUL"),
    ];
    for (pattern, constraints, expected) in cases {
        let text = refusal(pattern, constraints);
        assert!(text.contains(expected), "{text} lacks {expected}");
    }
    let many: String = (0..17).map(|n| format!("/:p{n}")).collect();
    assert!(refusal(&many, &[]).contains("more than 16 parameters"));
    let deep = format!("/{}{}", "(a".repeat(9), ")".repeat(9));
    assert!(refusal(&deep, &[]).contains("nest deeper"));
    for methods in [&[][..], &["get"], &["GET "], &[""]] {
        assert!(
            RouteTable::builder()
                .add(RouteSpec::new(methods, "/"), Target::Ruby(0))
                .is_err()
        );
    }
}

#[test]
fn escaped_characters_stand_for_themselves() {
    let table = table(&[r"/a\:b\(c\)\*\\", "/x"]);
    assert_eq!(get(&table, r"/a:b(c)*\"), found(0, &[]));
}

#[test]
fn an_empty_table_finds_nothing() {
    let table = RouteTable::builder().build().unwrap();
    assert!(table.is_empty());
    assert_eq!(table.matched("GET", "", "/"), Match::NotFound);
}

#[test]
fn hostile_paths_take_linear_time() {
    let table = constrained(&[
        ("/:a-:b-:c", &[("a", "[a-]+"), ("b", "[a-]+"), ("c", "x")]),
        ("/*a/*b/*c/end", &[]),
        ("/:x.:y", &[("x", "(a|aa)+")]),
    ]);
    let started = Instant::now();
    for piece in ["a-", "/a", "a.", "aa", "%2F", "%61"] {
        let path = format!("/{}", piece.repeat(60_000 / piece.len()));
        let _ = table.matched("GET", "", &path);
    }
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
}

/// Run with `--release --ignored --nocapture`.
#[test]
#[ignore = "prints timings"]
fn timings() {
    let mut patterns: Vec<String> = (0..100).map(|n| format!("/section{n}/items")).collect();
    patterns.extend((0..100).map(|n| format!("/section{n}/items/:id")));
    patterns.extend((0..100).map(|n| format!("/section{n}/items/:id/parts/:part(.:format)")));
    patterns.extend(["/:controller/:action".to_owned(), "/*rest".to_owned()]);
    let table = table(&patterns.iter().map(String::as_str).collect::<Vec<_>>());
    let small = constrained(&[
        ("/", &[]),
        ("/up", &[]),
        ("/users/:id", &[("id", r"\d+")]),
        ("/users/:id", &[("id", "[a-z]+-[a-z]+")]),
    ]);
    let cases: [(&str, &RouteTable, &str); 9] = [
        ("static, 2 routes", &small, "/up"),
        ("static, 302 routes", &table, "/section77/items"),
        ("param, digits", &small, "/users/1234"),
        ("param, regex", &small, "/users/ab-cd"),
        ("param, 302 routes", &table, "/section77/items/1234"),
        (
            "two params and format",
            &table,
            "/section77/items/1234/parts/9.json",
        ),
        ("percent-encoded param", &table, "/section77/items/a%20b"),
        ("splat", &table, "/other/a/b/c"),
        ("not found", &small, "/nothing/here"),
    ];
    for (name, table, path) in cases {
        let rounds = 1_000_000_u32;
        let started = Instant::now();
        for _ in 0..rounds {
            std::hint::black_box(table.matched("GET", "localhost", std::hint::black_box(path)));
        }
        println!(
            "{name:24} {:>6.1} ns",
            started.elapsed().as_secs_f64() * 1e9 / f64::from(rounds)
        );
    }
}
