//! Who users are (ET-24, ET-30 to ET-33, ET-72).

use std::time::Duration;

use billhook_apimachinery::base64;
use serde_json::json;

use super::certificates::{Authority, Certificates, request, self_signed_user};
use super::client::{Answer, Client, HTTP1, HTTP2};
use super::harness::{Environment, Process, default_flags, free_port, run};
use crate::support::Scratch;

const WHO: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

async fn who(client: &Client) -> Answer {
    client.post(WHO, &json!({})).await
}

/// The name and the groups of a client.
async fn name_and_groups(client: &Client) -> (String, String) {
    let review = who(client).await.json();
    let user = &review["status"]["userInfo"];
    let groups = user["groups"].as_array().unwrap().iter().map(|it| it.as_str().unwrap());
    (user["username"].as_str().unwrap().to_owned(), groups.collect::<Vec<_>>().join(" "))
}

fn own(name: &str, groups: &str) -> (String, String) {
    (name.to_owned(), groups.to_owned())
}

/// ET-10 (5), ET-31, ET-33.
#[tokio::test]
async fn certificates_name_users() {
    let environment = Environment::start("users").await;
    let admin = own("admin", "system:masters system:authenticated");
    for protocol in [HTTP1, HTTP2] {
        let client = environment.admin.with_protocol(protocol);
        assert_eq!(name_and_groups(&client).await, admin);
    }
    let review = who(&environment.admin).await.json();
    let id = &review["status"]["userInfo"]["extra"]["authentication.kubernetes.io/credential-id"];
    let id = id[0].as_str().unwrap().strip_prefix("X509SHA256=").unwrap();
    assert!(id.len() == 64 && id.bytes().all(|it| it.is_ascii_hexdigit()), "{id}");

    let added = environment.certificates.clients.user("jane", "team");
    let jane = environment.anonymous.with_pair(&added);
    assert_eq!(name_and_groups(&jane).await, own("jane", "team system:authenticated"));
    // ET-63: who is not known may ask for the health and the version, and nothing else.
    assert_eq!(environment.anonymous.get("/version").await.code, 200);
    let refused = who(&environment.anonymous).await;
    assert_eq!(
        (refused.code, refused.json()["message"].as_str().unwrap()),
        (
            403,
            "selfsubjectreviews.authentication.k8s.io is forbidden: User \"system:anonymous\" \
            cannot create resource \"selfsubjectreviews\" in API group \
            \"authentication.k8s.io\" at the cluster scope"
        )
    );
    environment.stop();
}

/// ET-33, ET-62: users may do what roles allow them.
#[tokio::test]
async fn roles_decide() {
    let environment = Environment::start("roles").await;
    let jane = environment.certificates.clients.user("jane", "team");
    let jane = environment.anonymous.with_pair(&jane);
    let pods = "/api/v1/namespaces/default/pods";
    assert_eq!(
        jane.get(pods).await.json()["message"],
        "pods is forbidden: User \"jane\" cannot list resource \"pods\" in API group \"\" in the \
         namespace \"default\""
    );
    let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
        "metadata": {"name": "team"}, "subjects": [{"kind": "Group", "name": "team"}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
            "name": "cluster-admin"}});
    let bindings = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";
    assert_eq!(jane.post(bindings, &binding).await.code, 403);
    assert_eq!(environment.admin.post(bindings, &binding).await.code, 201);
    assert_eq!(jane.get(pods).await.code, 200);
    assert_eq!(jane.get("/api/v1/pods").await.code, 403);
    environment.stop();
}

/// ET-34: a token of a service account is signed by the key of the flags, and names its user.
#[tokio::test]
async fn service_accounts_have_tokens() {
    let environment = Environment::start("accounts").await;
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}});
    assert_eq!(environment.admin.post(accounts, &account).await.code, 201);
    let made = environment.admin.post(&format!("{accounts}/a/token"), &json!({})).await;
    assert_eq!(made.code, 201);
    let token = made.json()["status"]["token"].as_str().unwrap().to_owned();
    let robot = environment.anonymous.with_token(&token);
    let groups = "system:serviceaccounts system:serviceaccounts:default system:authenticated";
    assert_eq!(name_and_groups(&robot).await, own("system:serviceaccount:default:a", groups));
    assert_eq!(robot.get("/openid/v1/jwks").await.code, 200);
    assert_eq!(robot.get("/api/v1/pods").await.code, 403);
    assert_eq!(who(&environment.anonymous.with_token(&(token + "x"))).await.code, 401);
    environment.stop();
}

