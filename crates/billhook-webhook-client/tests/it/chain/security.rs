//! Who trusts whom: certificates, names and credentials (CL-10 to CL-14, CL-30 to CL-44).

use std::path::Path;
use std::sync::{Arc, Mutex};

use billhook_admission::{AdmissionResponse, AdmissionReview, ReviewVersion, Stage};
use billhook_webhook_client::{AdmissionConfiguration, HttpsCaller, Kubeconfig, StaticResolver};

use crate::chain::client::{chain_of, reason, run};
use crate::chain::world::{Script, World, allow, configuration};
use crate::server::{Reply, Server};

/// CL-40 to CL-43.
#[tokio::test]
async fn certificates_are_verified() {
    let allow_all = || -> Script { Box::new(|request, _| allow(request)) };
    let world = World::new(vec![("a", allow_all())]).await;
    let other = World::new(vec![]).await;
    let tls = "failed to call webhook: Post \"https://a.hooks.svc:443/a?timeout=5s\": tls: failed \
               to verify certificate: x509: ";
    let rest = "could not get REST client: unable to load root certificates: ";
    let key = other.server.authority().client.1.clone();
    let authority = world.server.authority().ca_bundle.clone();
    let foreign = other.server.authority().ca_bundle.clone();
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_owned();
    for (bundle, expected) in [
        (foreign.clone(), Some(format!("{tls}certificate signed by unknown authority"))),
        (String::new(), Some(format!("{tls}certificate signed by unknown authority"))),
        ("nothing".to_owned(), Some(format!("{rest}unable to parse bytes as PEM block"))),
        (key, Some(format!("{rest}no valid certificate authority data seen"))),
        (broken, Some(format!("{rest}failed to parse certificate: "))),
        (format!("{foreign}{authority}"), None),
    ] {
        let mut configurations = world.configurations(&[configuration("Validating", "a", "")]);
        configurations[0].webhooks[0].client_config.ca_bundle = bundle.into_bytes();
        let chain = world.chain(&[]).webhooks(&configurations);
        for webhook in &mut configurations[0].webhooks {
            webhook.failure_policy = Some("Ignore".to_owned());
        }
        let ignoring = world.chain(&[]).webhooks(&configurations);
        assert_eq!(reason(&run(&ignoring).await), None, "the failure policy decides");
        match (reason(&run(&chain).await), expected) {
            (None, None) => {}
            (Some(found), Some(expected)) => {
                assert!(found.starts_with(&expected), "{found}, expected {expected}");
            }
            (found, expected) => panic!("{found:?}, expected {expected:?}"),
        }
    }
}

/// The certificate must be for the name in the URL (CL-03, CL-06).
#[tokio::test]
async fn names_are_verified() {
    let world = World::new(vec![("a", Box::new(|request, _| allow(request)))]).await;
    let address = world.server.address().to_string();
    let port = world.server.address().port();
    let by_url = |host: &str| format!("{{url: 'https://{host}:{port}/a'}}");
    let by_service = |name: &str| format!("{{service: {{namespace: {name}, name: a, path: /a}}}}");
    for (client_config, expected) in [
        (by_url("localhost"), None),
        (by_url("127.0.0.1"), None),
        (by_service("hooks"), None),
        (
            by_service("other"),
            Some("certificate is valid for *.hooks.svc, localhost, 127.0.0.1, not a.other.svc"),
        ),
    ] {
        let text =
            configuration("Validating", "a", "").replace(&by_service("hooks"), &client_config);
        let resolver = StaticResolver::default().with("hooks", "a", &address);
        let caller = HttpsCaller::default().resolver(resolver.with("other", "a", &address));
        let chain = chain_of(caller, &world.configurations(&[text]));
        let found = reason(&run(&chain).await);
        let expected = expected.map(|text| {
            format!(
                "failed to call webhook: Post \"https://a.other.svc:443/a?timeout=5s\": tls: failed \
                 to verify certificate: x509: {text}"
            )
        });
        assert_eq!(found, expected);
    }
}

