//! `billhook explain-expression`: where the values come from, and what is printed of them.

use crate::support::{Scratch, cases, run, snapshot};

cases! {
    expression_object: "explain-expression --object fixtures/match/pod.yaml object.spec.containers.all(c,c.image.endsWith(':1')||c.image.startsWith('registry/'))";
    expression_json: "explain-expression --format json --object fixtures/match/pod.yaml object.spec.containers.exists(c,c.name=='web')||has(object.spec.nodeName)";
    expression_request: "explain-expression --request fixtures/match/review.json --allow delete:stacks.platform.example.com request.userInfo.username=='carol'&&object==oldObject&&authorizer.requestResource.check('delete').allowed()&&namespaceObject==null";
    expression_params: "explain-expression --object fixtures/match/pod.yaml --params - object.metadata.labels.app==params.data.app"
        < ["kind: ConfigMap\ndata: {app: other}\n"];
    expression_variables: "explain-expression --object fixtures/match/pod.yaml --variable images=object.spec.containers.map(c,c.image) --variable first=variables.images[0] --variable unused=1/0 variables.first.size()>3&&variables.images.size()==1";
    expression_error: "explain-expression --object fixtures/match/pod.yaml object.spec.replicas>3";
    expression_undeclared: "explain-expression --object fixtures/match/pod.yaml object==params";
    expression_syntax: "explain-expression 1+";
    expression_without_values: "explain-expression [1,2].map(x,x*2)";
    expression_several_documents: "explain-expression --object - object" < ["a: 1\n---\nb: 2\n"];
    expression_bad_variable: "explain-expression --variable 1=2 true";
    expression_old_without_self: "explain-expression --old-self fixtures/match/pod.yaml self==oldSelf";
    help_explain_expression: "explain-expression --help";
}

const CRD: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: jobs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: jobs, kind: Job}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              runs:
                type: array
                items:
                  type: object
                  properties:
                    start: {type: string, format: date-time}
                    end: {type: string, format: date-time}
";

const JOB: &str = "
apiVersion: example.com/v1
kind: Job
spec: {runs: [{start: '2024-01-01T00:00:00Z', end: '2024-01-01T01:00:00Z'}]}
";

/// `self` has the types of the schema at its place.
#[test]
fn expression_of_a_rule() {
    let files = [("crd.yaml", CRD), ("job.yaml", JOB)];
    let scratch = Scratch::new("expression", &files);
    let shown = [
        "--crd DIR/crd.yaml --path spec.runs[0] self.start+duration('30m')<self.end",
        "--path spec.runs[0] self.start<self.end",
        "--old-self DIR/job.yaml --path spec self.runs.size()>=oldSelf.runs.size()",
        "--crd DIR/crd.yaml --path spec.runs[0] self.begin<self.end",
        "--crd DIR/crd.yaml --path spec.none self",
        "--path spec.runs[1] self",
        "--path spec..runs self",
    ]
    .map(|args| scratch.run(&format!("explain-expression --self DIR/job.yaml {args}")));
    snapshot!("expression_of_a_rule", shown.join("\n"));
}
