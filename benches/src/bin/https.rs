//! Measures `billhook serve` over HTTPS: the time that its threads are on a core for each request, and
//! how it starts.
//!
//! `billhook-https BILLHOOK` starts this command and prints a line for each figure. Requests come over
//! HTTP/2, one after the other or many at a time. Beside them a program of the same libraries answers
//! the same requests with bytes that it has at hand: what is left of a request without an API server.
//! It reads `/proc`, so it needs Linux.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use billhook_apimachinery::base64;
use billhook_benches::server::{FOOS, definition, object};
use bytes::Bytes;
use http::{Method, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper::server::conn as server;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// How many requests of a kind are made.
const REQUESTS: usize = 4000;
/// How many are made at a time.
const TOGETHER: usize = 16;
/// How many objects a list has.
const LISTED: usize = 10_000;
const LISTS: usize = 10;
const WATCHERS: usize = 1000;
/// How many watches a connection has.
const WATCHES: usize = 200;
const EVENTS: usize = 50;

/// The argument with which this program is the one that answers with bytes at hand.
const TRANSPORT: &str = "--transport";

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> ExitCode {
    let Some(command) = std::env::args_os().nth(1) else {
        eprintln!("usage: billhook-https BILLHOOK");
        return ExitCode::from(2);
    };
    let done = match command == TRANSPORT {
        true => transport().await,
        false => measure(command.as_ref()).await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn measure(command: &Path) -> Result<(), Failure> {
    let server = Server::start(command).await?;
    println!("start with a definition: {:.1?}, {} kB", server.started, server.resident()?);
    let client = server.connect().await?;
    let transport = Server::transport().await?;
    let other = transport.connect().await?;
    let text = object("NAME").to_string();
    let create = |name: String| {
        (Method::POST, FOOS.to_owned(), "application/json", text.replacen("NAME", &name, 1))
    };
    let get = |number| (Method::GET, format!("{FOOS}/many-{number:07}"), "", String::new());
    let patch = |number, size| {
        let body = format!(r#"{{"spec":{{"size":{size}}}}}"#);
        (Method::PATCH, format!("{FOOS}/many-{number:07}"), "application/merge-patch+json", body)
    };
    let row = async |name, at_a_time, wanted: &dyn Fn(usize) -> Wanted| {
        let own = time(&server, &client, at_a_time, wanted).await?;
        let bare = time(&transport, &other, at_a_time, wanted).await?;
        println!("{name}, {at_a_time} at a time: {own:.1} µs, transport alone {bare:.1} µs");
        Ok::<(), Failure>(())
    };
    row("POST", 1, &|number| create(format!("one-{number:07}"))).await?;
    row("POST", TOGETHER, &|number| create(format!("many-{number:07}"))).await?;
    row("GET", 1, &get).await?;
    row("GET", TOGETHER, &get).await?;
    row("PATCH", 1, &|number| patch(number, 2)).await?;
    row("PATCH", TOGETHER, &|number| patch(number, 3)).await?;
    let rest = |number| create(format!("rest-{number:07}"));
    call_all(&client, TOGETHER, LISTED - 2 * REQUESTS, &rest).await?;
    let before = server.on_core()?;
    for _ in 0..LISTS {
        let bytes = client.clone().call((Method::GET, FOOS.to_owned(), "", String::new())).await?;
        assert!(bytes > LISTED * 1000);
    }
    let list = (server.on_core()? - before) / LISTS as u32;
    println!("list of {LISTED}: {:.1} ms", list.as_secs_f64() * 1e3);
    watches(&server, &client, &text).await
}

/// A request: its method, path, type and body.
type Wanted = (Method, String, &'static str, String);

/// Makes requests; returns how many microseconds the server was on a core for each.
async fn time(
    server: &Server,
    client: &Client,
    at_a_time: usize,
    wanted: &dyn Fn(usize) -> Wanted,
) -> Result<f64, Failure> {
    let before = server.on_core()?;
    call_all(client, at_a_time, REQUESTS, wanted).await?;
    Ok((server.on_core()? - before).as_secs_f64() * 1e6 / REQUESTS as f64)
}

/// Makes requests, so many at a time.
async fn call_all(
    client: &Client,
    at_a_time: usize,
    count: usize,
    wanted: &dyn Fn(usize) -> Wanted,
) -> Result<(), Failure> {
    let mut calls = JoinSet::new();
    for number in 0..count {
        if calls.len() == at_a_time
            && let Some(done) = calls.join_next().await
        {
            done??;
        }
        calls.spawn(client.clone().call(wanted(number)));
    }
    while let Some(done) = calls.join_next().await {
        done??;
    }
    Ok(())
}

/// Lets many watchers see some creations.
async fn watches(server: &Server, client: &Client, text: &str) -> Result<(), Failure> {
    let mut watches = Vec::new();
    for _ in 0..WATCHERS / WATCHES {
        let mut connection = server.connect().await?;
        for _ in 0..WATCHES {
            let path = format!("{FOOS}?watch=1");
            let path = format!("{path}&resourceVersion={}", server.revision(client).await?);
            watches.push(connection.send((Method::GET, path, "", String::new())).await?);
        }
    }
    let create = |number| {
        let body = text.replacen("NAME", &format!("seen-{number}"), 1);
        (Method::POST, FOOS.to_owned(), "application/json", body)
    };
    let before = server.on_core()?;
    let mut seen = JoinSet::new();
    for watch in watches {
        seen.spawn(see(watch));
    }
    call_all(client, 1, EVENTS, &create).await?;
    while let Some(seen) = seen.join_next().await {
        seen??;
    }
    let time = (server.on_core()? - before).as_secs_f64() * 1e6 / (EVENTS * WATCHERS) as f64;
    println!("an event for one of {WATCHERS} watchers: {time:.1} µs");
    Ok(())
}

/// Reads the events of a watch.
async fn see(watch: http::Response<Incoming>) -> Result<(), Failure> {
    let (mut body, mut lines) = (watch.into_body(), 0);
    while lines < EVENTS {
        let frame = body.frame().await.ok_or("the watch has ended")??;
        let data = frame.into_data().unwrap_or_default();
        lines += data.iter().filter(|byte| **byte == b'\n').count();
    }
    Ok(())
}

/// Answers requests with their bodies, or with an object, until it is killed. Its certificate and where
/// it listens are printed.
async fn transport() -> Result<(), Failure> {
    let pair = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()])?;
    let key = PrivateKeyDer::from_pem_slice(pair.signing_key.serialize_pem().as_bytes())?;
    let config = ServerConfig::builder().with_no_client_auth();
    let mut config = config.with_single_cert(vec![pair.cert.der().clone()], key)?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{} {}", listener.local_addr()?, base64::encode(pair.cert.der()));
    let object = Bytes::from(object("one").to_string());
    loop {
        let stream = listener.accept().await?.0;
        stream.set_nodelay(true)?;
        let stream = acceptor.accept(stream).await?;
        let object = object.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let object = object.clone();
            async move {
                let body = request.into_body().collect().await?.to_bytes();
                let body = if body.is_empty() { object } else { body };
                Ok::<_, hyper::Error>(http::Response::new(Full::new(body)))
            }
        });
        tokio::spawn(
            server::http2::Builder::new(TokioExecutor::new())
                .serve_connection(TokioIo::new(stream), service),
        );
    }
}

/// A running server, which ends with this.
struct Server {
    child: Child,
    folder: Option<PathBuf>,
    started: Duration,
    address: String,
    config: Arc<ClientConfig>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(folder) = &self.folder {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

impl Server {
    /// `billhook serve` with a definition.
    async fn start(command: &Path) -> Result<Self, Failure> {
        let folder = std::env::temp_dir().join(format!("billhook-https-{}", std::process::id()));
        std::fs::create_dir(&folder)?;
        let (crd, kubeconfig) = (folder.join("crd.json"), folder.join("kubeconfig"));
        std::fs::write(&crd, definition("foos").to_string())?;
        let begin = Instant::now();
        let mut child = Command::new(command)
            .args(["serve", "--listen", "127.0.0.1:0", "--crd"])
            .arg(&crd)
            .arg("--write-kubeconfig")
            .arg(&kubeconfig)
            .stdout(Stdio::piped())
            .spawn()?;
        first_line(&mut child).await?;
        let started = begin.elapsed();
        let text = std::fs::read(&kubeconfig)?;
        let document = billhook_yaml::read_document(&text)?;
        let config = Arc::new(tls(document.value())?);
        let url = document.value().pointer("/clusters/0/cluster/server").and_then(Value::as_str);
        let url: Uri = url.ok_or("no server")?.parse()?;
        let address = url.authority().ok_or("no address")?.to_string();
        Ok(Server { child, folder: Some(folder), started, address, config })
    }

    /// The program that answers with bytes at hand.
    async fn transport() -> Result<Self, Failure> {
        let begin = Instant::now();
        let mut command = Command::new(std::env::current_exe()?);
        let mut child = command.arg(TRANSPORT).stdout(Stdio::piped()).spawn()?;
        let line = first_line(&mut child).await?;
        let (address, certificate) = line.trim().split_once(' ').ok_or("no address")?;
        let certificate = base64::decode(certificate).map_err(|_| "no certificate")?;
        let mut roots = RootCertStore::empty();
        roots.add(certificate.into())?;
        let config = ClientConfig::builder().with_root_certificates(roots);
        let mut config = config.with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec()];
        let (address, config) = (address.to_owned(), Arc::new(config));
        Ok(Server { child, folder: None, started: begin.elapsed(), address, config })
    }

    async fn connect(&self) -> Result<Client, Failure> {
        let stream = TcpStream::connect(&self.address).await?;
        stream.set_nodelay(true)?;
        let name = ServerName::try_from("127.0.0.1")?;
        let stream = TlsConnector::from(Arc::clone(&self.config)).connect(name, stream).await?;
        let (send, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Client { send, address: self.address.clone() })
    }

    /// The newest revision.
    async fn revision(&self, client: &Client) -> Result<String, Failure> {
        let path = format!("{FOOS}?limit=1");
        let answer = client.clone().send((Method::GET, path, "", String::new())).await?;
        let list: Value = serde_json::from_slice(&answer.into_body().collect().await?.to_bytes())?;
        let revision = list.pointer("/metadata/resourceVersion").and_then(Value::as_str);
        Ok(revision.ok_or("no revision")?.to_owned())
    }

    /// How long its threads were on a core.
    fn on_core(&self) -> Result<Duration, Failure> {
        let mut nanoseconds = 0;
        for task in std::fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let text = std::fs::read_to_string(task?.path().join("schedstat"))?;
            nanoseconds += text.split(' ').next().unwrap_or_default().parse::<u64>()?;
        }
        Ok(Duration::from_nanos(nanoseconds))
    }

    /// Its resident memory in kilobytes.
    fn resident(&self) -> Result<String, Failure> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        Ok(line.unwrap_or_default().trim().trim_end_matches(" kB").to_owned())
    }
}

