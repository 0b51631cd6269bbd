//! `billhook serve` under attack: memory, connections and web pages.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::serve::{DEFINITION, Running, file};

const FOOS: &str = "/apis/example.com/v1/namespaces/default/foos";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const JSON: &str = "Content-Type: application/json\r\n";
const MEGABYTE: u64 = 1 << 20;

fn start(test: &str, options: &[&str]) -> Running {
    let objects = file(test, "all.yaml", DEFINITION);
    Running::start(&[&["--http", "--load", objects.to_str().unwrap()], options].concat())
}

impl Running {
    /// The most memory that the server has taken, in bytes.
    fn peak(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() << 10
    }

    fn begin_request(&self, request: &str) -> TcpStream {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }
}

/// DT-50: what it takes grows with the size of a definition, not with the square of its depth.
#[test]
fn a_deep_definition_takes_little_memory_in_openapi() {
    const DEPTH: usize = 1000;
    let server = start("hostile-openapi", &[]);
    let deep = format!(
        r#"{}{{"type":"object"}}{}"#,
        r#"{"type":"object","properties":{"a":"#.repeat(DEPTH),
        "}}".repeat(DEPTH)
    );
    let definition = format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
        "metadata":{{"name":"deeps.example.org"}},"spec":{{"group":"example.org",
        "scope":"Namespaced","names":{{"plural":"deeps","kind":"Deep"}},"versions":[{{"name":"v1",
        "served":true,"storage":true,"schema":{{"openAPIV3Schema":{{"type":"object",
        "properties":{{"spec":{deep}}}}}}}}}]}}}}"#
    );
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    assert_eq!(server.send("POST", path, JSON, &definition).0, 201);
    let before = server.peak();
    assert_eq!(server.send("GET", "/openapi/v2", "", "").0, 200);
    let grown = server.peak().saturating_sub(before) / MEGABYTE;
    assert!(grown < 100, "{grown} megabytes");
}

/// Unread lists are not copied; those that have to be printed first are bounded together.
#[test]
fn lists_that_nobody_reads_take_little_memory() {
    let server = start("hostile-lists", &[]);
    let text = "x".repeat(1_000_000);
    for index in 0..20 {
        let foo = format!(
            r#"{{"apiVersion":"example.com/v1","kind":"Foo","metadata":{{"name":"b{index}",
            "annotations":{{"a":"{}"}}}}}}"#,
            "x".repeat(200_000)
        );
        assert_eq!(server.send("POST", FOOS, JSON, &foo).0, 201);
        let map = format!(
            r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"b{index}"}},
            "data":{{"a":"{text}"}}}}"#
        );
        assert_eq!(server.send("POST", MAPS, JSON, &map).0, 201);
    }
    for (path, connections, limit) in [(FOOS, 100, 64), (MAPS, 60, 700)] {
        let before = server.peak();
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let unread: Vec<TcpStream> =
            (0..connections).map(|_| server.begin_request(&request)).collect();
        sleep(Duration::from_secs(2));
        let grown = server.peak().saturating_sub(before) / MEGABYTE;
        assert!(grown < limit, "{path}: {grown} megabytes");
        assert_eq!(server.send("GET", &format!("{FOOS}/a"), "", "").0, 200);
        drop(unread);
    }
}

#[test]
fn bodies_in_small_chunks_take_little_memory() {
    let server = start("hostile-chunks", &[]);
    let before = server.peak();
    let head = format!(
        "POST {FOOS} HTTP/1.1\r\nHost: localhost\r\n{JSON}Transfer-Encoding: chunked\r\n\r\n"
    );
    let body = "1\r\n \r\n".repeat(1_000_000);
    let open = server.begin_request(&(head + &body));
    sleep(Duration::from_secs(1));
    let grown = server.peak().saturating_sub(before) / MEGABYTE;
    assert!(grown < 10, "{grown} megabytes");
    drop(open);
}