/// CL-14.
#[test]
fn what_is_no_kubeconfig_is_refused() {
    for (text, expected) in [
        ("X\n", "json: cannot unmarshal string into Go value of type v1.Config"),
        ("[]", "json: cannot unmarshal array into Go value of type v1.Config"),
        ("apiVersion: v2", "apiVersion is \"v2\", not \"v1\""),
    ] {
        let error = Kubeconfig::from_slice(text.as_bytes(), Path::new("/")).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    assert!(Kubeconfig::from_slice(b"X\n: [", Path::new("/")).is_err());
    assert!(Kubeconfig::from_slice(b"", Path::new("/")).is_ok());
}

/// CL-30, CL-34, CL-44.
#[tokio::test]
async fn credentials_come_from_the_kubeconfig() {
    let script: Script = Box::new(|request, _| allow(request));
    let world = World::new(vec![("a", script)]).await;
    let configurations = world.configurations(&[configuration("Validating", "a", "")]);
    let chain = |users: &str, stage: Stage| {
        let text = format!("apiVersion: v1\nkind: Config\nusers:\n{users}");
        let config = Kubeconfig::from_slice(text.as_bytes(), Path::new("/tmp")).unwrap();
        let caller = world.caller().credentials(stage, config).user_agent("tester");
        chain_of(caller, &configurations)
    };
    let table = [
        ("- {name: a.hooks.svc, user: {token: secret}}", "authorization", Some("Bearer secret")),
        ("- {name: '*', user: {username: u, password: p}}", "authorization", Some("Basic dTpw")),
        ("- {name: '*', user: {as: root}}", "impersonate-user", Some("root")),
        (
            "- {name: '*', user: {as: r, as-user-extra: {a/b: [x]}}}",
            "impersonate-extra-a%2fb",
            Some("x"),
        ),
        ("- {name: other.hooks.svc, user: {token: secret}}", "authorization", None),
        ("- {name: '*', user: {token: secret}}", "user-agent", Some("tester")),
    ];
    for (users, header, expected) in table {
        assert_eq!(reason(&run(&chain(users, Stage::Validating)).await), None);
        let seen = world.seen().pop().unwrap();
        assert_eq!(seen.headers.get(header).map(String::as_str), expected, "{users}");
        // The other stage has credentials of its own.
        if header == "authorization" {
            run(&chain(users, Stage::Mutating)).await;
            assert_eq!(world.seen().pop().unwrap().headers.get(header), None);
        }
    }
    for (users, expected) in [
        (
            "- {name: '*', user: {token: t, username: u}}",
            "username/password or bearer token may be set, but not both",
        ),
        ("- {name: '*', user: {auth-provider: {name: x}}}", "auth provider not supported"),
    ] {
        let found = reason(&run(&chain(users, Stage::Validating)).await).unwrap();
        assert_eq!(found, format!("could not get REST client: {expected}"));
    }
}

/// A program gives a token; it is asked again only when that has expired (CL-30).
#[tokio::test]
async fn credentials_may_come_from_a_program() {
    let directory = std::env::temp_dir().join(format!("billhook-exec-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let world = World::new(vec![("a", Box::new(|request, _| allow(request)))]).await;
    let configurations = world.configurations(&[configuration("Validating", "a", "")]);
    let chain = |script: &str| {
        let text = format!(
            "users: [{{name: '*', user: {{exec: {{apiVersion: client.authentication.k8s.io/v1, \
             command: sh, args: [-c, '{script}'], env: [{{name: TOKEN, value: secret}}]}}}}}}]"
        );
        let config = Kubeconfig::from_slice(text.as_bytes(), &directory).unwrap();
        chain_of(world.caller().credentials(Stage::Validating, config), &configurations)
    };
    let runs = directory.join("runs");
    let says = |more: &str| {
        format!(
            r#"echo >> {}; echo "{{\"apiVersion\": \"client.authentication.k8s.io/v1\", \"kind\": \"ExecCredential\", \"status\": {{\"token\": \"$TOKEN\"{more}}}}}""#,
            runs.display()
        )
    };
    let count = || std::fs::read_to_string(&runs).unwrap().lines().count();
    for (more, expected) in [
        ("", 1),
        (r#", \"expirationTimestamp\": \"2999-01-01T00:00:00Z\""#, 1),
        (r#", \"expirationTimestamp\": \"2020-01-01T00:00:00Z\""#, 3),
    ] {
        std::fs::write(&runs, "").unwrap();
        let chain = chain(&says(more));
        for _ in 0..3 {
            assert_eq!(reason(&run(&chain).await), None);
            let seen = world.seen().pop().unwrap();
            assert_eq!(seen.headers["authorization"], "Bearer secret");
        }
        assert_eq!(count(), expected, "{more}");
    }
    for (script, expected) in [
        ("exit 3", "failed: exit status: 3"),
        ("echo x", "wrote no JSON: "),
        ("echo {}", "answered for another apiVersion than client.authentication.k8s.io/v1"),
    ] {
        let found = reason(&run(&chain(script)).await).unwrap();
        let prefix = "could not get REST client: getting credentials: the program sh ";
        assert!(found.starts_with(&format!("{prefix}{expected}")), "{found}");
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

/// The file that names the credentials of the stages (CL-10 to CL-13).
#[tokio::test]
async fn an_admission_configuration_names_the_credentials() {
    let directory = std::env::temp_dir().join(format!("billhook-config-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let user = |token: &str| {
        format!(
            "{{apiVersion: v1, kind: Config, users: [{{name: '*', user: {{token: {token}}}}}]}}"
        )
    };
    let (embedded, beside) = (write("one", &user("one")), write("two", &user("two")));
    let plugin = |file: &Path| {
        let file = file.display();
        format!(
            "{{apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, \
             kubeConfigFile: '{file}'}}"
        )
    };
    write("plugin.yaml", &plugin(&beside));
    let head = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n";
    let world = World::new(vec![("a", Box::new(|request, _| allow(request)))]).await;
    let token = async |text: &str, stage: &str| -> Result<Option<String>, String> {
        let read = AdmissionConfiguration::from_file(&write("config.yaml", text));
        let read = read.map_err(|error| error.to_string())?;
        let caller = world.caller().admission_configuration(read);
        let configurations = world.configurations(&[configuration(stage, "a", "")]);
        run(&chain_of(caller, &configurations)).await.result.unwrap();
        Ok(world.seen().pop().unwrap().headers.get("authorization").cloned())
    };
    let both = format!(
        "{head}- name: Unknown\n- name: ValidatingAdmissionWebhook\n  path: nowhere\n  configuration: \
         {}\n- name: ValidatingAdmissionWebhook\n- name: MutatingAdmissionWebhook\n  path: plugin.yaml\n",
        plugin(&embedded)
    );
    let bearer = |token: &str| Ok(Some(format!("Bearer {token}")));
    assert_eq!(token(&both, "Validating").await, bearer("one"), "what is embedded wins");
    assert_eq!(token(&both, "Mutating").await, bearer("two"), "relative to the file");
    assert_eq!(token(head, "Validating").await, Ok(None));
    let read = AdmissionConfiguration::from_file(&write("config.yaml", &both)).unwrap();
    assert_eq!(read.other_plugins().collect::<Vec<_>>(), [("Unknown", &serde_json::Value::Null)]);
    let old = head.replace("apiserver.config.k8s.io/v1", "apiserver.k8s.io/v1alpha1");
    assert_eq!(token(&old, "Validating").await, Ok(None));

    let relative = plugin(Path::new("relative"));
    for (text, expected) in [
        (
            format!("{head}- name: ValidatingAdmissionWebhook\n  configuration: {relative}\n"),
            "couldn't init admission plugin \"ValidatingAdmissionWebhook\": kubeConfigFile: Invalid \
             value: \"relative\": must be an absolute file path",
        ),
        (
            format!("{head}- name: MutatingAdmissionWebhook\n  path: nowhere\n"),
            "couldn't init admission plugin \"MutatingAdmissionWebhook\": ",
        ),
        (
            format!("{head}- name: X\n  other: 1\n"),
            "strict decoding error: unknown field \"plugins[0].other\"",
        ),
        (head.replace("/v1", "/v2"), "expected AdmissionConfiguration of "),
    ] {
        let error = token(&text, "Validating").await.unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

/// The older form of a plugin's configuration is read on request, with a warning (CL-12).
#[tokio::test]
async fn an_older_admission_configuration_is_read_on_request() {
    let directory = std::env::temp_dir().join(format!("billhook-older-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let (kubeconfig, path) = (directory.join("kubeconfig"), directory.join("config.yaml"));
    let user = "{apiVersion: v1, kind: Config, users: [{name: '*', user: {token: old}}]}";
    std::fs::write(&kubeconfig, user).unwrap();
    let read = |version: &str, kind: &str| {
        let kubeconfig = kubeconfig.display();
        let text = format!(
            "{{apiVersion: apiserver.config.k8s.io/v1, kind: AdmissionConfiguration, plugins: [\
             {{name: ValidatingAdmissionWebhook, configuration: &it {{apiVersion: \
             apiserver.config.k8s.io/{version}, kind: {kind}, kubeConfigFile: '{kubeconfig}'}}}}, \
             {{name: MutatingAdmissionWebhook, configuration: *it}}]}}"
        );
        std::fs::write(&path, text).unwrap();
        let strict = AdmissionConfiguration::from_file(&path);
        let lenient = AdmissionConfiguration::from_file_with_deprecated(&path);
        (strict.map_err(|error| error.to_string()), lenient.map_err(|error| error.to_string()))
    };
    let (strict, lenient) = read("v1alpha1", "WebhookAdmission");
    assert_eq!(
        strict.unwrap_err(),
        "couldn't init admission plugin \"MutatingAdmissionWebhook\": expected \
         WebhookAdmissionConfiguration of apiserver.config.k8s.io/v1, found \"WebhookAdmission\" of \
         \"apiserver.config.k8s.io/v1alpha1\""
    );
    let lenient = lenient.unwrap();
    assert_eq!(
        lenient.warnings(),
        [
            "apiserver.config.k8s.io/v1alpha1 WebhookAdmission is deprecated and not read by servers \
          since v1.36; use apiserver.config.k8s.io/v1 WebhookAdmissionConfiguration"
        ]
    );
    let world = World::new(vec![("a", Box::new(|request, _| allow(request)))]).await;
    let configurations = world.configurations(&[configuration("Validating", "a", "")]);
    let chain = chain_of(world.caller().admission_configuration(lenient), &configurations);
    assert_eq!(reason(&run(&chain).await), None);
    assert_eq!(world.seen()[0].headers["authorization"], "Bearer old");

    let (strict, lenient) = read("v1", "WebhookAdmissionConfiguration");
    assert_eq!(strict.unwrap().warnings(), lenient.unwrap().warnings());
    for (version, kind) in
        [("v1", "WebhookAdmission"), ("v1alpha1", "WebhookAdmissionConfiguration")]
    {
        let (strict, lenient) = read(version, kind);
        assert!(strict.is_err() && lenient.is_err(), "{version} {kind}");
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

/// A token file is read for the calls, a client certificate shown to those who ask (CL-31, CL-44).
#[tokio::test]
async fn credentials_may_be_in_files() {
    let directory = std::env::temp_dir().join(format!("billhook-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let certificates = Arc::new(Mutex::new(Vec::new()));
    let shown = Arc::clone(&certificates);
    let server = Server::start("127.0.0.1:0", &["localhost"], move |received| {
        shown.lock().unwrap().push(received.has_certificate);
        let authorization = received.headers.get("authorization").cloned();
        Box::pin(async move {
            assert_eq!(authorization?.to_str().unwrap(), "Bearer from-file");
            let request = AdmissionReview::from_slice(&received.body).unwrap().request.unwrap();
            let response = AdmissionResponse::allow(&request);
            let review = AdmissionReview::of_response(ReviewVersion::V1, response);
            Some(Reply::json(review.to_json()))
        })
    })
    .await
    .unwrap();
    let (certificate, key) = &server.authority().client;
    for (name, text) in
        [("tls.crt", certificate.as_str()), ("tls.key", key), ("token", "from-file\n")]
    {
        std::fs::write(directory.join(name), text).unwrap();
    }
    let text =
        "{kind: Config, users: [{name: '*.invalid', user: {}}, {name: localhost:PORT, user: \
                {tokenFile: token, client-certificate: tls.crt, client-key: tls.key}}]}"
            .replace("PORT", &server.address().port().to_string());
    let kubeconfig = directory.join("kubeconfig");
    std::fs::write(&kubeconfig, text).unwrap();
    let caller = HttpsCaller::default()
        .credentials(Stage::Validating, Kubeconfig::from_file(&kubeconfig).unwrap());
    let world = World::new(vec![]).await;
    let mut configurations = world.configurations(&[configuration("Validating", "a", "")]);
    let client_config = &mut configurations[0].webhooks[0].client_config;
    client_config.service = None;
    client_config.url = Some(format!("https://localhost:{}/", server.address().port()));
    client_config.ca_bundle = server.authority().ca_bundle.clone().into_bytes();
    let chain = chain_of(caller, &configurations);
    assert_eq!(reason(&run(&chain).await), None);
    assert_eq!(*certificates.lock().unwrap(), [true]);
    std::fs::remove_dir_all(&directory).unwrap();
}