/// ET-31: the handshake succeeds, and requests are refused.
#[tokio::test]
async fn certificates_of_strangers_are_refused() {
    let environment = Environment::start("strangers").await;
    let clients = &environment.certificates.clients;
    for (what, pair) in [
        ("another authority", Authority::new().user("admin", "system:masters")),
        ("no authority", self_signed_user("admin", "system:masters")),
        ("expired", clients.expired_user("admin", "system:masters")),
        ("of a server", clients.serving(&["localhost"])),
        ("no name", clients.user("", "system:masters")),
    ] {
        for protocol in [HTTP1, HTTP2] {
            let client = environment.anonymous.with_pair(&pair).with_protocol(protocol);
            let answer = client.get("/healthz").await;
            assert_eq!(answer.code, 401, "{what}");
            assert_eq!(
                answer.text,
                "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\
                 \"message\":\"Unauthorized\",\"reason\":\"Unauthorized\",\"code\":401}\n"
            );
            assert_eq!(answer.headers["cache-control"], "no-cache, private");
            assert_eq!(answer.headers["content-type"], "application/json");
            assert!(answer.headers.contains_key("audit-id"));
            assert!(!answer.headers.contains_key("www-authenticate"));
        }
    }
    environment.stop();
}

/// ET-32, ET-70: a certificate that is in the pool itself needs no authority.
#[tokio::test]
async fn leaves_in_the_pool_count() {
    let pair = self_signed_user("kubeapitest", "system:masters");
    let directory = Scratch::new("envtest-leaf-pool", &[]);
    directory.write("client.crt", &pair.certificate);
    let pool = format!("--client-ca-file={}/client.crt", directory.path().display());
    let environment = Environment::with_flags("leaf", &[&pool]).await;
    let client = environment.anonymous.with_pair(&pair);
    let user = own("kubeapitest", "system:masters system:authenticated");
    assert_eq!(name_and_groups(&client).await, user);
    assert_eq!(who(&environment.admin).await.code, 401, "the last flag counts");

    // What the harness of fabric8 asks until the answer is good.
    directory.write("client.key", &pair.key);
    let (own, server) = (directory.path().display(), environment.address.port());
    let authority = environment.directory.path().join("apiserver.crt");
    let connection = [
        format!("--client-certificate={own}/client.crt"),
        format!("--client-key={own}/client.key"),
        format!("--certificate-authority={}", authority.display()),
        format!("--server=https://127.0.0.1:{server}"),
        "--request-timeout=5s".to_owned(),
    ];
    let ask = |words: &[&str], without: usize| {
        let connection = connection.iter().skip(without).map(String::as_str);
        let arguments: Vec<&str> = connection.chain(words.iter().copied()).collect();
        let output = run("kubectl", &arguments);
        let text = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap()).concat();
        (output.status.success(), text)
    };
    let (is_good, shown) = ask(&["get", "ns", "default"], 0);
    assert!(is_good && shown.starts_with("NAME      STATUS   AGE\ndefault   Active   "), "{shown}");
    let (is_good, shown) = ask(&["get", "pods"], 0);
    assert!(!is_good && shown.starts_with("error: billhook takes the place of"), "{shown}");
    let (is_good, shown) = ask(&["get", "ns", "default"], 2);
    let refused = "Error from server (Forbidden): namespaces \"default\" is forbidden: User \
        \"system:anonymous\" cannot get resource \"namespaces\" in API group \"\" in the namespace \
        \"default\"\n";
    assert_eq!((is_good, &*shown), (false, refused));
    environment.stop();
}

/// ET-61, ET-72.
#[tokio::test]
async fn tokens_name_users() {
    let directory = Scratch::new("envtest-tokens", &[]);
    directory.write("tokens", "secret,alice,7,\"a,b\"\n");
    let tokens = format!("--token-auth-file={}/tokens", directory.path().display());
    let flags = [&tokens, "--anonymous-auth=false"];
    let (_server, client, _files) = start_without_anonymous(&flags).await;
    let alice = client.with_token("secret");
    assert_eq!(name_and_groups(&alice).await, own("alice", "a b system:authenticated"));
    assert_eq!(who(&client.with_token("other")).await.code, 401);
    assert_eq!(who(&client).await.code, 401, "the anonymous user is not allowed");
}

