//! Histories of clients of one and of three storages over one etcd, while it is stopped, killed,
//! compacted and cut off.

use std::time::Duration;

use billhook_apiserver::etcd::{Etcd, EtcdOptions};
use billhook_apiserver::storage::{HistoryLimits, Storage};
use billhook_testing::etcd::Etcd as Process;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::checker::check;
use super::histories::run_over;

/// A way to an etcd that can be cut.
struct Way {
    url: String,
    cut: tokio::sync::watch::Sender<u64>,
}

impl Way {
    async fn to(etcd: &Process) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let target = etcd.url().replace("http://", "");
        let (cut, cuts) = tokio::sync::watch::channel(0);
        tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((mut client, _)) = listener.accept().await {
                let (target, mut cuts) = (target.clone(), cuts.clone());
                cuts.mark_unchanged();
                connections.spawn(async move {
                    let Ok(mut server) = TcpStream::connect(target).await else { return };
                    tokio::select! {
                        _ = copy_bidirectional(&mut client, &mut server) => {}
                        _ = cuts.changed() => {}
                    }
                });
            }
        });
        Way { url, cut }
    }

    /// Breaks all connections; new ones can be made.
    fn cut(&self) {
        self.cut.send_modify(|cut| *cut += 1);
    }
}

/// Opens a storage of its own for each number.
async fn open(way: &Way, number: usize) -> Storage {
    let options = EtcdOptions::new([&way.url]).prefix(format!("/{number}"));
    let backend = Etcd::open(options).await.unwrap();
    Storage::open(backend, HistoryLimits::new(100_000, 64 << 20)).await.unwrap()
}

async fn storages(etcd: &Process, count: usize) -> (Vec<Storage>, Vec<Way>) {
    let (mut storages, mut ways) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let way = Way::to(etcd).await;
        storages.push(open(&way, count).await);
        ways.push(way);
    }
    (storages, ways)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn histories_over_etcd_are_linearizable() {
    let Some(etcd) = Process::start() else { return };
    for count in [1, 3] {
        let (storages, _ways) = storages(&etcd, count).await;
        let (steps, log) = run_over(&storages, 2000, async {}).await;
        check(&steps, &log).unwrap();
        assert!(!log.is_empty());
    }
}

/// ES-60, ES-65: whatever happens to etcd and to the connections, nothing that was acknowledged is lost, and
/// nothing is seen that was not written.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn histories_over_a_disturbed_etcd_are_linearizable() {
    let Some(mut etcd) = Process::start() else { return };
    for count in [1, 3] {
        let (storages, ways) = storages(&etcd, count).await;
        let disturbed = async {
            for round in 0_usize.. {
                // Not a wait for anything: disturbances have their distance.
                tokio::time::sleep(Duration::from_millis(250)).await;
                match round % 4 {
                    0 => ways[round % ways.len()].cut(),
                    // In one piece, so that the end of the test cannot leave it stopped.
                    1 => tokio::task::block_in_place(|| {
                        etcd.signal("STOP");
                        std::thread::sleep(Duration::from_millis(100));
                        etcd.signal("CONT");
                    }),
                    2 => storages[0]
                        .compact(storages[0].revision().saturating_sub(500))
                        .await
                        .map_or((), drop),
                    _ => {
                        etcd.kill();
                        etcd.start_again();
                    }
                }
            }
        };
        let (steps, log) = run_over(&storages, 400, disturbed).await;
        check(&steps, &log).unwrap();
        assert!(!log.is_empty());
    }
}

/// ES-61, ES-65: while members of a cluster go and come back, so that its leader changes, each write that was
/// acknowledged is there, and one whose outcome is unknown was made once at most.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn histories_over_changing_leaders_are_linearizable() {
    let Some(mut members) = Process::start_cluster(3) else { return };
    let urls: Vec<String> = members.iter().map(Process::url).collect();
    let mut storages = Vec::new();
    for _ in 0..2 {
        let backend = Etcd::open(EtcdOptions::new(urls.clone())).await.unwrap();
        let limits = HistoryLimits::new(100_000, 64 << 20);
        storages.push(Storage::open(backend, limits).await.unwrap());
    }
    let disturbed = async {
        for round in 0_usize.. {
            // Not a wait for anything: a cluster needs some time to find a leader.
            let member = &mut members[round % 3];
            tokio::time::sleep(Duration::from_millis(100)).await;
            member.kill();
            tokio::time::sleep(Duration::from_millis(300)).await;
            member.start_again();
            tokio::time::sleep(Duration::from_millis(1500)).await;
        }
    };
    let (steps, log) = run_over(&storages, 1000, disturbed).await;
    check(&steps, &log).unwrap();
    assert!(!log.is_empty());
}
