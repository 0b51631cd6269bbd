//! Objects in etcd: what is kept, where, and what several servers see of each other.

use billhook_apiserver::etcd::{Etcd, EtcdOptions};
use billhook_apiserver::storage::{
    Backend as _, BackendError, Change, Collection, Commit, HistoryLimits, Range, Storage, Write,
};
use billhook_testing::etcd::Etcd as Process;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tokio::runtime::Builder;

use super::suite::{guards_every_write, keeps_everything, lists_pages_of_one_revision};
use crate::storage::operations;

fn foos() -> Collection {
    Collection::new("example.com", "foos")
}

/// Connects to an etcd, when it has started.
pub(super) async fn connect(etcd: &Process) -> Etcd {
    Etcd::open(EtcdOptions::new([etcd.url()])).await.unwrap()
}

async fn open(etcd: &Process) -> Storage {
    Storage::open(connect(etcd).await, HistoryLimits::default()).await.unwrap()
}

#[test]
fn etcd_keeps_everything() {
    let Some(etcd) = Process::start() else { return };
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let number = std::cell::Cell::new(0);
    let mut runner = TestRunner::new(ProptestConfig::with_cases(16));
    let tested = runner.run(&operations(), |operations| {
        number.set(number.get() + 1);
        let options = || EtcdOptions::new([etcd.url()]).prefix(format!("/{}", number.get()));
        runtime.block_on(keeps_everything(&operations, false, async || {
            Etcd::open(options()).await.unwrap()
        }));
        Ok(())
    });
    tested.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn etcd_guards_every_write() {
    let Some(etcd) = Process::start() else { return };
    guards_every_write(connect(&etcd).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn etcd_lists_pages_of_one_revision() {
    let Some(etcd) = Process::start() else { return };
    lists_pages_of_one_revision(connect(&etcd).await).await;
}

/// ES-31, ES-50: the past is listed by another process, too, until it is compacted.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn etcd_lists_the_past() {
    let Some(etcd) = Process::start() else { return };
    let storage = open(&etcd).await;
    for number in 0..9 {
        let key = format!("default/{number}");
        storage.write(&foos(), &key, Write::create(number.to_string())).await.unwrap();
    }
    let at = storage.revision();
    for key in ["default/2", "default/3"] {
        let stored = storage.get(&foos(), key).unwrap().modified;
        storage.write(&foos(), key, Write::replace(stored, "new")).await.unwrap();
    }
    let backend = connect(&etcd).await;
    let foos = foos();
    let range = Range::of_prefix("default/").after("default/1").limit(2);
    let past = backend.list_at(&foos, range, at).await.unwrap();
    let texts: Vec<_> = past.objects.iter().map(|change| change.text.clone().unwrap()).collect();
    assert_eq!((texts, past.remaining), (vec!["2".into(), "3".into()], 5));
    let all = backend.list_at(&foos, Range::default(), at).await.unwrap();
    assert_eq!((all.objects.len(), all.remaining), (9, 0));
    let none = backend.list_at(&foos, Range::of_prefix("other/"), at).await.unwrap();
    assert_eq!((none.objects.len(), none.remaining), (0, 0));
    backend.compact(at + 1).await.unwrap();
    let forgotten = backend.list_at(&foos, Range::default(), at).await;
    assert_eq!(forgotten, Err(BackendError::Compacted(at)));
    assert_eq!(backend.list_at(&foos, Range::default(), at + 1).await.unwrap().objects.len(), 9);
}

/// ES-65: each of two storages sees what the other has written, when it has caught up.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_storages_are_one() {
    let Some(etcd) = Process::start() else { return };
    let (here, there) = (open(&etcd).await, open(&etcd).await);
    for number in 0..50 {
        let key = format!("default/{number}");
        let created = here.write(&foos(), &key, Write::create("{}")).await.unwrap();
        there.catch_up().await.unwrap();
        assert_eq!(there.get(&foos(), &key).unwrap().modified, created);
        let refused = there.write(&foos(), &key, Write::create("{}")).await;
        assert!(refused.is_err());
        there.write(&foos(), &key, Write::delete(created)).await.unwrap();
        here.catch_up().await.unwrap();
        assert_eq!(here.get(&foos(), &key), None);
    }
    assert_eq!(here.list(&foos(), Range::default()), there.list(&foos(), Range::default()));
}

/// ES-41, ES-42: what a transaction or a lease changes at once has one revision, and comes at once.
#[tokio::test]
async fn changes_that_are_made_together_come_together() {
    let Some(etcd) = Process::start() else { return };
    let storage = open(&etcd).await;
    let begin = storage.revision();
    let puts = ["a 1", "b 2"].map(|put| format!("put /registry/example.com/foos/default/{put}"));
    etcd.ctl_with(&["txn"], &format!("\n{}\n\n\n", puts.join("\n")));
    storage.catch_up().await.unwrap();
    assert_eq!(storage.revision(), begin + 1);
    let mut watch = storage.watch(&foos(), "", begin).unwrap();
    let mut next =
        || watch.try_next().unwrap().map(|event| (event.revision, event.key().to_owned()));
    assert_eq!(next(), Some((begin + 1, "default/a".to_owned())));
    assert_eq!(next(), Some((begin + 1, "default/b".to_owned())));
    assert_eq!(next(), None);
    assert_eq!(storage.list_at(&foos(), Range::default(), begin).unwrap().objects, []);
    let loaded = connect(&etcd).await.load().await.unwrap();
    let keys: Vec<_> = loaded.changes.iter().map(|Change { key, .. }| key.as_str()).collect();
    assert_eq!(keys, ["default/a", "default/b"]);
}

/// ES-43: where the changes are compacted, all is loaded anew.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn changes_that_are_forgotten_are_found_all_the_same() {
    let Some(mut etcd) = Process::start() else { return };
    let storage = open(&etcd).await;
    let first = storage.write(&foos(), "a", Write::create("1")).await.unwrap();
    storage.write(&foos(), "b", Write::create("1")).await.unwrap();
    let mut watch = storage.watch(&foos(), "", first).unwrap();
    // While the storage is cut off, another one writes, and forgets.
    etcd.signal("STOP");
    etcd.kill();
    etcd.start_again();
    let other = connect(&etcd).await;
    let commit = |key: &str, expected, text: Option<&'static str>| Commit {
        collection: foos(),
        key: key.to_owned(),
        expected,
        text: text.map(Into::into),
    };
    other.commit(commit("a", Some(first), None)).await.unwrap();
    let newest = other.commit(commit("c", None, Some("3"))).await.unwrap();
    other.compact(newest).await.unwrap();
    storage.catch_up().await.unwrap();
    let listed = storage.list(&foos(), Range::default()).objects;
    let keys: Vec<_> = listed.iter().map(|object| &*object.key).collect();
    assert_eq!(keys, ["b", "c"]);
    while let Ok(event) = watch.next().await {
        assert!(event.revision <= newest);
        if event.revision == newest {
            break;
        }
    }
}

