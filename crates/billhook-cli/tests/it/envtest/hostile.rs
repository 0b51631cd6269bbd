//! HTTP/2 under attack: an attacker loses the connection or waits, others are served, and memory
//! stays.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use super::client::HTTP2;
use super::harness::Environment;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const MEGABYTE: u64 = 1 << 20;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// The headers of a GET, as HPACK without a table.
fn get(path: &str) -> Vec<u8> {
    let mut block = vec![0x82, 0x87, 0x04, u8::try_from(path.len()).unwrap()];
    block.extend(path.bytes());
    block.extend([0x01, 9]);
    block.extend(b"localhost");
    block
}

/// The most memory that a process has taken, in bytes.
fn peak(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() << 10
}

/// A connection whose settings are these.
async fn attack(environment: &Environment, settings: &[u8]) -> TlsStream<TcpStream> {
    let mut stream = environment.admin.with_protocol(HTTP2).connect().await.unwrap();
    stream.write_all(PREFACE).await.unwrap();
    stream.write_all(&frame(SETTINGS, 0, 0, settings)).await.unwrap();
    stream
}

/// Writes until the server closes the connection, takes no more, or all is written.
async fn flood(stream: &mut TlsStream<TcpStream>, frames: impl Iterator<Item = Vec<u8>>) {
    for frame in frames {
        let written = tokio::time::timeout(Duration::from_secs(2), stream.write_all(&frame)).await;
        if !matches!(written, Ok(Ok(()))) {
            return;
        }
    }
}

/// Whether the server has closed the connection, or does so after what it still sends.
async fn is_closed(stream: &mut TlsStream<TcpStream>) -> bool {
    let mut rest = vec![0; 1 << 16];
    let read = async { while stream.read(&mut rest).await.is_ok_and(|read| read > 0) {} };
    tokio::time::timeout(Duration::from_secs(10), read).await.is_ok()
}

#[tokio::test]
async fn floods_end_their_connection() {
    let environment = Environment::start("floods").await;
    let before = peak(environment.server.id());
    let request = get("/api/v1/namespaces");
    let streams = || (0..20_000).map(|index| index * 2 + 1);
    let resets = streams().map(|stream| {
        let begun = frame(HEADERS, END_STREAM | END_HEADERS, stream, &request);
        [begun, frame(RESET, 0, stream, &8_u32.to_be_bytes())].concat()
    });
    let mut rapid = attack(&environment, &[]).await;
    flood(&mut rapid, resets).await;
    assert!(is_closed(&mut rapid).await, "requests that are taken back at once");

    let mut endless = attack(&environment, &[]).await;
    let first = frame(HEADERS, END_STREAM, 1, &request);
    let more = frame(CONTINUATION, 0, 1, &[0; 8192]);
    flood(&mut endless, std::iter::once(first).chain(std::iter::repeat_n(more, 20_000))).await;
    assert!(is_closed(&mut endless).await, "headers that do not end");

    let mut window = attack(&environment, &[]).await;
    let overflow = frame(WINDOW_UPDATE, 0, 0, &0x7fff_ffff_u32.to_be_bytes());
    flood(&mut window, std::iter::repeat_n(overflow, 10)).await;
    assert!(is_closed(&mut window).await, "a window that is too large");

    for frames in [frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 100]), frame(PING, 0, 0, &[0; 8])] {
        let mut flooded = attack(&environment, &[]).await;
        flood(&mut flooded, std::iter::repeat_n(frames, 20_000)).await;
        assert_eq!(environment.admin.get("/api/v1/namespaces/default").await.code, 200);
    }
    let grown = peak(environment.server.id()).saturating_sub(before) / MEGABYTE;
    assert!(grown < 64, "{grown} megabytes");
    environment.stop();
}

/// Answers without room are not made, or copied.
#[tokio::test]
async fn closed_windows_hold_little() {
    let environment = Environment::start("windows").await;
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "large"},
        "data": {"a": "x".repeat(1_000_000)}});
    let maps = "/api/v1/namespaces/default/configmaps";
    assert_eq!(environment.admin.post(maps, &map).await.code, 201);
    let before = peak(environment.server.id());
    let no_window = [0, 4, 0, 0, 0, 0];
    let mut attackers = Vec::new();
    for _ in 0..8 {
        let mut stream = attack(&environment, &no_window).await;
        let request = get("/api/v1/namespaces/default/configmaps/large");
        let requests = (0..250_u32)
            .map(|index| frame(HEADERS, END_STREAM | END_HEADERS, index * 2 + 1, &request));
        flood(&mut stream, requests).await;
        attackers.push(stream);
    }
    assert_eq!(environment.admin.get("/api/v1/namespaces/default").await.code, 200);
    let grown = peak(environment.server.id()).saturating_sub(before) / MEGABYTE;
    assert!(grown < 600, "{grown} megabytes of 2000");
    environment.stop();
}
