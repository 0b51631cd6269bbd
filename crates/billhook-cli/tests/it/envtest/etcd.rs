//! `kube-apiserver` next to a real etcd.

use billhook_testing::etcd::Etcd;
use serde_json::json;

use super::harness::Environment;

/// ET-24: objects are there when the server alone is started again.
#[tokio::test(flavor = "multi_thread")]
async fn objects_last_in_a_real_etcd() {
    let Some(etcd) = Etcd::start() else { return };
    let servers = format!("--etcd-servers={}", etcd.url());
    let flags = [servers.as_str(), "--etcd-prefix=6f2b/registry"];
    let mut environment = Environment::with_flags("real-etcd", &flags).await;
    let maps = "/api/v1/namespaces/default/configmaps";
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    assert_eq!(environment.admin.post(maps, &map).await.code, 201);
    let path = format!("{maps}/a");
    let before = environment.admin.get(&path).await;
    environment.restart_server().await;
    let after = environment.admin.get(&path).await;
    assert_eq!((after.code, &after.text), (200, &before.text));
    let keys = etcd.ctl(&["get", "/6f2b/registry/configmaps/default/", "--prefix", "--keys-only"]);
    assert_eq!(String::from_utf8(keys).unwrap().trim(), "/6f2b/registry/configmaps/default/a");
    environment.stop();
}
