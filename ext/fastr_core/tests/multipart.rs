//! Multipart forms: what browsers send, every cap, hostile bodies, and what becomes of the temporary files.

#![allow(clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use bytes::Bytes;
use fastr_core::Error;
use fastr_core::http::multipart::{Content, MultipartLimits, Part, parse};
use futures_util::stream;
use http_body::Frame;
use http_body_util::StreamBody;
use proptest::prelude::*;

const TYPE: &str = "multipart/form-data; boundary=XX";

type Chunks = Vec<Result<Frame<Bytes>, Error>>;

fn chunks(body: &[u8], size: usize) -> Chunks {
    body.chunks(size.max(1))
        .map(|chunk| Ok(Frame::data(Bytes::copy_from_slice(chunk))))
        .collect()
}

async fn read_with(
    body: &[u8],
    size: usize,
    limits: &MultipartLimits,
    folder: &Path,
) -> Result<Vec<Part>, Error> {
    parse(
        TYPE,
        StreamBody::new(stream::iter(chunks(body, size))),
        limits,
        folder,
    )
    .await
}

async fn read(body: impl AsRef<[u8]>) -> Result<Vec<Part>, Error> {
    let folder = tempfile::tempdir().unwrap();
    read_with(
        body.as_ref(),
        usize::MAX,
        &MultipartLimits::default(),
        folder.path(),
    )
    .await
}

async fn status(body: impl AsRef<[u8]>) -> u16 {
    refusal(read(body).await).0
}

fn refusal(result: Result<Vec<Part>, Error>) -> (u16, String) {
    match result {
        Err(Error::BadRequest { status, reason }) => (status, reason),
        other => panic!("expected a refusal, got {other:?}"),
    }
}

/// One part with these header lines and this content.
fn one(header: &str, content: &str) -> String {
    format!("--XX\r\n{header}\r\n\r\n{content}\r\n--XX--\r\n")
}

fn field(name: &str, content: &str) -> String {
    format!("--XX\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{content}\r\n")
}

fn file(name: &str, content: &str) -> String {
    format!(
        "--XX\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"f\"\r\n\r\n{content}\r\n"
    )
}

fn text(part: &Part) -> &[u8] {
    match &part.content {
        Content::Memory(bytes) => bytes,
        Content::File(file) => panic!("{} is in {file:?}", part.name),
    }
}

fn spooled(folder: &Path) -> usize {
    folder.read_dir().unwrap().count()
}

#[tokio::test]
async fn fields_and_files_come_in_order() {
    let body = "--XX\r\nContent-Disposition: form-data; name=\"a[b]\"\r\n\r\none\r\ntwo\r\n\
        --XX\r\ncontent-disposition:form-data;filename=\"p.png\";name=f\r\nCONTENT-TYPE: image/png\r\nX-Other: 1\r\n\r\n\r\n\
        --XX--\r\n";
    let parts = read(body).await.unwrap();
    assert_eq!(
        (&*parts[0].name, text(&parts[0]), &parts[0].file_name),
        ("a[b]", &b"one\r\ntwo"[..], &None)
    );
    assert_eq!((&*parts[1].name, text(&parts[1])), ("f", &b""[..]));
    assert_eq!(parts[1].file_name.as_deref(), Some("p.png"));
    assert_eq!(parts[1].content_type.as_deref(), Some("image/png"));
    assert_eq!(parts.len(), 2);
}

#[tokio::test]
async fn preamble_epilogue_padding_and_an_empty_form_are_understood() {
    let body = format!(
        "ignored\r\n{}ignored",
        one("Content-Disposition: form-data; name=a", "1").replacen("--XX\r\n", "--XX \t\r\n", 1)
    );
    assert_eq!(text(&read(body).await.unwrap()[0]), b"1");
    assert!(read("--XX--").await.unwrap().is_empty());
}

