//! Objects that are made to take long: their cost grows with their size only.

use serde_json::{Value, json};

use crate::support::Subject;

/// Items of long lists are not compared with all of those before them.
#[test]
fn long_lists() {
    const COUNT: usize = 20_000;
    let many = |item: &dyn Fn(usize) -> Value| -> Value {
        (0..COUNT).map(item).chain([item(0)]).collect()
    };
    let container = json!({
        "name": "c", "image": "i",
        "ports": many(&|index| json!({"containerPort": 1, "name": format!("p{index}")})),
        "volumeMounts": many(&|index| json!({"name": "v", "mountPath": format!("/{index}")})),
    });
    let pod = json!({"metadata": {"name": "a", "namespace": "default"}, "spec": {
        "containers": [container],
        "volumes": [{"name": "v", "emptyDir": {}}],
        "initContainers": many(&|index| json!({"name": format!("i{index}"), "image": "i"})),
        "schedulingGates": many(&|index| json!({"name": format!("g{index}")})),
    }});
    let path = "spec.containers[0]";
    assert_eq!(
        Subject::new("v1", "Pod").errors(pod, None),
        [
            format!("{path}.ports[{COUNT}].name: Duplicate value: \"p0\""),
            format!(
                "{path}.volumeMounts[{COUNT}].mountPath: Invalid value: \"/0\": must be unique"
            ),
            format!("spec.initContainers[{COUNT}].name: Duplicate value: \"i0\""),
            format!("spec.schedulingGates[{COUNT}]: Duplicate value: \"g0\""),
        ],
    );
}
