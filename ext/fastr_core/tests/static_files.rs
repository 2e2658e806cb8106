//! Static files, ordered like RFC 9110: representation, validators, preconditions, ranges; then hostile names.

#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use fastr_core::http::static_files::{StaticBody, StaticFiles, StaticOptions};
use http::{HeaderMap, HeaderName, Method, Response};
use http_body_util::BodyExt;

const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
const SECONDS: u64 = 784_111_777;

struct Public {
    folder: tempfile::TempDir,
    files: StaticFiles,
}

#[derive(Debug)]
struct Answer {
    status: u16,
    headers: HashMap<String, String>,
    body: Bytes,
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

fn uncached() -> StaticOptions {
    StaticOptions {
        fresh_for: Duration::ZERO,
        ..StaticOptions::default()
    }
}

fn public_with(options: StaticOptions) -> Public {
    let folder = tempfile::tempdir().unwrap();
    let files = StaticFiles::new(folder.path(), options).unwrap();
    Public { folder, files }
}

fn public() -> Public {
    public_with(uncached())
}

impl Public {
    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        let file = std::fs::File::options().append(true).open(path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(SECONDS))
            .unwrap();
    }

    async fn serve(
        &self,
        method: &Method,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Option<Response<StaticBody>> {
        let pairs = headers
            .iter()
            .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse().unwrap()));
        let mut map = HeaderMap::new();
        map.extend(pairs);
        self.files.serve(method, path, &map).await
    }

    async fn ask(&self, method: &Method, path: &str, headers: &[(&str, &str)]) -> Option<Answer> {
        let (parts, body) = self.serve(method, path, headers).await?.into_parts();
        let text = |value: &http::HeaderValue| value.to_str().unwrap().to_owned();
        let headers: HashMap<_, _> = parts
            .headers
            .iter()
            .map(|(name, value)| (name.to_string(), text(value)))
            .collect();
        let body = body.collect().await.unwrap().to_bytes();
        if let Some(length) = headers
            .get("content-length")
            .filter(|_| method == Method::GET)
        {
            assert_eq!(length, &body.len().to_string());
        }
        Some(Answer {
            status: parts.status.as_u16(),
            headers,
            body,
        })
    }

    async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.ask(&Method::GET, path, headers)
            .await
            .unwrap_or_else(|| panic!("{path} is served"))
    }

    async fn refuses(&self, path: &str) -> bool {
        self.ask(&Method::GET, path, &[]).await.is_none()
    }
}

#[tokio::test]
async fn a_file_is_sent_with_its_length_type_and_validators() {
    let public = public();
    public.put("a.txt", "hello");
    let answer = public.get("/a.txt", &[]).await;
    assert_eq!((answer.status, &answer.body[..]), (200, &b"hello"[..]));
    assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!(answer.header("last-modified"), DATE);
    assert_eq!(answer.header("etag"), "\"2ebc98a1.0-5\"");
    assert_eq!(answer.header("accept-ranges"), "bytes");
    assert_eq!(answer.header("cache-control"), "");
    assert_eq!(answer.header("vary"), "");
}

#[tokio::test]
async fn media_types_follow_the_ending_and_only_texts_get_a_charset() {
    let public = public();
    let cases = [
        ("a.css", "text/css; charset=utf-8"),
        ("a.js", "text/javascript; charset=utf-8"),
        ("a.HTML", "text/html; charset=utf-8"),
        ("a.svg", "image/svg+xml"),
        ("a.json", "application/json"),
        ("a.png", "image/png"),
        ("a.unknown-ending", "application/octet-stream"),
        ("none", "application/octet-stream"),
    ];
    for (name, expected) in cases {
        public.put(name, "");
        assert_eq!(
            public
                .get(&format!("/{name}"), &[])
                .await
                .header("content-type"),
            expected
        );
    }
}

#[tokio::test]
async fn head_has_the_headers_without_the_body_and_ignores_ranges() {
    let public = public();
    public.put("a.txt", "hello");
    let answer = public
        .ask(&Method::HEAD, "/a.txt", &[("range", "bytes=0-1")])
        .await
        .unwrap();
    assert_eq!((answer.status, answer.body.len()), (200, 0));
    assert_eq!(
        (
            answer.header("content-length"),
            answer.header("content-range")
        ),
        ("5", "")
    );
    assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
}

