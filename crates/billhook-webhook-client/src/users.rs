//! Which credentials a webhook gets: the users of a kubeconfig and how one is chosen
//! (CL-14, CL-20 to CL-22, CL-30).

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use billhook_apimachinery::record::TypedRecord;
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{message_error, record};

use super::exec::{ExecConfig, Given, Program};

/// The API server itself.
const API_SERVER: &str = "kubernetes.default.svc:443";
/// Where a process in a cluster finds its token.
const IN_CLUSTER_TOKEN: &str = "/var/run/secrets/kubernetes.io/serviceaccount/token";

record! {
    /// A kubeconfig as it is written, without what is ignored (CL-14).
    #[derive(Default)]
    struct Config = "Config" {
        api_version: String = "apiVersion" as "APIVersion",
        kind: String = "kind",
        users: Vec<NamedUser> = "users",
        contexts: Vec<NamedContext> = "contexts",
        current_context: String = "current-context",
    }

    #[derive(Default)]
    struct NamedUser = "NamedAuthInfo" {
        name: String = "name",
        user: AuthInfo = "user",
    }

    #[derive(Default)]
    struct NamedContext = "NamedContext" {
        name: String = "name",
        context: Context = "context",
    }

    #[derive(Default)]
    struct Context = "Context" {
        user: String = "user",
    }

    /// The credentials of a user (CL-30).
    #[derive(Default)]
    struct AuthInfo = "AuthInfo" {
        certificate_file: String = "client-certificate",
        certificate: Vec<u8> = "client-certificate-data",
        key_file: String = "client-key",
        key: Vec<u8> = "client-key-data",
        token: String = "token",
        token_file: String = "tokenFile",
        impersonate: String = "as",
        impersonate_uid: String = "as-uid",
        impersonate_groups: Vec<String> = "as-groups",
        impersonate_extra: BTreeMap<String, Vec<String>> = "as-user-extra",
        username: String = "username",
        password: String = "password",
        auth_provider: Option<DeepValue> = "auth-provider",
        exec: Option<ExecConfig> = "exec",
    }
}

/// The users of a kubeconfig, from which webhooks get their credentials (CL-14).
///
/// Its debug text shows their names only.
#[derive(Clone, Default)]
pub struct Kubeconfig {
    users: BTreeMap<String, User>,
    /// The user of the current context.
    current: Option<String>,
}

impl fmt::Debug for Kubeconfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.users.keys().collect();
        let mut shown = f.debug_struct("Kubeconfig");
        shown.field("users", &names).field("current", &self.current).finish_non_exhaustive()
    }
}

/// Data that is in the file itself, or in a file that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Data(Vec<u8>),
    File(PathBuf),
}

/// The credentials of one entry (CL-30).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct User {
    pub(super) token: Option<String>,
    pub(super) token_file: Option<PathBuf>,
    pub(super) username: String,
    pub(super) password: String,
    pub(super) certificate: Option<Source>,
    pub(super) key: Option<Source>,
    pub(super) impersonate: Option<Impersonate>,
    /// A program that prints token and certificate.
    pub(super) program: Option<Program>,
    /// Why the entry cannot be used.
    pub(super) unusable: Option<&'static str>,
}

/// Who is to be impersonated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Impersonate {
    pub(super) user: String,
    pub(super) uid: String,
    pub(super) groups: Vec<String>,
    pub(super) extra: BTreeMap<String, Vec<String>>,
}

message_error! {
    /// A kubeconfig that cannot be used.
    pub struct KubeconfigError;
}

