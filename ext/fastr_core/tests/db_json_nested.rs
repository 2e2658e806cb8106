//! Parents with their children inside, as one JSON document.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use fastr_core::db::{
    Branch, Column, JsonColumns, JsonOptions, Kind, Node, Rows, Value, to_json, to_nested_json,
};
use proptest::prelude::*;

fn table(columns: &[&str], rows: &[&[Value]]) -> Arc<Rows> {
    let columns: Vec<Column> = columns
        .iter()
        .map(|name| Column {
            name: (*name).to_string(),
            kind: Kind::Any,
        })
        .collect();
    Arc::new(Rows::new(columns.into(), rows.concat()))
}

fn leaf(rows: Arc<Rows>, columns: JsonColumns) -> Node {
    Node {
        rows,
        columns,
        branches: Vec::new(),
    }
}

fn branch(name: &str, many: bool, parent_key: &str, child_key: &str, node: Node) -> Branch {
    Branch {
        name: name.to_owned(),
        many,
        parent_key: parent_key.to_owned(),
        child_key: child_key.to_owned(),
        links: None,
        ordered: false,
        node,
    }
}

fn only(names: &[&str]) -> JsonColumns {
    JsonColumns::Only(names.iter().map(|name| (*name).to_owned()).collect())
}

fn json(rows: Arc<Rows>, columns: JsonColumns, branches: Vec<Branch>) -> String {
    let node = Node {
        rows,
        columns,
        branches,
    };
    String::from_utf8(to_nested_json(&node).unwrap().to_vec()).unwrap()
}