#[tokio::test]
async fn other_methods_are_left_to_the_router() {
    let public = public();
    public.put("a", "a");
    for method in [
        Method::POST,
        Method::PUT,
        Method::DELETE,
        Method::OPTIONS,
        Method::PATCH,
    ] {
        assert!(public.ask(&method, "/a", &[]).await.is_none());
    }
}

#[tokio::test]
async fn the_cache_control_option_is_sent_and_checked() {
    let options = StaticOptions {
        cache_control: Some("public, max-age=60".into()),
        ..uncached()
    };
    let public = public_with(options);
    public.put("a", "a");
    assert_eq!(
        public.get("/a", &[]).await.header("cache-control"),
        "public, max-age=60"
    );
    let split = StaticOptions {
        cache_control: Some("a\r\nb: c".into()),
        ..uncached()
    };
    assert!(StaticFiles::new(".", split).is_err());
}

#[tokio::test]
async fn folders_are_served_by_their_index_only_when_asked_for() {
    let plain = public();
    let indexed = public_with(StaticOptions {
        index: true,
        ..uncached()
    });
    for public in [&plain, &indexed] {
        public.put("index.html", "top");
        public.put("docs/index.html", "docs");
    }
    for path in ["/", "/docs/", "/docs"] {
        assert!(plain.refuses(path).await, "{path}");
    }
    assert_eq!(indexed.get("/", &[]).await.body, "top");
    assert_eq!(indexed.get("/docs/", &[]).await.body, "docs");
    assert!(
        indexed.refuses("/docs").await
            && indexed.refuses("//").await
            && indexed.refuses("/docs/index.html/").await
    );
}

#[tokio::test]
async fn accepted_siblings_are_sent_in_place_of_the_file() {
    let public = public();
    public.put("a.css", "plain");
    public.put("a.css.gz", "gz");
    let gzip = public
        .get("/a.css", &[("accept-encoding", "gzip, br")])
        .await;
    assert_eq!(
        (&gzip.body[..], gzip.header("content-encoding")),
        (&b"gz"[..], "gzip")
    );
    assert_eq!(gzip.header("content-type"), "text/css; charset=utf-8");
    public.put("a.css.br", "br");
    let brotli = public
        .get("/a.css", &[("accept-encoding", "gzip, br")])
        .await;
    assert_eq!(
        (&brotli.body[..], brotli.header("content-encoding")),
        (&b"br"[..], "br")
    );
    let plain = public.get("/a.css", &[("accept-encoding", "br;q=0")]).await;
    assert_eq!(
        (&plain.body[..], plain.header("content-encoding")),
        (&b"plain"[..], "")
    );
    for answer in [&gzip, &brotli, &plain] {
        assert_eq!(answer.header("vary"), "accept-encoding");
    }
    assert_ne!(plain.header("etag"), brotli.header("etag"));
    public.put("only.css.br", "br");
    assert!(
        public.refuses("/only.css").await,
        "a sibling without its file is no file"
    );
}

#[tokio::test]
async fn siblings_can_be_switched_off() {
    let public = public_with(StaticOptions {
        precompressed: false,
        ..uncached()
    });
    public.put("a", "plain");
    public.put("a.br", "br");
    let answer = public.get("/a", &[("accept-encoding", "br")]).await;
    assert_eq!(
        (&answer.body[..], answer.header("vary")),
        (&b"plain"[..], "")
    );
}

#[tokio::test]
async fn if_none_match_compares_weakly_and_overrules_the_date() {
    let public = public();
    public.put("a", "hello");
    let etag = public.get("/a", &[]).await.header("etag").to_owned();
    for value in [
        etag.clone(),
        format!("W/{etag}"),
        "*".into(),
        format!("\"x\", {etag}"),
    ] {
        let answer = public.get("/a", &[("if-none-match", &value)]).await;
        assert_eq!(
            (
                answer.status,
                answer.header("etag"),
                answer.header("content-length")
            ),
            (304, &*etag, "")
        );
        assert!(answer.body.is_empty());
    }
    let headers = [("if-none-match", "\"x\""), ("if-modified-since", DATE)];
    assert_eq!(public.get("/a", &headers).await.status, 200);
    assert_eq!(
        public
            .ask(&Method::HEAD, "/a", &[("if-none-match", &etag)])
            .await
            .unwrap()
            .status,
        304
    );
}