impl Kubeconfig {
    /// Reads a kubeconfig; paths in it are relative to `directory`.
    pub fn from_slice(text: &[u8], directory: &Path) -> Result<Self, KubeconfigError> {
        let fail = |message: String| KubeconfigError::new(message);
        let document =
            billhook_yaml::read_document(text).map_err(|error| fail(error.to_string()))?;
        let (config, _) =
            Config::read(document.value()).map_err(|error| fail(error.to_string()))?;
        for (name, found, expected) in
            [("apiVersion", &config.api_version, "v1"), ("kind", &config.kind, "Config")]
        {
            if !found.is_empty() && found != expected {
                return Err(fail(format!("{name} is \"{found}\", not \"{expected}\"")));
            }
        }
        let mut users = BTreeMap::new();
        for NamedUser { name, user } in config.users {
            let user =
                User::new(user, directory).map_err(|e| fail(format!("user \"{name}\": {e}")))?;
            if users.insert(name.clone(), user).is_some() {
                return Err(fail(format!("there are several users named \"{name}\"")));
            }
        }
        let mut contexts = config.contexts.into_iter();
        let context = contexts.find(|context| context.name == config.current_context);
        Ok(Kubeconfig { users, current: context.map(|context| context.context.user) })
    }

    /// Reads a kubeconfig file.
    pub fn from_file(path: &Path) -> Result<Self, KubeconfigError> {
        let text = crate::files::read(path)
            .map_err(|error| KubeconfigError::new(format!("{}: {error}", path.display())))?;
        Self::from_slice(&text, path.parent().unwrap_or(Path::new("")))
            .map_err(|error| KubeconfigError::new(format!("{}: {error}", path.display())))
    }

    /// The entry for a target `host:port` (CL-21). `in_cluster` are the credentials that a process
    /// in a cluster has for the API server.
    fn choose<'u>(&'u self, target: &str, in_cluster: Option<&'u User>) -> Option<&'u User> {
        let exact_or_wildcard = |target: &str| {
            let mut wildcards = target.match_indices('.').filter_map(|(dot, _)| target.get(dot..));
            self.users
                .get(target)
                .or_else(|| wildcards.find_map(|suffix| self.users.get(&format!("*{suffix}"))))
        };
        exact_or_wildcard(target)
            .or_else(|| exact_or_wildcard(target.strip_suffix(":443")?))
            .or_else(|| in_cluster.filter(|_| target == API_SERVER))
            .or_else(|| self.users.get("*"))
            .or_else(|| self.users.get(self.current.as_deref()?))
    }

    /// The credentials for a target `host:port`; none to stay anonymous.
    pub(super) fn user(&self, target: &str) -> Option<User> {
        let in_cluster = (target == API_SERVER).then(User::in_cluster).flatten();
        self.choose(target, in_cluster.as_ref()).cloned()
    }
}

impl User {
    /// Takes the credentials that the program of the user gave.
    pub(super) fn take(&mut self, given: Given) {
        let data = |text| written(text).map(|text| Source::Data(text.into_bytes()));
        self.token = written(given.token);
        self.certificate = data(given.certificate);
        self.key = data(given.key);
    }

    /// The credentials of a process in a cluster, if it is in one.
    fn in_cluster() -> Option<Self> {
        let path = Path::new(IN_CLUSTER_TOKEN);
        let token_file = path.is_file().then(|| path.to_owned())?;
        Some(User { token_file: Some(token_file), ..User::default() })
    }

    fn new(info: AuthInfo, directory: &Path) -> Result<Self, String> {
        let file = |path| written(path).map(|path| directory.join(path));
        let source = |data: Vec<u8>, path| match data.is_empty() {
            true => file(path).map(Source::File),
            false => Some(Source::Data(data)),
        };
        let impersonate = written(info.impersonate).map(|user| Impersonate {
            user,
            uid: info.impersonate_uid,
            groups: info.impersonate_groups,
            extra: info.impersonate_extra,
        });
        let program = info.exec.map(|exec| Program::new(exec, directory));
        Ok(User {
            token: written(info.token),
            token_file: file(info.token_file),
            username: info.username,
            password: info.password,
            certificate: source(info.certificate, info.certificate_file),
            key: source(info.key, info.key_file),
            impersonate,
            program: program.transpose()?,
            unusable: info.auth_provider.map(|_| "auth provider not supported"),
        })
    }
}

