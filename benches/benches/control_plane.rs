//! A cluster in process: real time and memory of much work, and of much virtual time. Prints a table:
//! `cargo bench -p billhook-benches --bench control_plane`. Names after a `--` choose lines.

use std::time::{Duration, Instant};

use billhook_control_plane::ControlPlane;
use http::Request;
use serde_json::{Value, json};
use tower_service::Service as _;

/// As in the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with("--")).collect();
    let is_chosen = |name: &str| chosen.is_empty() || chosen.iter().any(|it| name.contains(&**it));
    let works: [(&str, Work); 5] = [
        ("1,000 pods of a Deployment", Work::Pods(1_000)),
        ("10,000 pods of a Deployment", Work::Pods(10_000)),
        ("a rollout of 100 pods", Work::Rollout(100)),
        ("an hour of 100 CronJobs each minute", Work::Hours(1)),
        ("a day of 100 CronJobs each minute", Work::Hours(24)),
    ];
    for (name, work) in works.into_iter().filter(|(name, _)| is_chosen(name)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let took = runtime.expect("a runtime").block_on(work.run());
        println!("{name}: {took:.1?}, {} MB at most so far", peak_memory());
    }
}

/// The work of a line.
#[derive(Clone, Copy)]
enum Work {
    Pods(u32),
    Rollout(u32),
    /// So many hours of CronJobs.
    Hours(u64),
}

impl Work {
    /// Does it. Returns how long it takes, without what comes before.
    async fn run(self) -> Duration {
        let plane = ControlPlane::builder().build().await;
        plane.settled().await.expect("rest");
        if let Work::Rollout(count) = self {
            create(&plane, &[deployment(count)]).await;
        }
        let began = Instant::now();
        match self {
            Work::Pods(count) => create(&plane, &[deployment(count)]).await,
            Work::Rollout(_) => change_image(&plane).await,
            Work::Hours(hours) => {
                create(&plane, &(0..100).map(cron_job).collect::<Vec<_>>()).await;
                plane.advance(Duration::from_secs(hours * 3600)).await.expect("rest");
            }
        }
        began.elapsed()
    }
}

/// Creates objects, and lets the controllers work.
async fn create(plane: &ControlPlane, objects: &[Value]) {
    plane.server().create_all(objects).await.expect("valid objects");
    plane.settled().await.expect("rest");
}

/// Changes the image of the Deployment's pods, and lets the controllers work.
async fn change_image(plane: &ControlPlane) {
    let container = json!({"name": "c", "image": "new"});
    let patch = json!({"spec": {"template": {"spec": {"containers": [container]}}}});
    let request = Request::patch("/apis/apps/v1/namespaces/default/deployments/web")
        .header("Content-Type", "application/merge-patch+json")
        .body(patch.to_string());
    let response = plane.server().clone().call(request.expect("a request")).await;
    assert!(response.is_ok_and(|response| response.status() == 200), "a valid patch");
    plane.settled().await.expect("rest");
}

fn deployment(replicas: u32) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        },
    })
}

fn cron_job(number: u32) -> Value {
    let pod = json!({"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]});
    json!({
        "apiVersion": "batch/v1", "kind": "CronJob",
        "metadata": {"name": format!("c{number}"), "namespace": "default"},
        "spec": {
            "schedule": "* * * * *", "jobTemplate": {"spec": {"template": {"spec": pod}}},
        },
    })
}

/// Returns the peak memory of the process, in megabytes; 0 where the system does not say it.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or_default() / 1024
}