#[tokio::test]
async fn if_modified_since_is_a_date_or_ignored() {
    let public = public();
    public.put("a", "hello");
    let cases = [
        (DATE, 304),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 304),
        ("Sun, 06 Nov 1994 08:49:38 GMT", 304),
        ("Sun, 06 Nov 1994 08:49:36 GMT", 200),
        ("yesterday", 200),
        ("", 200),
    ];
    for (date, expected) in cases {
        assert_eq!(
            public
                .get("/a", &[("if-modified-since", date)])
                .await
                .status,
            expected,
            "{date}"
        );
    }
}

#[tokio::test]
async fn failed_preconditions_are_412() {
    let public = public();
    public.put("a", "hello");
    let etag = public.get("/a", &[]).await.header("etag").to_owned();
    let weak = format!("W/{etag}");
    let cases = [
        ("if-match", "\"x\"", 412),
        ("if-match", &weak, 412),
        ("if-match", &etag, 200),
        ("if-match", "*", 200),
        ("if-unmodified-since", DATE, 200),
        ("if-unmodified-since", "Sun, 06 Nov 1994 08:49:36 GMT", 412),
    ];
    for (name, value, expected) in cases {
        assert_eq!(
            public.get("/a", &[(name, value)]).await.status,
            expected,
            "{name}: {value}"
        );
    }
}

#[tokio::test]
async fn one_range_is_a_206_with_its_place() {
    let public = public();
    public.put("a.txt", "0123456789");
    let answer = public.get("/a.txt", &[("range", "bytes=2-4")]).await;
    assert_eq!((answer.status, &answer.body[..]), (206, &b"234"[..]));
    assert_eq!(answer.header("content-range"), "bytes 2-4/10");
    assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!(
        public
            .get("/a.txt", &[("range", "bytes=0-2,2-4")])
            .await
            .body,
        "01234"
    );
}

#[tokio::test]
async fn several_ranges_are_multipart_byteranges() {
    let public = public();
    public.put("a.txt", "0123456789");
    let answer = public.get("/a.txt", &[("range", "bytes=8-,0-1")]).await;
    let boundary = answer
        .header("content-type")
        .strip_prefix("multipart/byteranges; boundary=")
        .unwrap();
    let part = |range: &str, text: &str| {
        format!(
            "\r\n--{boundary}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Range: bytes {range}/10\r\n\r\n{text}"
        )
    };
    let expected = format!(
        "{}{}\r\n--{boundary}--\r\n",
        part("8-9", "89"),
        part("0-1", "01")
    );
    assert_eq!((answer.status, answer.body), (206, expected.into()));
    assert_eq!(answer.headers.get("content-range"), None);
}

#[tokio::test]
async fn unsatisfiable_ranges_are_416_with_the_size() {
    let public = public();
    public.put("a", "0123456789");
    public.put("empty", "");
    for (path, range, size) in [
        ("/a", "bytes=10-", "10"),
        ("/a", "bytes=-0", "10"),
        ("/empty", "bytes=0-", "0"),
        ("/a", "bytes=18446744073709551616-", "10"),
    ] {
        let answer = public.get(path, &[("range", range)]).await;
        assert_eq!(
            (answer.status, answer.header("content-range")),
            (416, &*format!("bytes */{size}"))
        );
        assert!(answer.body.is_empty());
    }
}

#[tokio::test]
async fn too_many_overlapping_malformed_or_repeated_ranges_get_the_whole_file() {
    let public = public();
    public.put("a", vec![b'x'; 1000]);
    let seventeen: Vec<String> = (0..17).map(|n| format!("{0}-{0}", n * 2)).collect();
    let cases = [
        format!("bytes={}", seventeen.join(",")),
        "bytes=0-,0-".into(),
        "bytes=5-4".into(),
        "lines=1-2".into(),
    ];
    for range in &cases {
        let answer = public.get("/a", &[("range", range)]).await;
        assert_eq!((answer.status, answer.body.len()), (200, 1000), "{range}");
    }
    let twice = public
        .get("/a", &[("range", "bytes=0-1"), ("range", "bytes=4-5")])
        .await;
    assert_eq!(twice.status, 200);
}

