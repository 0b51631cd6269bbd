//! The order of checks: several mistakes in one request, and the one that the answer is about
//! (17 and 18).

use billhook_apiserver::Server;
use http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, call, definition, server, text};

const FOOS: &str = "/apis/example.com/v1/namespaces/default/foos";

/// A server with a `Foo` called `a`, and other resources of the group: `bars` with an old version
/// and `scale`, and `orbs` of the cluster.
async fn full_server() -> Server {
    let mut bars = definition();
    bars["metadata"]["name"] = "bars.example.com".into();
    bars["spec"]["names"] = json!({"plural": "bars", "kind": "Bar", "listKind": "BarList"});
    let version = bars["spec"]["versions"][0].clone();
    let mut old = version.clone();
    old["name"] = "v1beta1".into();
    old["deprecated"] = true.into();
    old["storage"] = false.into();
    bars["spec"]["versions"] = json!([version, old]);
    bars["spec"]["versions"][0]["subresources"]["scale"] =
        json!({"specReplicasPath": ".spec.a", "statusReplicasPath": ".status.a"});
    let mut orbs = definition();
    orbs["metadata"]["name"] = "orbs.example.com".into();
    orbs["spec"]["names"] = json!({"plural": "orbs", "kind": "Orb", "listKind": "OrbList"});
    orbs["spec"]["scope"] = "Cluster".into();
    let builder = Server::builder().definition(&definition()).unwrap();
    let server = builder.definition(&bars).unwrap().definition(&orbs).unwrap().build();
    send(&server, "POST P", "", &object("Foo", "a").to_string()).await;
    server
}

fn object(kind: &str, name: &str) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": kind, "metadata": {"name": name},
        "spec": {"a": 1}})
}

/// Sends `METHOD path` with `name: value` headers between bars. The path may begin with `P`, that of
/// the `foos`; `N`, that of those in a namespace that does not exist; or `W`, that of their watch in
/// the old form.
async fn send(server: &Server, request: &str, headers: &str, body: &str) -> Answer {
    let (method, path) = request.split_once(' ').unwrap();
    let path = match path.split_at(1) {
        ("P", rest) => format!("{FOOS}{rest}"),
        ("N", rest) => format!("/apis/example.com/v1/namespaces/none/foos{rest}"),
        ("W", rest) => format!("/apis/example.com/v1/watch/namespaces/default/foos{rest}"),
        _ => path.to_owned(),
    };
    let headers: Vec<_> = headers.split('|').filter_map(|header| header.split_once(": ")).collect();
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    call(server, method, &path, &headers, body).await
}

type Case = (&'static str, &'static str, &'static str, u16, &'static str);