fn number(number: i64) -> Value {
    Value::Integer(number)
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn posts() -> Arc<Rows> {
    table(
        &["id", "user_id"],
        &[
            &[number(1), number(7)],
            &[number(2), Value::Null],
            &[number(3), number(7)],
        ],
    )
}

#[test]
fn many_are_an_array_and_one_an_object_or_null() {
    let comments = table(
        &["body", "post_id"],
        &[
            &[text("a"), number(3)],
            &[text("b"), number(1)],
            &[text("c"), number(3)],
            &[text("orphan"), Value::Null],
        ],
    );
    let users = table(&["id", "name"], &[&[number(7), text("ann")]]);
    let branches = vec![
        branch(
            "comments",
            true,
            "id",
            "post_id",
            leaf(comments, only(&["body"])),
        ),
        branch(
            "user",
            false,
            "user_id",
            "id",
            leaf(users, JsonColumns::All),
        ),
    ];
    assert_eq!(
        json(posts(), only(&["id"]), branches),
        concat!(
            r#"[{"id":1,"comments":[{"body":"b"}],"user":{"id":7,"name":"ann"}},"#,
            r#"{"id":2,"comments":[],"user":null},"#,
            r#"{"id":3,"comments":[{"body":"a"},{"body":"c"}],"user":{"id":7,"name":"ann"}}]"#
        )
    );
}

#[test]
fn one_is_the_first_that_has_the_key() {
    let profiles = table(
        &["id", "owner"],
        &[&[number(1), number(1)], &[number(2), number(1)]],
    );
    let branches = vec![branch(
        "profile",
        false,
        "id",
        "owner",
        leaf(profiles, only(&["id"])),
    )];
    assert!(
        json(posts(), only(&[]), branches).starts_with(r#"[{"profile":{"id":1}},{"profile":null}"#)
    );
}

#[test]
fn nesting_goes_as_deep_as_it_is_told() {
    let comments = table(&["id", "post_id"], &[&[number(5), number(1)]]);
    let votes = table(&["id", "comment_id"], &[&[number(9), number(5)]]);
    let mut node = leaf(comments, only(&["id"]));
    node.branches = vec![branch(
        "votes",
        true,
        "id",
        "comment_id",
        leaf(votes, only(&["id"])),
    )];
    let out = json(
        posts(),
        only(&["id"]),
        vec![branch("comments", true, "id", "post_id", node)],
    );
    assert!(out.starts_with(
        r#"[{"id":1,"comments":[{"id":5,"votes":[{"id":9}]}]},{"id":2,"comments":[]}"#
    ));
}

#[test]
fn pairs_of_keys_lead_to_children_in_their_order_or_in_the_order_of_the_rows() {
    let tags = table(&["id"], &[&[number(10)], &[number(20)]]);
    let links = table(
        &["post_id", "tag_id"],
        &[
            &[number(1), number(20)],
            &[number(1), number(10)],
            &[number(3), number(10)],
            &[number(3), number(10)],
            &[number(3), number(99)],
        ],
    );
    let tagged = |ordered| {
        let mut tags = branch(
            "tags",
            true,
            "id",
            "id",
            leaf(tags.clone(), JsonColumns::All),
        );
        tags.links = Some(links.clone());
        tags.ordered = ordered;
        json(posts(), only(&[]), vec![tags])
    };
    let third = r#"{"tags":[{"id":10},{"id":10}]}]"#;
    assert_eq!(
        tagged(false),
        format!(r#"[{{"tags":[{{"id":20}},{{"id":10}}]}},{{"tags":[]}},{third}"#)
    );
    assert_eq!(
        tagged(true),
        format!(r#"[{{"tags":[{{"id":10}},{{"id":20}}]}},{{"tags":[]}},{third}"#)
    );
}

#[test]
fn keys_of_different_declarations_meet() {
    let parents = table(
        &["id"],
        &[
            &[text("7")],
            &[text("x")],
            &[text("07")],
            &[Value::Blob(vec![1])],
        ],
    );
    let children = table(
        &["parent"],
        &[
            &[number(7)],
            &[text("x")],
            &[Value::Blob(vec![1])],
            &[Value::Float(0.5)],
        ],
    );
    let node = leaf(children, JsonColumns::All);
    assert_eq!(
        json(
            parents,
            only(&[]),
            vec![branch("c", true, "id", "parent", node)]
        ),
        r#"[{"c":[{"parent":7}]},{"c":[{"parent":"x"}]},{"c":[]},{"c":[{"parent":"AQ=="}]}]"#
    );
}

#[test]
fn what_was_never_asked_for_is_empty() {
    let nothing = || Arc::new(Rows::new(Arc::default(), Vec::new()));
    let branches = vec![
        branch(
            "comments",
            true,
            "id",
            "post_id",
            leaf(nothing(), only(&["body"])),
        ),
        branch(
            "user",
            false,
            "user_id",
            "id",
            leaf(nothing(), JsonColumns::All),
        ),
    ];
    assert!(json(posts(), only(&[]), branches).starts_with(r#"[{"comments":[],"user":null}"#));
    assert_eq!(json(nothing(), only(&["id"]), Vec::new()), "[]");
}

#[test]
fn a_column_that_is_missing_is_named() {
    let users = table(&["id"], &[]);
    for (parent, child) in [("user_id", "nope"), ("nope", "id")] {
        let node = Node {
            rows: posts(),
            columns: JsonColumns::All,
            branches: vec![branch(
                "user",
                false,
                parent,
                child,
                leaf(users.clone(), JsonColumns::All),
            )],
        };
        let error = to_nested_json(&node).unwrap_err().to_string();
        assert!(error.contains("no column \"nope\""), "{error}");
    }
}

proptest! {
    #[test]
    fn without_branches_it_is_what_flat_json_is(numbers in proptest::collection::vec(any::<i64>(), 0..20)) {
        let rows: Vec<Vec<Value>> = numbers.iter().map(|n| vec![number(*n), text("t")]).collect();
        let slices: Vec<&[Value]> = rows.iter().map(Vec::as_slice).collect();
        let table = table(&["n", "t"], &slices);
        let flat = to_json(&table, &JsonOptions::default()).unwrap();
        prop_assert_eq!(json(table, JsonColumns::All, Vec::new()).into_bytes(), flat.to_vec());
    }

    #[test]
    fn every_child_is_rendered_once_below_its_parent(keys in proptest::collection::vec(0_i64..9, 0..60)) {
        let parents: Vec<[Value; 1]> = (0..9).map(|id| [number(id)]).collect();
        let children: Vec<[Value; 1]> = keys.iter().map(|key| [number(*key)]).collect();
        let parents = table(&["id"], &parents.iter().map(<[Value; 1]>::as_slice).collect::<Vec<_>>());
        let children = table(&["parent"], &children.iter().map(<[Value; 1]>::as_slice).collect::<Vec<_>>());
        let node = leaf(children, JsonColumns::All);
        let out = json(parents, JsonColumns::All, vec![branch("c", true, "id", "parent", node)]);
        let expected: Vec<String> = (0..9).map(|id| {
            let own = vec![format!("{{\"parent\":{id}}}"); keys.iter().filter(|key| **key == id).count()];
            format!("{{\"id\":{id},\"c\":[{}]}}", own.join(","))
        }).collect();
        prop_assert_eq!(out, format!("[{}]", expected.join(",")));
    }
}