#[tokio::test]
async fn if_range_lets_only_strong_validators_pass() {
    let public = public();
    public.put("a", "0123456789");
    let etag = public.get("/a", &[]).await.header("etag").to_owned();
    let weak = format!("W/{etag}");
    let cases = [
        (&*etag, 206),
        (DATE, 206),
        (&*weak, 200),
        ("\"x\"", 200),
        ("Sun, 06 Nov 1994 08:49:38 GMT", 200),
        ("x", 200),
    ];
    for (value, expected) in cases {
        let answer = public
            .get("/a", &[("range", "bytes=1-1"), ("if-range", value)])
            .await;
        assert_eq!(answer.status, expected, "{value}");
    }
    let fresh = public.path().join("fresh");
    std::fs::write(&fresh, "abc").unwrap();
    let date = public
        .get("/fresh", &[])
        .await
        .header("last-modified")
        .to_owned();
    let now = SystemTime::now() + Duration::from_secs(5);
    std::fs::File::options()
        .append(true)
        .open(fresh)
        .unwrap()
        .set_modified(now)
        .unwrap();
    let answer = public
        .get("/fresh", &[("range", "bytes=1-1"), ("if-range", &date)])
        .await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn a_large_file_is_streamed_in_chunks_and_ranges() {
    let public = public();
    let content: Vec<u8> = (0..1_000_003_u32).map(|n| (n % 251) as u8).collect();
    public.put("large", &content);
    assert_eq!(public.get("/large", &[]).await.body, content);
    let answer = public
        .get("/large", &[("range", "bytes=300000-900000")])
        .await;
    assert_eq!(answer.body, content[300_000..=900_000]);
    let mut body = public
        .serve(&Method::GET, "/large", &[])
        .await
        .unwrap()
        .into_body();
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(
        (first.len(), body.remaining()),
        (256 << 10, 1_000_003 - (256 << 10))
    );
}

#[tokio::test]
async fn a_file_that_shrinks_while_it_is_sent_ends_in_an_error() {
    let public = public();
    public.put("large", vec![1; 1 << 20]);
    let mut body = public
        .serve(&Method::GET, "/large", &[])
        .await
        .unwrap()
        .into_body();
    assert!(body.frame().await.unwrap().is_ok());
    std::fs::File::options()
        .write(true)
        .open(public.path().join("large"))
        .unwrap()
        .set_len(300_000)
        .unwrap();
    let error = body.frame().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof);
    assert!(body.frame().await.is_none());
}

#[tokio::test]
async fn a_file_that_grows_while_it_is_sent_keeps_the_announced_length() {
    let public = public();
    public.put("large", vec![1; 1 << 20]);
    let body = public
        .serve(&Method::GET, "/large", &[])
        .await
        .unwrap()
        .into_body();
    public.put("large", vec![2; 1 << 21]);
    assert_eq!(body.collect().await.unwrap().to_bytes().len(), 1 << 20);
}

#[tokio::test]
async fn names_are_decoded_once() {
    let public = public();
    public.put("a b é%41.txt", "x");
    assert_eq!(public.get("/a%20b%20%C3%A9%2541.txt", &[]).await.body, "x");
    assert!(public.refuses("/a%20b%20%C3%A9A.txt").await);
}

#[tokio::test]
async fn hostile_names_are_no_files_and_no_errors() {
    let public = public();
    public.put("a/b.txt", "b");
    public.put(".env", "secret");
    public.put("a/.git/config", "secret");
    public.put(".well-known/.hidden", "secret");
    let long = format!("/{}", "x".repeat(300));
    let longer = format!("/a{}", "/x".repeat(20_000));
    let names = [
        "",
        "a/b.txt",
        "*",
        "/",
        "//",
        "/a",
        "/a/",
        "/a//b.txt",
        "//a/b.txt",
        "/./a/b.txt",
        "/a/../a/b.txt",
        "/../etc/passwd",
        "/a/..",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/a%2fb.txt",
        "/a%2Fb.txt",
        "/..%2f..%2fetc/passwd",
        "/..%5c..%5cetc",
        "/a\\b.txt",
        "/a/b.txt%00",
        "/a/b.txt\0.png",
        "/%00",
        "/a/b.txt/",
        "/a/b.txt%",
        "/a/b.tx%7",
        "/%ff",
        "/.env",
        "/%2eenv",
        "/a/.git/config",
        "/.well-known/.hidden",
        "/a/.well-known",
        "/a/b.txt?x",
        "/%252e%252e/x",
        "/a/b.txt/c",
        "/C:/a",
        "/~root",
        &long,
        &longer,
    ];
    for name in names {
        assert!(public.refuses(name).await, "{name:?}");
    }
}