/// A text, if it is not empty.
fn written(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> User {
        User { username: name.to_owned(), ..User::default() }
    }

    fn with_users(names: &[&str], current: Option<&str>) -> Kubeconfig {
        let users = names.iter().map(|name| ((*name).to_owned(), named(name))).collect();
        Kubeconfig { users, current: current.map(str::to_owned) }
    }

    #[test]
    fn the_entry_is_chosen_by_target() {
        for (target, names, current, expected) in [
            (
                "webhook1.ns1.svc:443",
                &["webhook1.ns1.svc", "*"][..],
                None,
                Some("webhook1.ns1.svc"),
            ),
            (
                "webhook1.ns1.svc:443",
                &["webhook1.ns1.svc:443", "webhook1.ns1.svc"],
                None,
                Some("webhook1.ns1.svc:443"),
            ),
            ("webhook1.ns1.svc:8443", &["webhook1.ns1.svc", "*"], None, Some("*")),
            (
                "webhook1.ns1.svc:8443",
                &["webhook1.ns1.svc:8443"],
                None,
                Some("webhook1.ns1.svc:8443"),
            ),
            ("www.example.com:443", &["www.example.com"], None, Some("www.example.com")),
            (
                "a.b.company.org:443",
                &["*.company.org", "*.b.company.org"],
                None,
                Some("*.b.company.org"),
            ),
            ("a.b.company.org:443", &["*.org:443", "a.b.company.org"], None, Some("*.org:443")),
            ("x.y.svc:443", &["u"], Some("u"), Some("u")),
            ("x.y.svc:443", &[], None, None),
            ("x.y.svc:443", &[], Some("u"), None),
            ("a.company.org:8443", &["*.company.org"], None, None),
            ("a.company.org:8443", &["*.company.org:8443"], None, Some("*.company.org:8443")),
            ("10.0.0.1:443", &["*.0.0.1"], None, Some("*.0.0.1")),
            ("www.x.org:443", &["*x.org", "w*.x.org"], None, None),
            ("x.y.svc:443", &["*", "u"], Some("u"), Some("*")),
            ("kubernetes.default.svc:443", &["*"], None, Some("in cluster")),
            ("kubernetes.default.svc:443", &["*.svc"], None, Some("*.svc")),
        ] {
            let config = with_users(names, current);
            let in_cluster = named("in cluster");
            let chosen = config.choose(target, Some(&in_cluster));
            let chosen = chosen.map(|user| user.username.as_str());
            assert_eq!(chosen, expected, "{target} {names:?}");
        }
    }

    #[test]
    fn a_kubeconfig_gives_users_and_the_current_context() {
        let text = "
apiVersion: v1
kind: Config
clusters: [{name: ignored}]
contexts:
- {name: c, context: {user: u, cluster: ignored}}
current-context: c
users:
- name: u
  user: {client-certificate: certs/tls.crt, client-key-data: a2V5, as: root, as-groups: [g]}
- name: '*.example.com'
  user: {token: t, tokenFile: /abs/token}
- name: old
  user: {auth-provider: {name: gcp}}
";
        let config = Kubeconfig::from_slice(text.as_bytes(), Path::new("/etc/webhook")).unwrap();
        let user = config.user("x.ns.svc:443").unwrap();
        let path = PathBuf::from("/etc/webhook/certs/tls.crt");
        assert_eq!(user.certificate, Some(Source::File(path)));
        assert_eq!(user.key, Some(Source::Data(b"key".to_vec())));
        assert_eq!(user.impersonate.as_ref().unwrap().groups, ["g"]);
        let user = config.user("a.example.com:443").unwrap();
        assert_eq!(user.token.as_deref(), Some("t"));
        assert_eq!(user.token_file.as_deref(), Some(Path::new("/abs/token")));
        assert_eq!(config.user("old:443").unwrap().unusable, Some("auth provider not supported"));
        assert_eq!(
            format!("{config:?}"),
            "Kubeconfig { users: [\"*.example.com\", \"old\", \"u\"], current: Some(\"u\"), .. }"
        );
    }
}
