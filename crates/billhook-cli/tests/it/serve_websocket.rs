//! Watches over WebSocket (WA-52), as clients in Java ask for them.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::Value;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::handshake::client::Request;
use tokio_tungstenite::tungstenite::{Bytes, Error, HandshakeError, Message, WebSocket, client};

use crate::serve::{DEFINITION, Running, file};

const FOOS: &str = "/apis/example.com/v1/namespaces/default/foos";
const JSON: &str = "Content-Type: application/json\r\n";

fn start(test: &str) -> Running {
    let objects = file(test, "all.yaml", DEFINITION);
    Running::start(&["--http", "--load", objects.to_str().unwrap()])
}

fn request(path: &str) -> Request {
    format!("ws://localhost{path}").into_client_request().unwrap()
}

fn watch(server: &Running, path: &str) -> WebSocket<TcpStream> {
    let (socket, answer) = client(request(path), server.connect()).unwrap();
    assert_eq!(answer.status(), 101);
    assert!(answer.headers().contains_key("audit-id"));
    socket
}

/// Returns the type of an event, and the name of its object.
fn event(message: &Message) -> (String, String) {
    let Message::Text(text) = message else { panic!("{message:?}") };
    let event: Value = serde_json::from_str(text).unwrap();
    let text = |path: &str| event.pointer(path).and_then(Value::as_str).unwrap().to_owned();
    (text("/type"), text("/object/metadata/name"))
}

#[test]
fn each_event_is_a_message() {
    let server = start("websocket-events");
    let mut socket = watch(&server, &format!("{FOOS}?watch=true"));
    assert_eq!(event(&socket.read().unwrap()), ("ADDED".to_owned(), "a".to_owned()));
    // What clients send is discarded, except that pings are answered.
    socket.send(Message::text("anything")).unwrap();
    socket.send(Message::Ping(Bytes::from_static(b"there?"))).unwrap();
    assert_eq!(socket.read().unwrap(), Message::Pong(Bytes::from_static(b"there?")));
    let body = r#"{"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "b"}}"#;
    assert_eq!(server.send("POST", FOOS, JSON, body).0, 201);
    assert_eq!(event(&socket.read().unwrap()), ("ADDED".to_owned(), "b".to_owned()));
    assert_eq!(server.send("DELETE", &format!("{FOOS}/a"), "", "").0, 200);
    assert_eq!(event(&socket.read().unwrap()), ("DELETED".to_owned(), "a".to_owned()));
    socket.close(None).unwrap();
    assert!(matches!(socket.read(), Ok(Message::Close(_)) | Err(Error::ConnectionClosed)));
}

#[test]
fn events_in_protobuf_are_binary() {
    let server = start("websocket-protobuf");
    let mut request = request("/api/v1/namespaces?watch=true");
    let accept = "application/vnd.kubernetes.protobuf;stream=watch".parse().unwrap();
    request.headers_mut().insert("accept", accept);
    let (mut socket, _) = client(request, server.connect()).unwrap();
    assert!(matches!(socket.read().unwrap(), Message::Binary(_)));
}

/// The server closes at the end: of the time, and its own.
#[test]
fn the_end_of_a_watch_closes_it() {
    let mut server = start("websocket-end");
    let newest = "watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan";
    let mut short = watch(&server, &format!("{FOOS}?{newest}&timeoutSeconds=1"));
    assert!(matches!(short.read().unwrap(), Message::Close(_)));
    let mut long = watch(&server, &format!("{FOOS}?{newest}"));
    server.signal("TERM");
    assert!(matches!(long.read().unwrap(), Message::Close(_)));
    server.wait();
}

/// Refusals, and answers that are no watch, come as they are without an offer.
#[test]
fn other_answers_are_those_of_http() {
    let server = start("websocket-other");
    let answers = [
        ("/apis/example.com/v1/bars?watch=true", 404),
        (&format!("{FOOS}?watch=true&labelSelector=a%20b%20c"), 400),
        (&format!("{FOOS}/a"), 200),
    ];
    for (path, expected) in answers {
        match client(request(path), server.connect()) {
            Err(HandshakeError::Failure(Error::Http(answer))) => {
                assert_eq!(answer.status(), expected, "{path}");
            }
            other => panic!("{path}: {other:?}"),
        }
    }
}

/// An offer that is not complete is none: the events come as lines.
#[test]
fn offers_that_are_not_complete_are_none() {
    let server = start("websocket-none");
    let offers = [
        "Connection: Upgrade\r\nUpgrade: websocket\r\n",
        "Connection: Upgrade\r\nUpgrade: h2c\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: a\r\n",
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: a\r\n",
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 8\r\nSec-WebSocket-Key: a\r\n",
    ];
    for offer in offers {
        let mut stream = server.connect();
        write!(stream, "GET {FOOS}?watch=true HTTP/1.1\r\nHost: localhost\r\n{offer}\r\n").unwrap();
        let mut begin = [0; 15];
        stream.read_exact(&mut begin).unwrap();
        assert_eq!(&begin, b"HTTP/1.1 200 OK", "{offer}");
    }
}

/// Frames that break the protocol, or are too large, end the connection and nothing else.
#[test]
fn hostile_frames_end_their_connection() {
    let server = start("websocket-hostile");
    let frames: [&[u8]; 4] = [
        &[0xff; 16],
        // Not masked.
        b"\x81\x05hello",
        // A message of 2^63 bytes.
        b"\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00",
        // A ping of more than 125 bytes.
        &[b"\x89\xfe\x01\x00".as_slice(), &[0; 260]].concat(),
    ];
    for frame in frames {
        let mut socket = watch(&server, &format!("{FOOS}?watch=true"));
        let stream = socket.get_mut();
        stream.write_all(frame).unwrap();
        let mut rest = Vec::new();
        // An abrupt end is one, too.
        let _ = stream.read_to_end(&mut rest);
    }
    assert_eq!(server.send("GET", FOOS, "", "").0, 200);
}