#[tokio::test]
async fn the_well_known_folder_is_public() {
    let public = public();
    public.put(".well-known/security.txt", "x");
    assert_eq!(public.get("/.well-known/security.txt", &[]).await.body, "x");
}

#[tokio::test]
async fn links_that_stay_beneath_the_root_work_and_links_that_leave_do_not() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "secret").unwrap();
    let public = public();
    public.put("real/a", "a");
    symlink("real", public.path().join("inside")).unwrap();
    symlink(outside.path(), public.path().join("out")).unwrap();
    symlink(outside.path().join("secret"), public.path().join("file")).unwrap();
    symlink("../secret", public.path().join("up")).unwrap();
    symlink("loop", public.path().join("loop")).unwrap();
    symlink("/proc/self/root", public.path().join("magic")).unwrap();
    assert_eq!(public.get("/inside/a", &[]).await.body, "a");
    for path in [
        "/out/secret",
        "/file",
        "/up",
        "/loop",
        "/loop/x",
        "/magic/etc/passwd",
    ] {
        assert!(public.refuses(path).await, "{path}");
    }
}

#[tokio::test]
async fn a_link_out_is_no_precompressed_sibling_either() {
    let outside = tempfile::NamedTempFile::new().unwrap();
    let public = public();
    public.put("a", "plain");
    std::os::unix::fs::symlink(outside.path(), public.path().join("a.gz")).unwrap();
    assert_eq!(
        public.get("/a", &[("accept-encoding", "gzip")]).await.body,
        "plain"
    );
}

#[tokio::test]
async fn only_regular_files_are_served_and_a_pipe_makes_nobody_wait() {
    let public = public();
    let status = std::process::Command::new("mkfifo")
        .arg(public.path().join("pipe"))
        .status()
        .unwrap();
    assert!(status.success());
    let _socket = std::os::unix::net::UnixListener::bind(public.path().join("socket")).unwrap();
    let refused = async { public.refuses("/pipe").await && public.refuses("/socket").await };
    assert!(
        tokio::time::timeout(Duration::from_secs(5), refused)
            .await
            .unwrap()
    );
}

#[tokio::test]
async fn times_that_http_cannot_name_are_left_out() {
    let public = public();
    for (name, time) in [
        ("old", SystemTime::UNIX_EPOCH - Duration::from_secs(10)),
        (
            "far",
            SystemTime::UNIX_EPOCH + Duration::from_secs(253_402_300_800),
        ),
    ] {
        public.put(name, "x");
        let file = std::fs::File::options()
            .append(true)
            .open(public.path().join(name))
            .unwrap();
        // Not every file system can hold such a time; the answer must be right in any case.
        let _ = file.set_modified(time);
        let held = file.metadata().unwrap().modified().unwrap() == time;
        let answer = public
            .get(&format!("/{name}"), &[("if-modified-since", DATE)])
            .await;
        assert!(answer.status == 200 || !held);
        assert_eq!(
            answer.headers.contains_key("last-modified"),
            !held,
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_root_that_appears_later_is_served_then_and_a_new_root_replaces_an_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("public");
    let public = Public {
        files: StaticFiles::new(&root, uncached()).unwrap(),
        folder: tempfile::tempdir().unwrap(),
    };
    assert!(public.refuses("/a").await);
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("a"), "1").unwrap();
    assert_eq!(public.get("/a", &[]).await.body, "1");
    std::fs::rename(&root, folder.path().join("old")).unwrap();
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("b"), "2").unwrap();
    assert!(public.refuses("/a").await);
    assert_eq!(public.get("/b", &[]).await.body, "2");
}

#[tokio::test]
async fn a_believed_listing_makes_an_unknown_name_cost_no_disk_work() {
    let public = public_with(StaticOptions {
        fresh_for: Duration::from_secs(3600),
        ..StaticOptions::default()
    });
    public.put("a", "1");
    assert!(public.refuses("/b").await);
    public.put("b", "2");
    let refused = std::pin::pin!(public.refuses("/b/c"));
    let at_once = futures_util::future::poll_immediate(refused).await;
    assert_eq!(
        at_once,
        Some(true),
        "answered without leaving the reactor thread"
    );
}