async fn check(cases: &[Case]) {
    let mut wrong = Vec::new();
    for (request, headers, body, code, message) in cases {
        let server = full_server().await;
        let big;
        let body = match *body {
            "BIG" => {
                big = " ".repeat((3 << 20) + 1);
                &big
            }
            body => body,
        };
        let answer = send(&server, request, headers, body).await;
        let found = serde_json::from_str::<Value>(&answer.text);
        let found = found.map_or(answer.text, |status| text(&status, "/message"));
        if answer.code != *code || found != *message {
            let body = body.get(..60).unwrap_or(body);
            wrong.push(format!(
                "{request} [{headers}] {body}\n    {} {found}\n    not {code} {message}",
                answer.code
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

const NOT_FOUND: &str = "404 page not found\n";
const NOT_ACCEPTABLE: &str = "only the following media types are accepted: application/json, \
                              application/yaml, application/vnd.kubernetes.protobuf";
const TOO_LARGE: &str = "Request entity too large: limit is 3145728";
const UNSUPPORTED: &str = "the body of the request was in an unknown format - accepted media types \
                           include: application/json, application/yaml, \
                           application/vnd.kubernetes.protobuf";
const UNSUPPORTED_PATCH: &str = "the body of the request was in an unknown format - accepted media \
                                 types include: application/json-patch+json, \
                                 application/merge-patch+json, application/apply-patch+yaml";
const NAME: &str = "name must be provided";
const NO_RANGE: &str = "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: \
                        resourceVersionMatch is forbidden unless resourceVersion is provided";

/// RE-01 to RE-06, RE-09.
#[tokio::test(start_paused = true)]
async fn paths_come_first() {
    check(&[
        ("GET /apis/example.com/v1/namespaces/default/nothing?limit=x", "accept: text/html", "", 404, NOT_FOUND),
        ("POST /apis/example.com/v1/foos", "content-type: text/plain", "BIG", 404, NOT_FOUND),
        ("DELETE /apis/example.com/v1/foos", "", "", 404, NOT_FOUND),
        ("GET /apis/example.com/v1/foos/a", "", "", 404, NOT_FOUND),
        ("GET /apis/example.com/v1/namespaces/default/orbs", "", "", 404, NOT_FOUND),
        ("GET /apis/example.com/v2/namespaces/default/foos", "", "", 404, NOT_FOUND),
        ("GET P//a", "", "", 404, "foos.example.com \"\" not found"),
        ("GET P//status", "", "", 405, "list is not supported on resources of kind \"foos.example.com\""),
        ("PUT P//status", "", "", 400, NAME),
        ("GET P/a/scale", "accept: text/html", "", 404, "foos.example.com \"a\" not found"),
        ("POST P/a/log", "content-type: text/plain", "", 404, "foos.example.com \"a\" not found"),
        ("OPTIONS P/a/log", "", "", 404, "foos.example.com \"a\" not found"),
        ("OPTIONS P/a", "accept: text/html", "", 405, " is not supported on resources of kind \"foos.example.com\""),
        ("POST P/a/status", "", "", 405, "create is not supported on resources of kind \"foos.example.com\""),
        ("GET W/a/status", "", "", 405,
            "watch is not supported on resources of kind \"foos.example.com\""),
        ("GET P/a/status/more?resourceVersion=x", "", "", 500,
            "resourceVersion: Invalid value: \"x\": strconv.ParseUint: parsing \"x\": invalid syntax"),
        ("PUT P", "accept: text/html", "BIG", 400, NAME),
        ("PATCH P", "content-type: text/plain|accept: text/html", "", 415, UNSUPPORTED_PATCH),
        ("PATCH P", "content-type: application/merge-patch+json|accept: text/html", "", 400, NAME),
    ])
    .await;
}

/// RE-22: before everything else, but not for watches.
#[tokio::test(start_paused = true)]
async fn the_time_is_checked_first() {
    const INVALID: &str =
        "invalid timeout specified in the request URL - time: invalid duration \"x\"";
    check(&[
        ("GET /healthz?timeout=x", "", "", 400, INVALID),
        ("GET /nothing?timeout=x", "", "", 400, INVALID),
        ("GET P/a?watch=1&timeout=x", "", "", 400, INVALID),
        ("POST P?watch=1&timeout=x", "", "", 400, INVALID),
        ("PATCH P/a?timeout=x", "content-type: text/plain", "", 400, INVALID),
        (
            "GET P?watch=1&timeout=x&timeoutSeconds=y",
            "",
            "",
            400,
            "strconv.ParseInt: parsing \"y\": invalid syntax",
        ),
        (
            "GET /apis/example.com/v1/watch/foos?timeout=x&timeoutSeconds=y",
            "",
            "",
            400,
            "strconv.ParseInt: parsing \"y\": invalid syntax",
        ),
    ])
    .await;
    let server = server();
    let yaml = send(&server, "GET P?timeout=x", "accept: application/yaml", "").await;
    assert_eq!(yaml.headers["content-type"], "application/yaml");
}

/// RE-40 to RE-42.
#[tokio::test(start_paused = true)]
async fn reads_are_checked_in_order() {
    const EXPORT: &str = "the export parameter, deprecated since v1.14, is no longer supported";
    check(&[
        ("GET P/a?export=1", "accept: text/html", "", 406, NOT_ACCEPTABLE),
        ("GET P/a%25b?export=1&resourceVersion=x", "", "", 400, EXPORT),
        ("GET P/a%25b?resourceVersion=x", "", "", 400, "Name parameter invalid: \"a%b\": may not contain '%'"),
        ("GET P/none?resourceVersion=x", "", "", 500,
            "resourceVersion: Invalid value: \"x\": strconv.ParseUint: parsing \"x\": invalid syntax"),
        ("GET P/none", "", "BIG", 404, "foos.example.com \"none\" not found"),
        ("DELETE P/%2e%2e", "", "", 400, "Name parameter invalid: \"..\": may not be '..'"),
        ("DELETE P/a%25b?dryRun=x", "", "", 422,
            "DeleteOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"x\"]: supported values: \"All\""),
        ("PATCH P/a%25b", "content-type: application/merge-patch+json", "{", 400,
            "Name parameter invalid: \"a%b\": may not contain '%'"),
    ])
    .await;
}

/// RE-04, RE-50 to RE-59.
#[tokio::test(start_paused = true)]
async fn lists_are_checked_in_order() {
    const INVALID: &str = "strconv.ParseInt: parsing \"y\": invalid syntax";
    check(&[
        ("GET P?timeoutSeconds=y", "accept: text/html", "", 406, NOT_ACCEPTABLE),
        ("GET P?limit=x&timeoutSeconds=y", "", "", 400, INVALID),
        ("GET P?limit=y&labelSelector=!!", "", "", 400, INVALID),
        ("GET P?limit=", "", "", 400, "strconv.ParseInt: parsing \"\": invalid syntax"),
        ("GET P?fieldSelector=x&labelSelector=a,", "", "", 400, "found '', expected: identifier after ','"),
        ("GET P?fieldSelector=b,a&resourceVersionMatch=Exact", "", "", 400,
            "invalid selector: 'b,a'; can't understand 'a'"),
        ("GET P?fieldSelector=x=1&resourceVersionMatch=Exact", "", "", 422, NO_RANGE),
        ("GET P?fieldSelector=x=1,b=1&continue=!!", "", "", 400, "field label not supported: b"),
        ("GET P?continue=!!&resourceVersion=x", "", "", 400,
            "specifying resource version is not allowed when using continue"),
        ("GET P?continue=!!", "", "", 400, "invalid continue token: continue key is not valid: illegal base64 data at input byte 0"),
        ("GET P?limit=1&resourceVersion=-1", "", "", 400,
            "invalid resource version: resourceVersion: Invalid value: \"-1\": strconv.ParseUint: parsing \"-1\": invalid syntax"),
        ("GET P?resourceVersionMatch=x&continue=y&sendInitialEvents=", "", "", 422,
            "ListOptions.meta.k8s.io \"\" is invalid: [resourceVersionMatch: Forbidden: \
             resourceVersionMatch is forbidden unless resourceVersion is provided, \
             resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided, \
             resourceVersionMatch: Unsupported value: \"x\": supported values: \"Exact\", \"NotOlderThan\", \"\", \
             sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list]"),
    ])
    .await;
}

/// RE-58.
#[tokio::test(start_paused = true)]
async fn tokens_are_checked_in_order() {
    let server = full_server().await;
    for (token, expected) in [
        (r#"{"v":"x","rv":0}"#, "server does not recognize this encoded version x"),
        (
            r#"{"v":"meta.k8s.io/v1","rv":0,"start":"../x"}"#,
            "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
        ),
        (
            r#"{"v":"meta.k8s.io/v1","rv":1,"start":""}"#,
            "encoded start key empty (version meta.k8s.io/v1)",
        ),
        (r#"{"v":"meta.k8s.io/v1","rv":1,"start":"../x"}"#, "../x"),
        (r#"{"v":"meta.k8s.io/v1","rv":1,"start":"/../x"}"#, "/../x"),
        (r#"{"v":"meta.k8s.io/v1","rv":1,"start":"/a//x"}"#, "/a//x"),
        (r#"{"v":"meta.k8s.io/v1","rv":1,"start":"a/./x"}"#, "a/./x"),
    ] {
        let answer = send(&server, &format!("GET P?continue={}", base64(token)), "", "").await;
        let expected = format!("invalid continue token: continue key is not valid: {expected}");
        assert_eq!((answer.code, answer.message()), (400, expected), "{token}");
    }
    for (token, place) in
        [("e30=", 3), ("a%2Bb", 1), ("ab/c", 2), ("e", 0), ("abcde", 4), ("%C3%BCa", 0)]
    {
        let answer = send(&server, &format!("GET P?continue={token}"), "", "").await;
        let expected = format!(
            "invalid continue token: continue key is not valid: illegal base64 data at input byte {place}"
        );
        assert_eq!(answer.message(), expected, "{token}");
    }
}

/// The alphabet of URLs, without padding.
fn base64(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    text.as_bytes()
        .chunks(3)
        .flat_map(|chunk| {
            let number = chunk.iter().fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte))
                << (8 * (3 - chunk.len()));
            (0..=chunk.len())
                .map(move |place| char::from(DIGITS[(number >> (18 - 6 * place)) as usize & 63]))
        })
        .collect()
}

/// RE-61 to RE-66, RE-141.
#[tokio::test(start_paused = true)]
async fn creations_are_checked_in_order() {
    const NO_NAMESPACE: &str = "namespaces \"none\" not found";
    check(&[
        ("POST P?dryRun=x", "content-type: text/plain|accept: text/html", "BIG", 406, NOT_ACCEPTABLE),
        ("POST P?dryRun=x", "content-type: text/plain", "BIG", 415, UNSUPPORTED),
        ("POST P?dryRun=x", "", "BIG", 413, TOO_LARGE),
        ("POST P?dryRun=x&fieldValidation=y", "", "{", 422,
            "CreateOptions.meta.k8s.io \"\" is invalid: [dryRun: Unsupported value: [\"x\"]: supported values: \"All\", \
             fieldValidation: Unsupported value: \"y\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"]"),
        ("POST N?fieldValidation=Strict", "", r#"{"apiVersion": "example.com/v2", "kind": "Foo", "spec": {"x": 1}}"#, 400,
            "Foo in version \"v2\" cannot be handled as a Foo: strict decoding error: unknown field \"spec\""),
        ("POST N", "", r#"{"apiVersion": "example.com/v2", "kind": "Foo"}"#, 400,
            "the API version in the data (example.com/v2) does not match the expected API version (example.com/v1)"),
        ("POST N", "", r#"{"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"namespace": "x"}}"#, 400,
            "the namespace of the provided object does not match the namespace sent on the request"),
        ("POST N", "", r#"{"apiVersion": "example.com/v1", "kind": "Foo"}"#, 404, NO_NAMESPACE),
        ("POST P", "", r#"{"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"resourceVersion": "5"}}"#, 422,
            "Foo.example.com \"\" is invalid: metadata.name: Required value: name or generateName is required"),
        ("POST P", "", r#"{"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a", "resourceVersion": "5"}}"#, 500,
            "resourceVersion should not be set on objects to be created"),
        ("POST P", "", r#"{"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a", "resourceVersion": "x"}}"#, 409,
            "foos.example.com \"a\" already exists"),
        ("POST P", "", r#"{"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a", "generateName": "b"}}"#, 409,
            "foos.example.com \"a\" already exists, the server was not able to generate a unique name for the object"),
        ("PATCH N/x?fieldManager=m", "content-type: application/apply-patch+yaml",
            "{apiVersion: example.com/v1, kind: Foo, metadata: {name: z}}", 400,
            "the name of the object (z) does not match the name on the URL (x)"),
        ("PATCH N/x?fieldManager=m", "content-type: application/apply-patch+yaml",
            "{apiVersion: example.com/v1, kind: Foo}", 400,
            "the name of the object (x based on URL) was undeterminable: name must be provided"),
        ("PATCH N/x?fieldManager=m", "content-type: application/apply-patch+yaml",
            "{apiVersion: example.com/v1, kind: Foo, metadata: {name: x}}", 404, NO_NAMESPACE),
        ("PATCH N/x/status?fieldManager=m", "content-type: application/apply-patch+yaml",
            "{apiVersion: example.com/v1, kind: Foo, metadata: {name: x}}", 404, "foos.example.com \"x\" not found"),
    ])
    .await;
}

/// RE-70 to RE-77.
#[tokio::test(start_paused = true)]
async fn updates_are_checked_in_order() {
    check(&[
        ("PUT P/a?dryRun=x", "accept: text/html", "BIG", 406, NOT_ACCEPTABLE),
        ("PUT P/a?dryRun=x", "content-type: text/plain", "BIG", 413, TOO_LARGE),
        ("PUT P/a?dryRun=x", "content-type: text/plain", "{", 422,
            "UpdateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"x\"]: supported values: \"All\""),
        ("PUT P/a", "content-type: text/plain", "{", 415, UNSUPPORTED),
        ("PUT P/none", "", r#"{"apiVersion": "example.com/v2", "kind": "Foo", "metadata": {"namespace": "x"}}"#, 400,
            "the API version in the data (example.com/v2) does not match the expected API version (example.com/v1)"),
        ("PUT P/none", "", r#"{"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"namespace": "x", "name": "y"}}"#, 400,
            "the namespace of the provided object does not match the namespace sent on the request"),
        ("PUT P/none", "", r#"{"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "y"}}"#, 400,
            "the name of the object (y) does not match the name on the URL (none)"),
        ("PUT P/none", "", r#"{"apiVersion": "example.com/v1", "kind": "Foo"}"#, 400,
            "the name of the object (none based on URL) was undeterminable: name must be provided"),
        ("PUT P/none", "", r#"{"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "none", "uid": "x"}}"#, 404,
            "foos.example.com \"none\" not found"),
        ("PUT N/a", "", r#"{"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a"}}"#, 404,
            "foos.example.com \"a\" not found"),
        ("PUT P/a", "", r#"{"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a", "resourceVersion": "x"}, "spec": {"a": "x"}}"#, 500,
            "strconv.ParseUint: parsing \"x\": invalid syntax"),
        ("PUT P/a", "", r#"{"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a", "resourceVersion": "1"}, "spec": {"a": "x"}}"#, 409,
            "Operation cannot be fulfilled on foos.example.com \"a\": the object has been modified; please apply your changes to the latest version and try again"),
    ])
    .await;
}

/// RE-80 to RE-84, RE-90.
#[tokio::test(start_paused = true)]
async fn patches_are_checked_in_order() {
    const MERGE: &str = "content-type: application/merge-patch+json";
    check(&[
        ("PATCH P/a?dryRun=x", "content-type: Application/merge-patch+json|accept: text/html", "BIG", 415, UNSUPPORTED_PATCH),
        ("PATCH P/a?dryRun=x", "content-type: application/merge-patch+json;x|accept: text/html", "BIG", 406, NOT_ACCEPTABLE),
        ("PATCH P/a?dryRun=x", "content-type: application/merge-patch+json ; x", "", 415, UNSUPPORTED_PATCH),
        ("PATCH P/a?dryRun=x", MERGE, "BIG", 413, TOO_LARGE),
        ("PATCH P/none?force=&dryRun=x", MERGE, "{", 422,
            "PatchOptions.meta.k8s.io \"\" is invalid: [force: Forbidden: may not be specified for non-apply patch, \
             dryRun: Unsupported value: [\"x\"]: supported values: \"All\"]"),
        ("PATCH P/none", MERGE, "{", 404, "foos.example.com \"none\" not found"),
        ("PATCH P/a", MERGE, r#"{"metadata": {"name": "b", "namespace": "c"}}"#, 400,
            "the namespace of the provided object does not match the namespace sent on the request"),
        ("PATCH P/a", MERGE, r#"{"metadata": {"name": "b", "resourceVersion": "1"}}"#, 400,
            "the name of the object (b) does not match the name on the URL (a)"),
        ("PATCH P/a", MERGE, r#"{"metadata": {"resourceVersion": "1", "uid": "x"}, "spec": {"a": "x"}}"#, 409,
            "Operation cannot be fulfilled on foos.example.com \"a\": the object has been modified; please apply your changes to the latest version and try again"),
        ("PATCH P/a", MERGE, r#"{"metadata": {"resourceVersion": null}}"#, 422,
            "foos.example.com \"a\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update"),
        ("PATCH P/a?dryRun=x&fieldValidation=y", "content-type: application/apply-patch+yaml", "{", 422,
            "PatchOptions.meta.k8s.io \"\" is invalid: [fieldManager: Required value: is required for apply patch, \
             dryRun: Unsupported value: [\"x\"]: supported values: \"All\", \
             fieldValidation: Unsupported value: \"y\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"]"),
    ])
    .await;
}

/// RE-110 to RE-112, RE-120.
#[tokio::test(start_paused = true)]
async fn deletions_are_checked_in_order() {
    check(&[
        ("DELETE P/a", "content-type: text/plain|accept: text/html", "BIG", 406, NOT_ACCEPTABLE),
        ("DELETE P/a", "content-type: text/plain", "BIG", 413, TOO_LARGE),
        ("DELETE P/a", "content-type: text/plain", "{", 415, UNSUPPORTED),
        ("DELETE P/none", "", " ", 400, "couldn't get version/kind; json parse error: unexpected end of JSON input"),
        ("DELETE P/none", "", "[]", 400,
            "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type \
             struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }"),
        ("DELETE P/none", "", r#"{"kind": 5}"#, 400,
            "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string"),
        ("DELETE P/none", "", r#"{"kind": "Foo"}"#, 400, "no kind \"Foo\" is registered for version \"meta.k8s.io/v1\" in scheme \"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27\""),
        ("DELETE P/none", "", r#"{"propagationPolicy": 5}"#, 400,
            "json: cannot unmarshal number into Go struct field DeleteOptions.propagationPolicy of type v1.DeletionPropagation"),
        ("DELETE P/none?dryRun=x", "", "null", 404, "foos.example.com \"none\" not found"),
        ("DELETE P/none?gracePeriodSeconds=x&propagationPolicy=y", "", "", 400, "strconv.ParseInt: parsing \"x\": invalid syntax"),
        ("DELETE P/none?propagationPolicy=y&uid=x", "", "", 422,
            "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: \"y\": supported values: \
             \"Foreground\", \"Background\", \"Orphan\", \"nil\""),
        ("DELETE P/none?uid=x", "", "", 404, "foos.example.com \"none\" not found"),
        ("DELETE P/a?resourceVersion=1&uid=", "", "", 409,
            "Operation cannot be fulfilled on Foo.example.com \"a\": the ResourceVersion in the precondition (1) does not match the \
             ResourceVersion in record (11). The object might have been modified"),
        // Of collections the list comes first, but only what can be said without reading it.
        ("DELETE P?dryRun=x&limit=y", "content-type: text/plain", "BIG", 400, "strconv.ParseInt: parsing \"y\": invalid syntax"),
        ("DELETE P?resourceVersionMatch=Exact", "content-type: text/plain", "BIG", 422, NO_RANGE),
        ("DELETE P?fieldSelector=x=y", "content-type: text/plain", "BIG", 400, "field label not supported: x"),
        ("DELETE P?continue=!!", "content-type: text/plain", "BIG", 413, TOO_LARGE),
        ("DELETE P?continue=!!", "content-type: text/plain", "{", 415, UNSUPPORTED),
        ("DELETE P?continue=!!&dryRun=x", "", "", 422,
            "DeleteOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"x\"]: supported values: \"All\""),
        ("DELETE P?continue=!!", "", "", 400,
            "invalid continue token: continue key is not valid: illegal base64 data at input byte 0"),
    ])
    .await;
}

/// WA-02 to WA-06, WA-10.
#[tokio::test(start_paused = true)]
async fn watches_are_checked_in_order() {
    const STREAM: &str = "only the following media types are accepted: application/json;stream=watch, \
                          application/vnd.kubernetes.protobuf;stream=watch";
    const REVISION: &str =
        "resourceVersion: Invalid value: \"x\": strconv.ParseUint: parsing \"x\": invalid syntax";
    check(&[
        ("GET P?watch=1&timeoutSeconds=y", "accept: text/html", "", 406, NOT_ACCEPTABLE),
        ("GET P?watch=1&timeoutSeconds=y", "accept: application/json;stream=foo", "", 406, NOT_ACCEPTABLE),
        ("GET P?watch=1&limit=y&sendInitialEvents=1", "accept: application/json;as=Table;v=v1;g=meta.k8s.io", "", 400,
            "strconv.ParseInt: parsing \"y\": invalid syntax"),
        ("GET P?watch=1&sendInitialEvents=0&fieldSelector=x=1&continue=y&resourceVersionMatch=z", "", "", 422,
            "ListOptions.meta.k8s.io \"\" is invalid: [resourceVersionMatch: Forbidden: sendInitialEvents requires setting \
             resourceVersionMatch to NotOlderThan, resourceVersionMatch: Unsupported value: \"z\": supported values: \"NotOlderThan\", \
             resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided]"),
        ("GET P?watch=1&continue=y", "", "", 422,
            "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided"),
        ("GET P?watch=1&continue=y&resourceVersion=x", "", "", 500, REVISION),
        ("GET P?watch=1&fieldSelector=x=1&resourceVersion=x", "", "", 400, "field label not supported: x"),
        ("GET P?watch=1&resourceVersion=x", "accept: application/json;as=Table;v=v1;g=meta.k8s.io, application/json", "", 500, REVISION),
        ("GET P?watch=1&includeObject=x", "accept: application/json;as=Table;v=v1;g=meta.k8s.io, application/json", "", 400,
            "Unable to convert to Table as requested: includeObject: Invalid value: \"x\": must be 'Metadata', 'Object', 'None', or empty"),
        // The old form.
        ("GET W?sendInitialEvents=1", "", "", 422,
            "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"),
        ("GET W?resourceVersionMatch=Exact", "", "", 422, NO_RANGE),
        ("GET W?watch=1&resourceVersionMatch=Exact", "", "", 422,
            "ListOptions.meta.k8s.io \"\" is invalid: [resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch \
             unless sendInitialEvents is provided, resourceVersionMatch: Unsupported value: \"Exact\": supported values: \"NotOlderThan\"]"),
        ("GET W/a?fieldSelector=metadata.name=b&resourceVersion=x", "", "", 400,
            "fieldSelector metadata.name doesn't match requested name"),
        ("GET W/a?fieldSelector=spec.color=red&resourceVersion=x", "", "", 400,
            "fieldSelector metadata.name doesn't match requested name"),
        ("GET W/a?fieldSelector=metadata.name=a,spec.color=red&resourceVersion=x", "", "", 500, REVISION),
    ])
    .await;
    let server = full_server().await;
    // WA-04: the choice of YAML is not made again, and failures come in it.
    let yaml = "accept: application/yaml, application/json";
    for (request, code, expected) in [
        ("GET P?watch=1", 406, STREAM),
        ("GET P?watch=1&resourceVersion=x", 500, REVISION),
        ("GET P?watch=1&fieldSelector=x=1&resourceVersion=x", 400, "field label not supported: x"),
    ] {
        let answer = send(&server, request, yaml, "").await;
        assert_eq!(
            (answer.code, &answer.headers["content-type"]),
            (code, &"application/yaml".parse().unwrap())
        );
        let text = answer.text.replace("\n  ", " ");
        assert!(text.contains(expected), "{text}");
    }
}

/// RE-25: who uses an old version is warned, however the request fails.
#[tokio::test(start_paused = true)]
async fn old_versions_are_warned_about_whatever_is_wrong() {
    let server = full_server().await;
    let bars = "/apis/example.com/v1beta1/namespaces/default/bars";
    let expected = ["299 - \"example.com/v1beta1 Bar is deprecated; use example.com/v1 Bar\""];
    for (request, headers, body) in [
        ("GET B/a/log", "", ""),
        ("POST B/a/status", "", ""),
        ("GET B", "accept: text/html", ""),
        ("POST B", "content-type: text/plain", ""),
        ("POST B?dryRun=x", "", "{}"),
        ("POST B", "", "{"),
        ("PUT B/a", "", "{}"),
        ("PATCH B", "", ""),
        ("PATCH B/a", "content-type: application/merge-patch+json", "{}"),
        ("DELETE B/a", "", ""),
        ("DELETE B?dryRun=x", "", ""),
        ("DELETE B", "", ""),
        ("GET B?watch=1&timeoutSeconds=1", "", ""),
    ] {
        let request = request.replacen('B', bars, 1);
        assert_eq!(send(&server, &request, headers, body).await.warnings, expected, "{request}");
    }
}

/// RE-15.
#[tokio::test]
async fn all_answers_have_headers_in_common() {
    let server = full_server().await;
    let long = "x".repeat(70);
    for (request, code) in [
        ("GET P/a", 200),
        ("GET P/none", 404),
        ("GET /nothing", 404),
        ("GET /healthz", 200),
        ("GET /version", 200),
        ("GET P/a?timeout=x", 400),
        ("GET P?watch=1&timeoutSeconds=1&resourceVersion=x", 500),
    ] {
        let answer = send(&server, request, &format!("audit-id: {long}"), "").await;
        assert_eq!(
            (answer.code, &answer.headers["cache-control"]),
            (code, &"no-cache, private".parse().unwrap())
        );
        assert_eq!(answer.headers["audit-id"].to_str().unwrap(), "x".repeat(64), "{request}");
        let [one, other] =
            [send(&server, request, "", "").await, send(&server, request, "", "").await];
        assert_eq!(one.headers["audit-id"].len(), 36);
        assert_ne!(one.headers["audit-id"], other.headers["audit-id"]);
    }
}

/// RE-24: the name of a program may be in any script.
#[tokio::test]
async fn programs_manage_fields() {
    let server = full_server().await;
    for (agent, manager) in [("größe/1", "größe"), ("a\tb/1", "ab"), ("/1", "unknown")] {
        let created = send(
            &server,
            "POST P?dryRun=All",
            &format!("user-agent: {agent}"),
            &object("Foo", "b").to_string(),
        )
        .await;
        assert_eq!(
            created.json()["metadata"]["managedFields"][0]["manager"],
            manager,
            "{}",
            created.text
        );
    }
}

/// RE-26: every existing reference is reported, one after the other.
#[tokio::test]
async fn repeated_owners_are_told() {
    let mut object = object("Foo", "b");
    let owner =
        |uid: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": uid});
    object["metadata"]["ownerReferences"] =
        ["z", "a", "a", "z", "a"].into_iter().map(owner).collect();
    let answer = send(&full_server().await, "POST P", "", &object.to_string()).await;
    assert_eq!(answer.json()["metadata"]["ownerReferences"], json!([owner("z"), owner("a")]));
    assert_eq!(
        answer.warnings,
        ["299 - \".metadata.ownerReferences contains duplicate entries; API server dedups owner \
          references in 1.20+, and may reject such requests as early as 1.24; please fix your \
          requests; duplicate UID(s) observed: a, z, a\""],
    );
}

/// RE-23: a dry run of a creation keeps the resource version that the client sent.
#[tokio::test]
async fn a_dry_run_does_not_mind_a_resource_version() {
    let server = full_server().await;
    for revision in ["0", "abc", "5"] {
        let mut object = object("Foo", "b");
        object["metadata"]["resourceVersion"] = revision.into();
        let answer = send(&server, "POST P?dryRun=All", "", &object.to_string()).await;
        assert_eq!(
            (answer.code, text(&answer.json(), "/metadata/resourceVersion")),
            (201, revision.to_owned())
        );
    }
}

/// RE-58: where the rest of a list is gone, it can be continued at the newest state.
#[tokio::test]
async fn a_page_that_is_gone_has_another_one() {
    let server = full_server().await;
    for name in ["b", "c"] {
        send(&server, "POST P", "", &object("Foo", name).to_string()).await;
    }
    let first = send(&server, "GET P?limit=1", "", "").await.json();
    let token = text(&first, "/metadata/continue");
    send(&server, "POST P", "", &object("Foo", "aa").to_string()).await;
    server.compact().await.unwrap();
    for request in ["GET P", "DELETE P"] {
        let gone = send(&server, &format!("{request}?limit=1&continue={token}"), "", "").await;
        assert_eq!((gone.code, text(&gone.json(), "/reason")), (410, "Expired".to_owned()));
        let next = text(&gone.json(), "/metadata/continue");
        let rest = send(&server, &format!("GET P?limit=2&continue={next}"), "", "").await.json();
        let names: Vec<_> = rest["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| text(item, "/metadata/name"))
            .collect();
        assert_eq!(names, ["aa", "b"]);
        assert_eq!(text(&rest, "/metadata/resourceVersion"), "14");
    }
    let exact = "GET P?resourceVersion=12&resourceVersionMatch=Exact";
    let gone = send(&server, exact, "", "").await;
    assert_eq!(
        (gone.message().as_str(), gone.json().pointer("/metadata/continue")),
        ("The resourceVersion for the provided list is too old.", None),
    );
    let watch = send(&server, "GET P?watch=1&resourceVersion=12", "", "").await;
    assert_eq!(
        watch.text,
        "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\
         \"status\":\"Failure\",\"message\":\"too old resource version: 12 (14)\",\
         \"reason\":\"Expired\",\"code\":410}}\n",
    );
}