/// A server whose health only a user learns.
async fn start_without_anonymous(flags: &[&str]) -> (Process, Client, Scratch) {
    let directory = Scratch::new("envtest-no-anonymous", &[]);
    let certificates = Certificates::write(directory.path());
    let port = free_port();
    let mut arguments = default_flags(directory.path(), port);
    arguments.extend(flags.iter().map(|&flag| flag.to_owned()));
    let server = Process::start("kube-apiserver", &arguments);
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], port));
    let client = Client::anonymous(address, &certificates.serving.pem());
    client.with_token("secret").poll("/healthz").await;
    (server, client, directory)
}

/// ET-30: without certificates the server makes its own; those of a name are shown for it.
#[tokio::test]
async fn servers_make_certificates() {
    let directory = Scratch::new("envtest-self-signed", &[]);
    Certificates::write(directory.path());
    let named = Authority::new();
    let pair = named.serving(&["localhost"]);
    directory.write("sni.crt", &pair.certificate);
    directory.write("sni.key", &pair.key);
    let own = directory.path().join("own");
    let port = free_port();
    let mut arguments = default_flags(directory.path(), port);
    arguments
        .retain(|flag| !flag.starts_with("--client-ca-file") && !flag.starts_with("--cert-dir"));
    arguments.push(format!("--cert-dir={}", own.display()));
    let shown = format!("{0}/sni.crt,{0}/sni.key", directory.path().display());
    for sni in [None, Some(format!("--tls-sni-cert-key={shown}"))] {
        let mut arguments = arguments.clone();
        arguments.extend(sni.clone());
        let mut server = Process::start("kube-apiserver", &arguments);
        let address = std::net::SocketAddr::from(([127, 0, 0, 1], port));
        let authority = match sni {
            Some(_) => named.pem(),
            None => {
                while !own.join("apiserver.crt").exists() {
                    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
                }
                // The file has the certificate, then that of its authority.
                let chain = std::fs::read_to_string(own.join("apiserver.crt")).unwrap();
                let authority = chain.match_indices("-----BEGIN").nth(1).unwrap().0;
                chain.get(authority..).unwrap().to_owned()
            }
        };
        Client::anonymous(address, &authority).poll("/healthz").await;
        assert!(server.stop().success());
    }
}

/// CP-91: a request that was approved is signed, and the server knows the user of the certificate.
#[tokio::test]
async fn requests_for_certificates_are_signed() {
    let flags = ["--billhook-controllers=all"];
    let environment = Environment::with_flags("requests", &flags).await;
    let admin = &environment.admin;
    let mut pair = request("jane", "team");
    let requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    let asked = json!({
        "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
        "metadata": {"name": "jane"},
        "spec": {
            "request": base64::encode(pair.certificate.as_bytes()),
            "signerName": "kubernetes.io/kube-apiserver-client",
            "usages": ["digital signature", "client auth"],
        },
    });
    let mut asked = admin.post(requests, &asked).await.json();
    let approved =
        json!({"type": "Approved", "status": "True", "reason": "Test", "message": "wanted"});
    asked["status"]["conditions"] = json!([approved]);
    let path = format!("{requests}/jane");
    let answer = admin.send("PUT", &format!("{path}/approval"), &asked.to_string()).await;
    assert_eq!(answer.code, 200, "{}", answer.text);
    let mut certificate = json!(null);
    for _ in 0..100 {
        certificate = admin.get(&path).await.json()["status"]["certificate"].take();
        if certificate.is_string() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let certificate = base64::decode(certificate.as_str().unwrap()).unwrap();
    pair.certificate = String::from_utf8(certificate).unwrap();
    let jane = environment.anonymous.with_pair(&pair);
    assert_eq!(name_and_groups(&jane).await, own("jane", "team system:authenticated"));
    // Others that the authority of clients has signed are known as before.
    let others = environment.certificates.clients.user("joe", "team");
    let joe = environment.anonymous.with_pair(&others);
    assert_eq!(name_and_groups(&joe).await, own("joe", "team system:authenticated"));
    environment.stop();
}