#[tokio::test]
async fn content_that_resembles_a_boundary_stays_content() {
    let content = "--XX\r\n-XX\r\n--X\r\r\n\n--XX--";
    assert_eq!(
        text(
            &read(format!("{}--XX--", field("a", content)))
                .await
                .unwrap()[0]
        ),
        content.as_bytes()
    );
}

#[tokio::test]
async fn the_content_type_must_be_form_data_with_one_usable_boundary() {
    let long = format!("multipart/form-data; boundary={}", "x".repeat(71));
    let cases = [
        ("text/plain", 415),
        ("", 415),
        ("multipart/mixed; boundary=XX", 415),
        ("multipart/form-data-x; boundary=XX", 415),
        ("multipart/form-data", 400),
        ("multipart/form-data; boundary=", 400),
        ("multipart/form-data; boundary=\"\"", 400),
        ("multipart/form-data; boundary=\"XX", 400),
        ("multipart/form-data; boundary=XX; boundary=YY", 400),
        ("multipart/form-data; boundary=XX; Boundary=XX", 400),
        ("multipart/form-data; boundary=\"X\r\nX\"", 400),
        ("multipart/form-data; boundary=X\u{e9}", 400),
        ("multipart/form-data; boundary=\"XX \"", 400),
        ("multipart/form-data; x; boundary=XX", 400),
        (&long, 400),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (content_type, expected) in cases {
        let body = StreamBody::new(stream::iter(chunks(b"--XX--", 100)));
        let result = parse(
            content_type,
            body,
            &MultipartLimits::default(),
            folder.path(),
        )
        .await;
        assert_eq!(refusal(result).0, expected, "{content_type:?}");
    }
    for content_type in [
        "Multipart/Form-Data;BOUNDARY=\"XX\"",
        "multipart/form-data; charset=utf-8; boundary=XX;",
        TYPE,
    ] {
        let body = StreamBody::new(stream::iter(chunks(b"--XX--", 100)));
        assert!(
            parse(
                content_type,
                body,
                &MultipartLimits::default(),
                folder.path()
            )
            .await
            .is_ok(),
            "{content_type}"
        );
    }
}

#[tokio::test]
async fn names_are_read_as_browsers_and_curl_write_them() {
    let cases = [
        (r#"name="a\"b\\c""#, r#"a"b\c"#, None),
        ("name=\"a%22b\"", "a\"b", None),
        (
            "name=\"a;b=c\"; filename=\"x; y=z.txt\"",
            "a;b=c",
            Some("x; y=z.txt"),
        ),
        ("name=\"é\"; filename=\"ü.txt\"", "é", Some("ü.txt")),
        (
            r#"name=a; filename="C:\dir\file.txt""#,
            "a",
            Some("file.txt"),
        ),
        ("name=a; filename=\"../../etc/passwd\"", "a", Some("passwd")),
        ("name=a; filename=\"..\"", "a", Some("")),
        ("name=a; filename=\"/\"", "a", Some("")),
        ("name=a; filename=\"\"", "a", Some("")),
        (
            "name=a; filename*=UTF-8''%C3%BC%20x.txt",
            "a",
            Some("ü x.txt"),
        ),
        (
            "name=a; filename=plain; filename*=UTF-8''other",
            "a",
            Some("plain"),
        ),
        ("name=a; filename*=UTF-8''a%00b", "a", None),
        ("filename=\"name=x\"; name=a", "a", Some("name=x")),
        ("name=\"\"", "", None),
    ];
    for (parameters, name, file_name) in cases {
        let parts = read(one(
            &format!("Content-Disposition: form-data; {parameters}"),
            "",
        ))
        .await
        .unwrap();
        assert_eq!(
            (&*parts[0].name, parts[0].file_name.as_deref()),
            (name, file_name),
            "{parameters}"
        );
    }
}

#[tokio::test]
async fn part_headers_that_need_guessing_are_400() {
    let headers = [
        "",
        "X: y",
        "Content-Type: text/plain",
        "Content-Disposition: form-data",
        "Content-Disposition: attachment; name=a",
        "Content-Disposition: form-data; name=\"a",
        "Content-Disposition: form-data; name=\"a\"b",
        "Content-Disposition: form-data; name=a; name=b",
        "Content-Disposition: form-data; name=a; x; filename=b",
        "Content-Disposition: form-data; name=a; filename=b; filename=c",
        "Content-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=b",
        "Content-Disposition: form-data;\r\n name=a",
        "Content-Disposition : form-data; name=a",
        "Content-Disposition: form-data; name=\"a\0b\"",
        "Content-Disposition: form-data; name=\"a\rb\"",
        "Content-Disposition: form-data; name=a\nX: y",
        "no colon\r\nContent-Disposition: form-data; name=a",
        ": x\r\nContent-Disposition: form-data; name=a",
    ];
    for header in headers {
        assert_eq!(status(one(header, "x")).await, 400, "{header:?}");
    }
    let mut body = one("Content-Disposition: form-data; name=\"?\"", "x").into_bytes();
    let at = body.iter().position(|byte| *byte == b'?').unwrap();
    body[at] = 0xff;
    assert_eq!(status(body).await, 400);
}

#[tokio::test]
async fn a_body_that_ends_early_is_400_wherever_it_ends() {
    let whole = format!("{}{}--XX--", field("a", "1"), file("b", "2"));
    for end in 0..whole.len() {
        assert_eq!(status(&whole[..end]).await, 400, "{:?}", &whole[..end]);
    }
    assert!(read(whole).await.is_ok());
}

#[tokio::test]
async fn a_boundary_line_with_something_else_on_it_is_400() {
    for body in ["--XXY\r\n", "--XX\n", "--XX-\r\n", "--XX \r \r\n"] {
        assert_eq!(status(body).await, 400, "{body:?}");
    }
    assert_eq!(status(format!("--XX{}", " ".repeat(300))).await, 400);
}

#[tokio::test]
async fn large_files_are_spooled_privately_and_small_ones_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let content = "0123456789".repeat(100_000);
    let body = format!("{}{}--XX--", file("large", &content), file("small", "s"));
    for size in [7_000, usize::MAX] {
        let parts = read_with(
            body.as_bytes(),
            size,
            &MultipartLimits::default(),
            folder.path(),
        )
        .await
        .unwrap();
        let Content::File(spooled_file) = &parts[0].content else {
            panic!("not spooled")
        };
        assert_eq!(
            std::fs::read_to_string(spooled_file.path()).unwrap(),
            content
        );
        assert_eq!(spooled_file.length(), content.len() as u64);
        assert_eq!(
            spooled_file.path().metadata().unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert_eq!((text(&parts[1]), spooled(folder.path())), (&b"s"[..], 1));
        drop(parts);
        assert_eq!(
            spooled(folder.path()),
            0,
            "a part dropped untaken leaves no file"
        );
    }
}

#[tokio::test]
async fn exactly_64_kib_stay_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    for (length, files) in [(64 << 10, 0), ((64 << 10) + 1, 1)] {
        let body = format!("{}--XX--", file("a", &"x".repeat(length)));
        let _parts = read_with(
            body.as_bytes(),
            5_000,
            &MultipartLimits::default(),
            folder.path(),
        )
        .await
        .unwrap();
        assert_eq!(spooled(folder.path()), files);
    }
}

#[tokio::test]
async fn a_file_that_is_kept_outlives_its_part() {
    let folder = tempfile::tempdir().unwrap();
    let body = format!("{}--XX--", file("a", &"x".repeat(100_000)));
    let mut parts = read_with(
        body.as_bytes(),
        5_000,
        &MultipartLimits::default(),
        folder.path(),
    )
    .await
    .unwrap();
    let Content::File(spooled_file) = parts.remove(0).content else {
        panic!("not spooled")
    };
    let path = spooled_file.keep();
    assert_eq!(path.metadata().unwrap().len(), 100_000);
}

#[tokio::test]
async fn nothing_is_left_on_disk_when_parsing_fails_or_is_abandoned() {
    let folder = tempfile::tempdir().unwrap();
    let body = format!(
        "{}{}",
        file("a", &"x".repeat(300_000)),
        file("b", &"y".repeat(300_000))
    );
    let limits = MultipartLimits::default();
    assert_eq!(
        refusal(read_with(body.as_bytes(), 10_000, &limits, folder.path()).await).0,
        400
    );
    assert_eq!(spooled(folder.path()), 0);

    let mut failing = chunks(body.as_bytes(), 10_000);
    failing.push(Err(Error::Disconnected));
    let result = parse(
        TYPE,
        StreamBody::new(stream::iter(failing)),
        &limits,
        folder.path(),
    )
    .await;
    assert_eq!(result.unwrap_err(), Error::Disconnected);
    assert_eq!(spooled(folder.path()), 0);

    use futures_util::StreamExt;
    let endless =
        StreamBody::new(stream::iter(chunks(body.as_bytes(), 10_000)).chain(stream::pending()));
    let abandoned = tokio::time::timeout(
        std::time::Duration::from_millis(300),
        parse(TYPE, endless, &limits, folder.path()),
    );
    assert!(abandoned.await.is_err());
    assert_eq!(spooled(folder.path()), 0);
}

#[tokio::test]
async fn a_spool_folder_that_is_missing_is_the_servers_failure() {
    let body = format!("{}--XX--", file("a", &"x".repeat(100_000)));
    let result = read_with(
        body.as_bytes(),
        5_000,
        &MultipartLimits::default(),
        Path::new("/nonexistent"),
    )
    .await;
    assert!(matches!(result, Err(Error::Io(_))));
}

#[tokio::test]
async fn every_count_and_size_has_a_cap() {
    let limits = MultipartLimits {
        parts: 3,
        part_header: 200,
        preamble: 100,
        total: 2_000,
        field: 300,
        memory: 500,
        spool_above: 400,
    };
    let header = |length: usize| {
        one(
            &format!(
                "Content-Disposition: form-data; name={}",
                "n".repeat(length)
            ),
            "",
        )
    };
    let cases = [
        (format!("{}--XX--", field("a", "").repeat(3)), None),
        (
            format!("{}--XX--", field("a", "").repeat(4)),
            Some("more than 3 parts"),
        ),
        (header(100), None),
        (header(200), Some("header is larger than 200")),
        (
            format!("{}\r\n--XX--", "x".repeat(100)),
            Some("more than 100 bytes outside"),
        ),
        (
            format!("--XX--{}", "x".repeat(101)),
            Some("more than 100 bytes outside"),
        ),
        (format!("{}--XX--", field("a", &"x".repeat(300))), None),
        (
            format!("{}--XX--", field("a", &"x".repeat(301))),
            Some("field \"a\" is larger than 300"),
        ),
        (
            format!(
                "{}{}--XX--",
                field("a", &"x".repeat(260)),
                file("b", &"x".repeat(260))
            ),
            Some("fields are larger than 500"),
        ),
        (
            format!(
                "{}{}--XX--",
                file("b", &"x".repeat(450)),
                field("a", &"x".repeat(260))
            ),
            None,
        ),
        (format!("{}--XX--", file("b", &"x".repeat(1_900))), None),
        (
            format!("{}--XX--", file("b", &"x".repeat(2_000))),
            Some("body is larger than 2000"),
        ),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (body, expected) in &cases {
        for size in [1, 64, usize::MAX] {
            let result = read_with(body.as_bytes(), size, &limits, folder.path()).await;
            match expected {
                None => assert!(result.is_ok(), "{body}: {result:?}"),
                Some(reason) => {
                    let (status, text) = refusal(result);
                    assert!(
                        status == 413 && text.contains(reason),
                        "{text} lacks {reason}"
                    );
                }
            }
        }
    }
}

/// Feeds a start and then the same piece for ever; tells after how many bytes the parser refused.
async fn endless(start: &str, piece: &'static [u8]) -> (u16, usize) {
    use futures_util::StreamExt;
    let fed = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&fed);
    let first = Frame::data(Bytes::copy_from_slice(start.as_bytes()));
    let rest = std::iter::repeat_with(move || {
        counter.fetch_add(piece.len(), Ordering::Relaxed);
        Ok::<_, Error>(Frame::data(Bytes::from_static(piece)))
    });
    let body = StreamBody::new(stream::iter([Ok(first)]).chain(stream::iter(rest)));
    let folder = tempfile::tempdir().unwrap();
    let result = parse(TYPE, body, &MultipartLimits::default(), folder.path()).await;
    (refusal(result).0, fed.load(Ordering::Relaxed))
}

#[tokio::test]
async fn endless_preambles_headers_padding_parts_and_fields_are_cut_early_and_in_linear_time() {
    let started = Instant::now();
    let disposition = "--XX\r\nContent-Disposition: form-data; name=a";
    let header_end = format!("{disposition}\r\n\r\n");
    let file_start = format!("{disposition}; filename=b\r\n\r\n");
    let cases: [(&str, &'static [u8], usize); 9] = [
        ("", b"x", 17 << 10),
        ("", b"\r\n--X", 17 << 10),
        ("--XX--", b"x", 17 << 10),
        (disposition, b"x", 17 << 10),
        (disposition, b"\r\nX: y", 17 << 10),
        ("--XX", b" ", 1 << 10),
        (&header_end, b"\r\n--X", (1 << 20) + 100),
        (
            "",
            b"--XX\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n",
            9 << 10,
        ),
        (&file_start, &[b'x'; 65_536], (256 << 20) + 70_000),
    ];
    for (start, piece, bound) in cases {
        let (status, fed) = endless(start, piece).await;
        assert!(
            matches!(status, 400 | 413) && fed <= bound,
            "{start:?} {piece:?}: {status} after {fed}"
        );
    }
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

#[tokio::test]
async fn single_bytes_cost_no_more_than_linear_time() {
    let content = "\r\n--X\r".repeat(50_000);
    let body = format!("{}--XX--", field("a", &content));
    let started = Instant::now();
    let folder = tempfile::tempdir().unwrap();
    let parts = read_with(
        body.as_bytes(),
        1,
        &MultipartLimits::default(),
        folder.path(),
    )
    .await
    .unwrap();
    assert_eq!(text(&parts[0]), content.as_bytes());
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
}

/// The folder belongs to a file system with less room than the upload, such as a small tmpfs.
#[tokio::test]
#[ignore = "needs FASTR_FULL_DISK, an empty folder with less than 64 MiB of room"]
async fn an_upload_that_fills_the_disk_is_a_507_and_leaves_no_file() {
    let folder = std::env::var_os("FASTR_FULL_DISK").expect("FASTR_FULL_DISK names a folder");
    let body = format!("{}--XX--", file("a", &"x".repeat(64 << 20)));
    let limits = MultipartLimits::default();
    let result = read_with(body.as_bytes(), 1 << 20, &limits, Path::new(&folder)).await;
    assert_eq!(refusal(result).0, 507);
    assert_eq!(spooled(Path::new(&folder)), 0);
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

type Seen = (String, Option<String>, Vec<u8>);

fn seen(result: Result<Vec<Part>, Error>) -> Result<Vec<Seen>, Error> {
    let content = |part: &Part| match &part.content {
        Content::Memory(bytes) => bytes.to_vec(),
        Content::File(file) => std::fs::read(file.path()).unwrap(),
    };
    result.map(|parts| {
        parts
            .iter()
            .map(|part| (part.name.clone(), part.file_name.clone(), content(part)))
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_body_cut_anywhere_reads_like_the_whole(
        pieces in proptest::collection::vec(
            prop_oneof![
                Just("--XX".to_owned()), Just("\r\n".to_owned()), Just("--".to_owned()), Just("\r\n--XX".to_owned()),
                Just("\r\n\r\n".to_owned()), Just(field("a", "1")), Just(file("b", "23")), Just("--XX--".to_owned()),
                Just(file("c", &"z".repeat(50))), "[a-z\r\n-]{0,6}",
            ],
            0..10,
        ),
        size in 1_usize..12,
    ) {
        let body = pieces.concat();
        let limits = MultipartLimits { spool_above: 20, ..MultipartLimits::default() };
        let folder = tempfile::tempdir().unwrap();
        let whole = seen(block_on(read_with(body.as_bytes(), usize::MAX, &limits, folder.path())));
        let cut = seen(block_on(read_with(body.as_bytes(), size, &limits, folder.path())));
        prop_assert_eq!(whole, cut);
        prop_assert_eq!(spooled(folder.path()), 0);
    }

    #[test]
    fn what_was_written_is_read_back(contents in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..100), 0..5)) {
        let mut body = Vec::new();
        for (number, content) in contents.iter().enumerate() {
            let head = format!("--XX\r\nContent-Disposition: form-data; name=\"n{number}\"; filename=x\r\n\r\n");
            body.extend([head.as_bytes(), content, b"\r\n"].concat());
        }
        body.extend(b"--XX--");
        prop_assume!(!contents.iter().any(|content| memchr::memmem::find(content, b"\r\n--XX").is_some()));
        let read: Vec<_> = seen(block_on(read(body))).unwrap().into_iter().map(|(_, _, content)| content).collect();
        prop_assert_eq!(read, contents);
    }

    #[test]
    fn no_bytes_make_the_parser_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        near in "(--XX|\r\n|--|[:;=\"\\\\* ]|name|filename|form-data|Content-Disposition|[a-z\0é]){0,40}",
        size in 1_usize..12,
        content_type in "\\PC{0,60}",
    ) {
        let folder = tempfile::tempdir().unwrap();
        let limits = MultipartLimits { spool_above: 20, ..MultipartLimits::default() };
        for bytes in [bytes.as_slice(), near.as_bytes()] {
            let body = [b"--XX\r\n".as_slice(), bytes].concat();
            let whole = seen(block_on(read_with(&body, usize::MAX, &limits, folder.path())));
            prop_assert_eq!(whole, seen(block_on(read_with(&body, size, &limits, folder.path()))));
        }
        let content_type = format!("multipart/form-data;{content_type}");
        let body = StreamBody::new(stream::iter(chunks(&bytes, 9)));
        let _ = block_on(parse(&content_type, body, &MultipartLimits::default(), folder.path()));
        prop_assert_eq!(spooled(folder.path()), 0);
    }
}

/// Run with `--release --ignored --nocapture`.
#[tokio::test]
#[ignore = "prints timings"]
async fn timings() {
    let folder = tempfile::tempdir().unwrap();
    let limits = MultipartLimits {
        memory: 1 << 30,
        field: 1 << 30,
        ..MultipartLimits::default()
    };
    let content = "0123456789abcde\n".repeat(4 << 20);
    for (name, body) in [
        ("field in memory", field("a", &content)),
        ("spooled file", file("a", &content)),
    ] {
        let body = chunks(format!("{body}--XX--").as_bytes(), 64 << 10);
        let started = Instant::now();
        parse(
            TYPE,
            StreamBody::new(stream::iter(body)),
            &limits,
            folder.path(),
        )
        .await
        .unwrap();
        println!(
            "{name:20} {:>6.2} GB/s",
            content.len() as f64 / 1e9 / started.elapsed().as_secs_f64()
        );
    }
    let small = format!("{}--XX--", field("name", "value").repeat(20));
    let started = Instant::now();
    for _ in 0..10_000 {
        read_with(small.as_bytes(), usize::MAX, &limits, folder.path())
            .await
            .unwrap();
    }
    println!(
        "{:20} {:>6.2} µs",
        "20 fields",
        started.elapsed().as_secs_f64() * 100.0
    );
}