/// An authority, and what it has signed: a certificate for this machine or a client, and its key.
struct Authority(rcgen::CertifiedIssuer<'static, rcgen::KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut parameters = rcgen::CertificateParams::new(Vec::new()).unwrap();
        parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let key = rcgen::KeyPair::generate().unwrap();
        Authority(rcgen::CertifiedIssuer::self_signed(parameters, key).unwrap())
    }

    fn sign(&self, name: &str, purpose: rcgen::ExtendedKeyUsagePurpose) -> (String, String) {
        let mut parameters = rcgen::CertificateParams::new([name.to_owned()]).unwrap();
        parameters.extended_key_usages.push(purpose);
        let key = rcgen::KeyPair::generate().unwrap();
        let certificate = parameters.signed_by(&key, &self.0).unwrap();
        (certificate.pem(), key.serialize_pem())
    }
}

/// An etcd that knows its clients by their certificates.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn clients_show_certificates_of_the_authority() {
    use rcgen::ExtendedKeyUsagePurpose::{ClientAuth, ServerAuth};

    let (authority, other) = (Authority::new(), Authority::new());
    let (certificate, key) = authority.sign("127.0.0.1", ServerAuth);
    let Some(etcd) = Process::start_secured(&authority.0.pem(), &certificate, &key) else { return };
    let options = || EtcdOptions::new([etcd.url()]).authority(authority.0.pem());
    let (certificate, key) = authority.sign("apiserver", ClientAuth);
    let backend = Etcd::open(options().identity(certificate.clone(), key.clone())).await.unwrap();
    let storage = Storage::open(backend, HistoryLimits::default()).await.unwrap();
    storage.write(&foos(), "default/a", Write::create("{}")).await.unwrap();
    assert_eq!(storage.list(&foos(), Range::default()).objects.len(), 1);

    let (stranger, its_key) = other.sign("apiserver", ClientAuth);
    for refused in [
        options(),
        options().identity(stranger, its_key),
        EtcdOptions::new([etcd.url()]).authority(other.0.pem()).identity(certificate, key),
    ] {
        Etcd::probe(&refused).await.unwrap_err();
    }
}