/// Waits for what a server prints when it listens.
async fn first_line(child: &mut Child) -> Result<String, Failure> {
    let output = child.stdout.take().ok_or("no output")?;
    let mut line = String::new();
    let output = tokio::process::ChildStdout::from_std(output)?;
    BufReader::new(output).read_line(&mut line).await?;
    Ok(line)
}

/// The settings of a client with the credentials of a configuration.
fn tls(kubeconfig: &Value) -> Result<ClientConfig, Failure> {
    let read = |place: &str| -> Result<Vec<u8>, Failure> {
        let text = kubeconfig.pointer(place).and_then(Value::as_str).ok_or(place)?;
        Ok(base64::decode(text).map_err(|_| place)?)
    };
    let mut roots = RootCertStore::empty();
    let authority = read("/clusters/0/cluster/certificate-authority-data")?;
    roots.add(CertificateDer::from_pem_slice(&authority)?)?;
    let certificate = read("/users/0/user/client-certificate-data")?;
    let chain = CertificateDer::pem_slice_iter(&certificate).collect::<Result<Vec<_>, _>>()?;
    let key = PrivateKeyDer::from_pem_slice(&read("/users/0/user/client-key-data")?)?;
    let config = ClientConfig::builder().with_root_certificates(roots);
    let mut config = config.with_client_auth_cert(chain, key)?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(config)
}

/// A connection. Clones are the same.
#[derive(Clone)]
struct Client {
    send: SendRequest<Full<Bytes>>,
    address: String,
}

impl Client {
    async fn send(
        &mut self,
        (method, path, type_, body): Wanted,
    ) -> Result<http::Response<Incoming>, Failure> {
        let request = Request::builder()
            .method(method)
            .uri(format!("https://{}{path}", self.address))
            .header(header::CONTENT_TYPE, type_)
            .header(header::ACCEPT, "application/json")
            .header(header::USER_AGENT, "benches");
        self.send.ready().await?;
        let answer = self.send.send_request(request.body(Full::from(body))?).await?;
        match answer.status() {
            StatusCode::OK | StatusCode::CREATED => Ok(answer),
            status => Err(status.to_string().into()),
        }
    }

    /// Reads the whole answer; returns how long it is.
    async fn call(mut self, wanted: Wanted) -> Result<usize, Failure> {
        let mut body = self.send(wanted).await?.into_body();
        let mut length = 0;
        while let Some(frame) = body.frame().await {
            length += frame?.into_data().unwrap_or_default().len();
        }
        Ok(length)
    }
}
