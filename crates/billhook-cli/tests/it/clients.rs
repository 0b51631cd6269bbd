//! `billhook serve` among clients that mean it no good, and among very many: it goes on answering,
//! and keeps neither their connections nor their memory. Nothing is timed.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

use crate::serve::{DEFINITION, Running, file};

const FOOS: &str = "/apis/example.com/v1/namespaces/default/foos";
const JSON: &str = "Content-Type: application/json\r\n";
const MERGE: &str = "Content-Type: application/merge-patch+json\r\n";
const MEGABYTE: u64 = 1 << 20;

fn start(test: &str) -> Running {
    let objects = file(test, "all.yaml", DEFINITION);
    Running::start(&["--http", "--load", objects.to_str().unwrap()])
}

impl Running {
    fn descriptors(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.id())).unwrap().count()
    }

    /// The memory of the server, in bytes.
    fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() << 10
    }

    /// Waits until the server has let go of all connections but those that were there before.
    fn let_go(&self, before: usize) {
        let is_free = || self.descriptors() <= before;
        let is_soon_free = (0..200).any(|_| {
            sleep(Duration::from_millis(50));
            is_free()
        });
        assert!(is_soon_free, "{} descriptors are open, {before} were", self.descriptors());
    }

    fn answers(&self) {
        assert_eq!(self.send("GET", &format!("{FOOS}/a"), "", "").0, 200);
    }

    /// Sends the beginning of a request, whose rest never comes.
    fn begin(&self, request: &str) -> TcpStream {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }
}

/// Counts connections after a first request, so that everything has been used once.
fn descriptors_after_use(server: &Running) -> usize {
    server.answers();
    sleep(Duration::from_millis(100));
    server.descriptors()
}

#[test]
fn connections_that_send_nothing_cost_nothing() {
    let server = start("load-silent");
    let before = descriptors_after_use(&server);
    // A thousand, as many at a time as a process may have open everywhere.
    for _ in 0..4 {
        let silent: Vec<TcpStream> = (0..250).map(|_| server.connect()).collect();
        server.answers();
        assert!(server.descriptors() > before + 200, "they are open");
        drop(silent);
        server.let_go(before);
    }
}

#[test]
fn bodies_that_never_end_hold_nobody_up() {
    let server = start("load-slow");
    let before = descriptors_after_use(&server);
    let memory = server.memory();
    let head = format!("POST {FOOS} HTTP/1.1\r\nHost: localhost\r\n{JSON}");
    let three_megabytes = format!("{head}Content-Length: 3000000\r\n\r\n{{");
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n5\r\n{{\"a\"");
    let unfinished = format!("{head}Content-Le");
    let bad = format!("{head}Content-Length: x\r\n\r\n");
    let slow: Vec<TcpStream> = [&three_megabytes, &chunked, &unfinished, &bad]
        .into_iter()
        .cycle()
        .take(200)
        .map(|request| server.begin(request))
        .collect();
    server.answers();
    let grown = server.memory().saturating_sub(memory);
    assert!(grown < 64 * MEGABYTE, "{grown} bytes for bodies that did not come");
    drop(slow);
    server.let_go(before);
    // What says that it is too large is refused before it comes.
    let mut huge = server.begin(&format!("{head}Content-Length: 3000000000\r\n\r\n"));
    let mut answer = [0; 12];
    huge.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
}

/// WA-33.
#[test]
fn watches_that_nobody_reads_are_given_up() {
    let server = start("load-unread");
    let before = descriptors_after_use(&server);
    let request = format!("GET {FOOS}?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let mut unread: Vec<TcpStream> = (0..20).map(|_| server.begin(&request)).collect();
    let memory = server.memory();
    let text = "x".repeat(100_000);
    for number in 0..1000 {
        let patch =
            format!(r#"{{"metadata":{{"annotations":{{"n":"{number}","text":"{text}"}}}}}}"#);
        assert_eq!(server.send("PATCH", &format!("{FOOS}/a"), MERGE, &patch).0, 200);
    }
    // Each of them missed 100 megabytes; changes of 64 are remembered, for all together.
    let grown = server.memory().saturating_sub(memory) / MEGABYTE;
    assert!(grown < 256, "{grown} megabytes are kept for watches that nobody reads");
    // A client that reads too late has to begin again: the stream ends.
    let mut late = unread.pop().unwrap();
    late.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut told = Vec::new();
    late.read_to_end(&mut told).unwrap_or_else(|_| {
        panic!("the watch goes on after {} bytes, though changes are gone", told.len())
    });
    assert!(told.starts_with(b"HTTP/1.1 200"));
    server.answers();
    drop((unread, late));
    server.let_go(before);
}

/// One request of a mix, by its number.
fn mixed(server: &Running, number: usize) {
    let name = format!("foo-{}", number / 8 % 50);
    let path = format!("{FOOS}/{name}");
    let object =
        format!(r#"{{"apiVersion":"example.com/v1","kind":"Foo","metadata":{{"name":"{name}"}}}}"#);
    let (request, codes): ((&str, String, &str, &str), &[u16]) = match number % 8 {
        0 => (("POST", FOOS.to_owned(), JSON, &object), &[201]),
        1 => (("GET", path, "", ""), &[200]),
        2 => (("PATCH", path, MERGE, r#"{"metadata":{"labels":{"a":"b"}}}"#), &[200]),
        3 => (("GET", format!("{FOOS}?labelSelector=a&limit=3"), "", ""), &[200]),
        4 => (("POST", FOOS.to_owned(), JSON, "{\"a\":"), &[400]),
        5 => (("GET", "/openapi/v3/apis/example.com/v1".to_owned(), "", ""), &[200]),
        // Only its beginning is read.
        6 => {
            return drop(
                server.begin(&format!("GET {FOOS}?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")),
            );
        }
        _ => (("DELETE", path, "", ""), &[200]),
    };
    let (method, path, header, body) = request;
    let (code, answer) = server.send(method, &path, header, body);
    assert!(codes.contains(&code), "{method} {path}: {code} {answer}");
}

#[test]
fn thousands_of_requests_leave_nothing_behind() {
    let server = start("load-soak");
    (0..1600).for_each(|number| mixed(&server, number));
    let before = descriptors_after_use(&server);
    let memory = server.memory();
    (0..4000).for_each(|number| mixed(&server, number));
    server.let_go(before);
    let grown = server.memory().saturating_sub(memory);
    // The changes of 1,500 small writes are remembered: some kilobytes each.
    assert!(grown < 24 * MEGABYTE, "{grown} bytes were left behind");
}