#[tokio::test]
async fn what_is_not_there_is_known_only_from_a_listing_that_is_believed() {
    let public = public_with(StaticOptions {
        fresh_for: Duration::from_secs(3600),
        ..StaticOptions::default()
    });
    public.put("a", "1");
    public.put("folder/b", "1");
    assert!(!public.files.lacks("/c"), "nobody has looked yet");
    assert!(public.refuses("/c").await);
    for path in ["/c", "/c/a", "/c/", "/A", "/.a", "/aa"] {
        assert!(
            public.files.lacks(path) && public.refuses(path).await,
            "{path}"
        );
    }
    for path in ["/a", "/folder/b", "/folder/c", "/%61", "/", "", "//a"] {
        assert!(!public.files.lacks(path), "{path}");
    }
    let unbelieved = public_with(uncached());
    assert!(unbelieved.refuses("/c").await && !unbelieved.files.lacks("/c"));
}

#[tokio::test]
async fn a_small_file_is_remembered_for_as_long_as_it_is_believed() {
    let options = StaticOptions {
        fresh_for: Duration::from_millis(300),
        ..StaticOptions::default()
    };
    let public = public_with(options);
    public.put("a", "one");
    assert_eq!(public.get("/a", &[]).await.body, "one");
    public.put("a", "three");
    let started = Instant::now();
    let again = public.get("/a", &[("accept-encoding", "identity")]).await;
    assert!(again.body == "one" || started.elapsed() > Duration::from_millis(200));
    while public.get("/a", &[]).await.body != "three" {
        assert!(started.elapsed() < Duration::from_secs(10));
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn memory_for_small_files_is_bounded() {
    let options = StaticOptions {
        memory: 4000,
        fresh_for: Duration::from_secs(3600),
        ..StaticOptions::default()
    };
    let public = public_with(options);
    for n in 0..20 {
        public.put(&format!("{n}"), vec![b'x'; 1000]);
    }
    for n in 0..20 {
        assert_eq!(public.get(&format!("/{n}"), &[]).await.body.len(), 1000);
    }
    assert!(
        format!("{:?}", public.files).len() < 60_000,
        "only a few files are held"
    );
}

#[tokio::test]
async fn many_clients_at_once_get_the_same_bytes() {
    let public = std::sync::Arc::new(public_with(StaticOptions {
        fresh_for: Duration::from_millis(1),
        ..StaticOptions::default()
    }));
    public.put("a.txt", "hello");
    public.put("large", vec![7; 200_000]);
    let clients = (0..200).map(|n| {
        let public = std::sync::Arc::clone(&public);
        tokio::spawn(async move {
            let (path, length) = if n % 2 == 0 {
                ("/a.txt", 5)
            } else {
                ("/large", 200_000)
            };
            assert_eq!(public.get(path, &[]).await.body.len(), length);
        })
    });
    for client in clients.collect::<Vec<_>>() {
        client.await.unwrap();
    }
}

/// Run with `--release --ignored --nocapture`.
#[tokio::test]
#[ignore = "prints timings"]
async fn timings() {
    let cached = public_with(StaticOptions::default());
    let public = public();
    for folder in [&cached, &public] {
        folder.put("small.css", vec![b'x'; 2000]);
        folder.put("large.bin", vec![b'x'; 100 << 20]);
    }
    let small = [
        (&cached, "/nothing/here", "not ours"),
        (&cached, "/small.css", "small, in memory"),
        (&public, "/small.css", "small, from disk"),
    ];
    for (folder, path, name) in small {
        let rounds = 20_000_u32;
        let started = Instant::now();
        for _ in 0..rounds {
            std::hint::black_box(
                folder
                    .files
                    .serve(&Method::GET, path, &HeaderMap::new())
                    .await,
            );
        }
        println!(
            "{name:20} {:>8.2} µs",
            started.elapsed().as_secs_f64() * 1e6 / f64::from(rounds)
        );
    }
    let started = Instant::now();
    let mut body = cached
        .serve(&Method::GET, "/large.bin", &[])
        .await
        .unwrap()
        .into_body();
    while let Some(frame) = body.frame().await {
        std::hint::black_box(frame.unwrap());
    }
    println!(
        "{:20} {:>8.2} GB/s",
        "100 MiB streamed",
        0.104_857_6 / started.elapsed().as_secs_f64()
    );
}
