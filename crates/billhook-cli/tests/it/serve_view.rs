//! The paths below `/billhook/` of `billhook serve`, and its page in a browser. Without chromium, or
//! without `playwright-core` in the directory that `BILLHOOK_NODE_MODULES` names, the page is not
//! tested, and the test says so.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use crate::serve::{Running, file};

const JSON: &str = "Content-Type: application/json\r\n";

#[test]
fn virtual_time_passes_over_http() {
    let server = Running::start(&["--http", "--controllers", "all", "--virtual-time"]);
    let body = r#"{"duration": "24h"}"#;
    let (code, clock) = server.send("POST", "/billhook/clock/advance", JSON, body);
    assert_eq!(code, 200, "{clock}");
    assert!(clock.contains(r#""time":"2026-01-02T00:00:00.000000Z""#), "{clock}");
    let map = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}"#;
    let (_, map) = server.send("POST", "/api/v1/namespaces/default/configmaps", JSON, map);
    assert!(map.contains(r#""creationTimestamp":"2026-01-02T00:00:00Z""#), "{map}");
    let (code, _) = server.send("POST", "/billhook/settle", JSON, r#"{"quiet": "1ms"}"#);
    assert_eq!(code, 200);
    let (_, log) = server.send("GET", "/billhook/requests?resource=configmaps&verb=create", "", "");
    assert!(log.contains(r#""path":"/api/v1/namespaces/default/configmaps""#), "{log}");
}

/// Web pages of other sites steer nothing.
#[test]
fn other_sites_cannot_advance_the_clock() {
    let server = Running::start(&["--http", "--virtual-time"]);
    let advance = |header: &str| {
        server.send("POST", "/billhook/clock/advance", header, r#"{"duration": "24h"}"#).0
    };
    assert_eq!(advance(&format!("Origin: http://evil.example\r\n{JSON}")), 403);
    assert_eq!(advance("Content-Type: text/plain\r\n"), 415);
    let (_, clock) = server.send("GET", "/billhook/clock", "", "");
    assert!(clock.contains("2026-01-01T00:00:00"), "{clock}");
}

#[test]
fn nothing_is_there_unless_it_is_asked_for() {
    let server = Running::start(&["--http", "--controllers", "all"]);
    for path in ["/billhook/clock", "/billhook/requests", "/billhook/ui/", "/billhook/ui/state"] {
        assert_eq!(server.send("GET", path, "", "").0, 404, "{path}");
    }
    let server = Running::start(&["--http", "--test-api"]);
    assert_eq!(server.send("GET", "/billhook/clock", "", "").0, 200);
    assert_eq!(server.send("GET", "/billhook/ui/", "", "").0, 404);
}

/// Only the files of the page, which are the same everywhere, need no token.
#[test]
fn the_page_shows_nothing_without_the_token() {
    let token = file("view", "token", "secret\n");
    let server = Running::start(&["--http", "--ui", "--token-file", token.to_str().unwrap()]);
    for (path, code) in [
        ("/billhook/ui/", 200),
        ("/billhook/ui/main.js", 200),
        ("/billhook/ui/state", 401),
        ("/billhook/ui/other.js", 401),
        ("/billhook/ui/../clock", 401),
        ("/billhook/clock", 401),
        ("/api/v1/pods", 401),
    ] {
        assert_eq!(server.send("GET", path, "", "").0, code, "{path}");
    }
    let (code, state) =
        server.send("GET", "/billhook/ui/state", "Authorization: Bearer secret\r\n", "");
    assert_eq!(code, 200);
    assert!(state.contains(r#""kind":"Namespace""#), "{state}");
}

#[test]
fn the_page_works_in_a_browser() {
    let modules = std::env::var_os("BILLHOOK_NODE_MODULES").unwrap_or_default();
    let has_driver = Path::new(&modules).join("playwright-core").is_dir();
    if !has_driver || !Path::new("/usr/bin/chromium").exists() {
        let mut errors = std::io::stderr();
        let _ = writeln!(errors, "NOT TESTED: chromium or playwright-core was not found");
        return;
    }
    let token = file("browser", "token", "secret\n");
    let token = token.to_str().unwrap();
    let options =
        ["--http", "--controllers", "all", "--virtual-time", "--ui", "--token-file", token];
    let server = Running::start(&options);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/view.cjs");
    let output = Command::new("node").arg(script).args([server.url(), "secret"]).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}");
}