/// WA-07: a watch ends in time, though its client does not read what was sent.
#[test]
fn a_watch_that_nobody_reads_ends_in_time() {
    let server = start("hostile-watch", &[]);
    let merge = "Content-Type: application/merge-patch+json\r\n";
    let request =
        format!("GET {FOOS}?watch=1&timeoutSeconds=3 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let descriptors = || std::fs::read_dir(format!("/proc/{}/fd", server.id())).unwrap().count();
    assert_eq!(server.send("GET", &format!("{FOOS}/a"), "", "").0, 200);
    sleep(Duration::from_millis(200));
    let before = descriptors();
    let unread: Vec<TcpStream> = (0..8).map(|_| server.begin_request(&request)).collect();
    sleep(Duration::from_millis(200));
    assert_eq!(descriptors(), before + 8);
    let text = "x".repeat(250_000);
    for index in 0..12 {
        let patch = format!(r#"{{"metadata":{{"annotations":{{"n":"{index}","a":"{text}"}}}}}}"#);
        assert_eq!(server.send("PATCH", &format!("{FOOS}/a"), merge, &patch).0, 200);
    }
    let began = Instant::now();
    while descriptors() > before && began.elapsed() < Duration::from_secs(60) {
        sleep(Duration::from_millis(100));
    }
    let took = began.elapsed();
    assert!(took < Duration::from_secs(15), "{took:?}");
    drop(unread);
}

/// Who has no token does not keep a connection.
#[test]
fn strangers_do_not_keep_connections() {
    let token = file("hostile-token", "token", "secret\n");
    let server = start("hostile-token", &["--token-file", token.to_str().unwrap()]);
    let mut silent = server.connect();
    let mut dripping = server.begin_request("GET / HTTP/1.1\r\nHost: x\r\n");
    let mut refused = server.begin_request("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    let mut known = server
        .begin_request("GET /version HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\n\r\n");
    for stream in [&mut silent, &mut dripping, &mut refused] {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let began = Instant::now();
        let mut answer = Vec::new();
        let ended = stream.read_to_end(&mut answer);
        assert!(ended.is_ok() || !is_timeout(&ended.unwrap_err()), "{:?}", began.elapsed());
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 401"), "{answer}");
    }
    known.write_all(b"GET /version HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\nConnection: close\r\n\r\n").unwrap();
    let mut answers = String::new();
    known.read_to_string(&mut answers).unwrap();
    assert_eq!(answers.matches("HTTP/1.1 200").count(), 2);
}

fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
}

/// Without a token, web pages that a browser of this machine shows may not use the server.
#[test]
fn web_pages_are_refused() {
    let server = start("hostile-pages", &["--allow-host", "kube.test"]);
    let map = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}"#;
    let code = |method: &str, path: &str, headers: &[&str], body: &str| {
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        for header in headers {
            write!(request, "{header}\r\n").unwrap();
        }
        write!(request, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut answer = String::new();
        server.begin_request(&request).read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().parse::<u16>().unwrap()
    };
    let secrets = "/api/v1/secrets";
    assert_eq!(code("GET", secrets, &["Host: evil.example"], ""), 403);
    assert_eq!(code("GET", secrets, &["Host: localhost", "Origin: http://evil.example"], ""), 403);
    for host in ["Host: 127.0.0.1:8001", "Host: [::1]", "Host: kube.test"] {
        assert_eq!(code("GET", secrets, &[host], ""), 200, "{host}");
    }
    let host = "Host: localhost";
    let blob = ["Host: localhost", "Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: no-cors"];
    assert_eq!(code("POST", MAPS, &blob, map), 415);
    assert_eq!(code("POST", MAPS, &[host, "Sec-Fetch-Site: cross-site"], map), 403);
    assert_eq!(code("GET", &format!("{MAPS}/a"), &[host], ""), 404);
    // Programs need not say what they send (RE-12).
    assert_eq!(code("POST", MAPS, &[host], map), 201);
}
