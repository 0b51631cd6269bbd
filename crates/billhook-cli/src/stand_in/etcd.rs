//! `etcd`: answers whether it is well, and does nothing else; `kube-apiserver` keeps its objects
//! itself (ET-12).

use std::convert::Infallible;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::process::ExitCode;

use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;

use super::{log, runtime};
use crate::listening::{Signals, listen};

const HELP: &str = "\
Usage:
  etcd [flags]

billhook in place of etcd: it accepts every flag, answers whether it is well at the URLs of
--listen-client-urls, and stores nothing; kube-apiserver of billhook keeps its objects itself.
";
/// The flag whose URLs are listened on.
const URLS: &str = "listen-client-urls";
const DEFAULT_URL: &str = "http://localhost:2379";

/// Runs until a signal comes.
pub(super) fn run(arguments: &[String]) -> ExitCode {
    let is = |names: &[&str]| arguments.iter().any(|argument| names.contains(&argument.as_str()));
    if is(&["--help", "-h", "-help"]) {
        // Whoever asked has seen enough.
        let _ = std::io::Write::write_all(&mut std::io::stdout(), HELP.as_bytes());
        return ExitCode::SUCCESS;
    }
    if is(&["--version", "-version"]) {
        let _ = std::io::Write::write_all(&mut std::io::stdout(), b"etcd Version: 3.6.0\n");
        return ExitCode::SUCCESS;
    }
    let urls = urls(arguments);
    match runtime().map_err(|error| error.to_string()).and_then(|it| it.block_on(serve(&urls))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            log::line(&format!("billhook: etcd: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// The URLs to listen on: those of the last flag, as `--flag=value`, `--flag value`, with one dash or
/// two (ET-70).
fn urls(arguments: &[String]) -> Vec<String> {
    let mut urls = DEFAULT_URL;
    for (index, argument) in arguments.iter().enumerate() {
        let flag = argument.strip_prefix("--").or_else(|| argument.strip_prefix('-'));
        match flag.and_then(|flag| flag.strip_prefix(URLS)) {
            Some("") => urls = arguments.get(index + 1).map_or(DEFAULT_URL, String::as_str),
            Some(value) => urls = value.strip_prefix('=').unwrap_or(urls),
            None => {}
        }
    }
    urls.split(',').map(str::trim).filter(|url| !url.is_empty()).map(str::to_owned).collect()
}

async fn serve(urls: &[String]) -> Result<(), String> {
    let mut signals = Signals::new().map_err(|error| error.to_string())?;
    let mut tasks = JoinSet::new();
    for url in urls {
        let failed = |error: std::io::Error| format!("cannot listen on {url}: {error}");
        match url.strip_prefix("unix://").or_else(|| url.strip_prefix("unixs://")) {
            #[cfg(unix)]
            Some(path) => {
                let listener = tokio::net::UnixListener::bind(path).map_err(failed)?;
                tasks.spawn(async move {
                    while let Ok((stream, _)) = listener.accept().await {
                        tokio::spawn(connection(stream));
                    }
                });
            }
            #[cfg(not(unix))]
            Some(_) => return Err(failed(std::io::ErrorKind::Unsupported.into())),
            None => {
                let listener = listen(address(url)?).map_err(failed)?;
                tasks.spawn(async move {
                    while let Ok((stream, _)) = listener.accept().await {
                        tokio::spawn(connection(stream));
                    }
                });
            }
        }
    }
    signals.next().await;
    Ok(())
}

fn address(url: &str) -> Result<SocketAddr, String> {
    let failed = |why: &str| format!("cannot listen on {url}: {why}");
    let host = url.strip_prefix("http://").ok_or_else(|| failed("not an http or unix URL"))?;
    let host = host.trim_end_matches('/');
    let mut found = host.to_socket_addrs().map_err(|error| failed(&error.to_string()))?;
    found.next().ok_or_else(|| failed("no address"))
}

async fn connection(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
    let service = service_fn(|request: Request<Incoming>| async move {
        Ok::<_, Infallible>(answer(request.uri().path()))
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(stream), service);
    // What goes wrong with a connection does not affect the others.
    let _ = connection.await;
}

fn answer(path: &str) -> Response<Full<Bytes>> {
    let (code, kind, body) = match path {
        "/health" => (200, "application/json", r#"{"health":"true","reason":""}"#),
        "/version" => (200, "application/json", r#"{"etcdserver":"3.6.0","etcdcluster":"3.6.0"}"#),
        "/readyz" | "/livez" => (200, "text/plain; charset=utf-8", "ok"),
        _ => (404, "text/plain; charset=utf-8", "404 page not found\n"),
    };
    let mut response = Response::new(Full::new(Bytes::from_static(body.as_bytes())));
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or_default();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ET-12, ET-70, ET-75.
    #[test]
    fn urls_are_found_among_any_flags() {
        for (arguments, expected) in [
            (&["--listen-client-urls=http://127.0.0.1:1"][..], &["http://127.0.0.1:1"][..]),
            (&["-data-dir", "x", "-listen-client-urls", "http://[::1]:2"], &["http://[::1]:2"]),
            (
                &[
                    "--listen-client-urls",
                    "unix:///a.sock,http://127.0.0.1:3",
                    "-log-level",
                    "warn",
                ],
                &["unix:///a.sock", "http://127.0.0.1:3"],
            ),
            (&["--listen-client-urls-x=http://127.0.0.1:4"], &[DEFAULT_URL]),
            (&[], &[DEFAULT_URL]),
        ] {
            let arguments: Vec<String> = arguments.iter().map(|&text| text.to_owned()).collect();
            assert_eq!(urls(&arguments), expected, "{arguments:?}");
        }
    }
}
