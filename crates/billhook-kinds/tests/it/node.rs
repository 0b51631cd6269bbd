//! Runtime classes.

use serde_json::json;

use crate::support::Subject;

/// BK-487, BK-30: the overhead of pods has resources of containers, whose path is the server's.
#[test]
fn classes_have_handlers_overhead_and_tolerations() {
    let class = json!({
        "metadata": {"name": "a"},
        "handler": "A",
        "overhead": {"podFixed": {"pods": "1", "cpu": "-1"}},
        "scheduling": {"tolerations": [
            {"operator": "Exists"},
            {"operator": "Exists"},
            {"key": "k", "operator": "Odd"},
            {"value": "v"},
        ]},
    });
    let errors = Subject::new("node.k8s.io/v1", "RuntimeClass").errors(class, None);
    assert_eq!(
        errors,
        [
            "handler: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case \
         alphanumeric characters or '-', and must start and end with an alphanumeric character \
         (e.g. 'my-name',  or '123-abc', regex used for validation is \
         '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
            "overhead.limits[cpu]: Invalid value: \"-1\": must be greater than or equal to 0",
            "overhead.limits[pods]: Invalid value: \"pods\": must be a standard resource for \
         containers",
            "scheduling.tolerations[1]: Duplicate value: {\"Key\":\"\",\"Operator\":\"Exists\",\
         \"Value\":\"\",\"Effect\":\"\",\"TolerationSeconds\":null}",
            "scheduling.tolerations[2].operator: Unsupported value: \"Odd\": supported values: \
         \"Equal\", \"Exists\"",
            "scheduling.tolerations[3].operator: Invalid value: \"\": operator must be Exists when \
         `key` is empty, which means \"match all values and all keys\"",
        ]
    );
}
