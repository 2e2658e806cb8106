//! Large static files over real sockets: every byte in its place, whatever stands before and behind the file, and
//! however the client takes it.

#![allow(clippy::unwrap_used)]

mod support;

use std::fs::File;
use std::io::Read;
use std::time::Duration;

use fastr_core::http::limits::Limits;
use support::{MIB, same, site, site_in, site_with};

#[test]
fn files_of_every_length_arrive_whole_one_after_the_other() {
    let site = site();
    let mut client = site.client();
    let lengths = [65_536, 65_537, MIB - 1, MIB, MIB + 1, 3 * MIB + 5, 70_000];
    let contents = lengths.map(|length| site.put(&length.to_string(), length));
    for (length, content) in lengths.iter().zip(&contents) {
        same(&client.gets(&format!("/{length}")), content);
    }
}

#[test]
fn pipelined_requests_are_answered_in_order_around_a_file() {
    let site = site();
    let (large, small) = (site.put("large", 2 * MIB + 7), site.put("small", 100));
    let mut client = site.client();
    let request = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n");
    let paths = ["/large", "/small", "/none", "/large", "/large", "/small"];
    client.send(&paths.map(request).concat());
    for path in paths {
        let (head, body) = client.answer();
        match path {
            "/large" => same(&body, &large),
            "/small" => same(&body, &small),
            _ => assert_eq!(head.status, 404),
        }
    }
}

#[test]
fn ranges_are_cut_out_of_the_file_in_the_order_of_asking() {
    let site = site();
    let content = site.put("large", 3 * MIB);
    let mut client = site.client();
    let (head, body) = client
        .ask("GET", "/large", "Range: bytes=99-1200000\r\n")
        .answer();
    assert_eq!(head.status, 206);
    same(&body, &content[99..=1_200_000]);

    let field = "Range: bytes=2000000-2000009,5-1100000,-3\r\n";
    let (head, body) = client.ask("GET", "/large", field).answer();
    assert_eq!(head.status, 206);
    let boundary = head.fields["content-type"].split_once('=').unwrap().1;
    let mut expected = Vec::new();
    for (first, last) in [
        (2_000_000, 2_000_009),
        (5, 1_100_000),
        (3 * MIB - 3, 3 * MIB - 1),
    ] {
        let head = format!(
            "\r\n--{boundary}\r\nContent-Type: application/octet-stream\r\n\
             Content-Range: bytes {first}-{last}/{}\r\n\r\n",
            content.len()
        );
        expected.extend_from_slice(head.as_bytes());
        expected.extend_from_slice(&content[first..=last]);
    }
    expected.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    same(&body, &expected);
    same(&client.gets("/large"), &content);
}

#[test]
fn answers_without_content_leave_nothing_behind() {
    let site = site();
    let content = site.put("large", 2 * MIB);
    let mut client = site.client();
    let head = client.ask("HEAD", "/large", "").head();
    assert_eq!((head.status, head.length()), (200, content.len()));
    let field = format!("If-None-Match: {}\r\n", head.fields["etag"]);
    assert_eq!(client.ask("GET", "/large", &field).head().status, 304);
    same(&client.gets("/large"), &content);
}

#[test]
fn a_client_of_http_1_0_gets_the_file_and_the_end() {
    let site = site();
    let content = site.put("large", 2 * MIB);
    let mut client = site.client();
    let head = client.send("GET /large HTTP/1.0\r\n\r\n").head();
    assert_eq!(head.length(), content.len());
    same(&client.rest(), &content);
}

#[test]
fn a_client_that_closed_its_sending_side_gets_the_file_all_the_same() {
    let site = site();
    let content = site.put("large", 8 * MIB);
    let mut client = site.narrow_client();
    client.ask("GET", "/large", "");
    client
        .0
        .get_ref()
        .shutdown(std::net::Shutdown::Write)
        .unwrap();
    assert_eq!(client.head().length(), content.len());
    same(&client.rest(), &content);
}

#[test]
fn a_narrow_window_and_many_clients_at_once_shift_nothing() {
    let site = site();
    let content = site.put("large", 4 * MIB + 3);
    let mut clients: Vec<_> = (0..8).map(|_| site.narrow_client()).collect();
    for client in &mut clients {
        client.ask("GET", "/large", "").ask("GET", "/large", "");
    }
    for _ in 0..2 {
        for client in &mut clients {
            same(&client.answer().1, &content);
        }
    }
}

#[test]
fn a_client_that_takes_nothing_is_cut_after_the_write_timeout() {
    let site = site_with(Limits {
        write_timeout: Duration::from_millis(100),
        ..Limits::default()
    });
    let content = site.put("large", 32 * MIB);
    let mut client = site.narrow_client();
    client.ask("GET", "/large", "");
    assert_eq!(client.head().status, 200);
    assert!(site.loses_its_connections());
    assert!(client.rest().len() < content.len());
}

#[test]
fn a_client_that_leaves_half_way_is_let_go_and_others_are_served() {
    let site = site();
    let content = site.put("large", 32 * MIB);
    let mut leaving = site.narrow_client();
    leaving.ask("GET", "/large", "");
    let mut begun = vec![0; MIB];
    leaving.head();
    leaving.0.read_exact(&mut begun).unwrap();
    same(&begun, &content[..MIB]);
    drop(leaving);
    assert!(site.loses_its_connections());
    same(&site.client().gets("/large"), &content);
}

#[test]
fn a_file_that_shrinks_while_it_is_sent_is_cut_where_the_client_sees_it() {
    let site = site();
    let content = site.put("large", 32 * MIB);
    let mut client = site.narrow_client();
    let head = client.ask("GET", "/large", "").head();
    let file = File::options()
        .write(true)
        .open(site.folder.path().join("large"));
    file.unwrap().set_len(0).unwrap();
    let received = client.rest();
    assert!(received.len() < head.length());
    same(&received, &content[..received.len()]);
    assert!(site.loses_its_connections());
}

#[test]
fn a_file_in_a_file_system_that_cannot_say_what_is_in_memory_is_sent_too() {
    let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
        return;
    };
    let site = site_in(folder, Limits::default());
    let content = site.put("large", 5 * MIB + 1);
    let mut client = site.client();
    same(&client.gets("/large"), &content);
    same(&client.gets("/large"), &content);
}
