"""The Python client of Kubernetes against `billhook serve`; the argument is the kubeconfig."""

import sys
import threading
import time

from kubernetes import client, config, watch
from kubernetes.client.rest import ApiException
from kubernetes.dynamic import DynamicClient

GROUP, VERSION, PLURAL = "example.com", "v1", "foos"
PLACE = (GROUP, VERSION, "default", PLURAL)
SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "size": {"type": "integer", "maximum": 9},
                "color": {"type": "string", "default": "blue"},
            },
        },
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "foos.example.com"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": PLURAL, "kind": "Foo", "singular": "foo", "listKind": "FooList"},
        "versions": [
            {
                "name": VERSION,
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": SCHEMA},
            }
        ],
    },
}


def foo(name, size):
    return {
        "apiVersion": "example.com/v1",
        "kind": "Foo",
        "metadata": {"name": name, "labels": {"size": str(size)}},
        "spec": {"size": size},
    }


def expect_failure(code, reason, call):
    try:
        call()
    except ApiException as error:
        assert error.status == code, error
        assert reason in error.body, error.body
        return
    raise AssertionError(f"no failure with {code}")


def definitions():
    api = client.ApiextensionsV1Api()
    created = api.create_custom_resource_definition(DEFINITION)
    assert created.spec.names.kind == "Foo"
    found = api.read_custom_resource_definition("foos.example.com")
    conditions = {condition.type: condition.status for condition in found.status.conditions}
    assert conditions["Established"] == "True", conditions


def objects():
    api = client.CustomObjectsApi()
    created = api.create_namespaced_custom_object(*PLACE, foo("a", 1))
    assert created["spec"] == {"size": 1, "color": "blue"}, created
    too_large = lambda: api.create_namespaced_custom_object(*PLACE, foo("b", 10))
    expect_failure(422, "should be less than or equal to 9", too_large)
    again = lambda: api.create_namespaced_custom_object(*PLACE, foo("a", 1))
    expect_failure(409, "AlreadyExists", again)
    patched = api.patch_namespaced_custom_object(*PLACE, "a", {"spec": {"size": 2}})
    assert patched["metadata"]["generation"] == 2, patched
    operations = [{"op": "replace", "path": "/spec/color", "value": "red"}]
    patched = api.patch_namespaced_custom_object(
        *PLACE, "a", operations, _content_type="application/json-patch+json"
    )
    assert patched["spec"] == {"size": 2, "color": "red"}, patched
    patched["status"] = {"ready": True}
    replaced = api.replace_namespaced_custom_object_status(*PLACE, "a", patched)
    assert replaced["status"] == {"ready": True}, replaced
    listed = api.list_namespaced_custom_object(*PLACE, label_selector="size=1")
    assert [item["metadata"]["name"] for item in listed["items"]] == ["a"], listed


def changes():
    api = client.CustomObjectsApi()
    listed = api.list_namespaced_custom_object(*PLACE)

    def write():
        api.create_namespaced_custom_object(*PLACE, foo("w", 1))
        api.patch_namespaced_custom_object(*PLACE, "w", {"spec": {"size": 3}})
        api.delete_namespaced_custom_object(*PLACE, "w")

    writer = threading.Thread(target=write)
    writer.start()
    stream = watch.Watch().stream(
        api.list_namespaced_custom_object,
        *PLACE,
        resource_version=listed["metadata"]["resourceVersion"],
        timeout_seconds=60,
    )
    seen = []
    for event in stream:
        seen.append((event["type"], event["object"]["spec"]["size"]))
        if event["type"] == "DELETED":
            break
    writer.join()
    assert seen == [("ADDED", 1), ("MODIFIED", 3), ("DELETED", 3)], seen


def core_kinds():
    api = client.CoreV1Api()
    api.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name="team")))
    config_map = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="a"), data={"x": "y"})
    api.create_namespaced_config_map("team", config_map)
    assert api.read_namespaced_config_map("a", "team").data == {"x": "y"}
    names = [item.metadata.name for item in api.list_namespace().items]
    assert "team" in names and "kube-system" in names, names
    api.delete_namespace("team")
    expect_failure(404, "NotFound", lambda: api.read_namespace("team"))


def dynamic():
    foos = DynamicClient(client.ApiClient()).resources.get(api_version="example.com/v1", kind="Foo")
    applied = foos.server_side_apply(
        body=foo("d", 4), namespace="default", field_manager="python", force_conflicts=True
    )
    assert applied.metadata.managedFields[0].operation == "Apply", applied
    foos.delete(name="d", namespace="default")


def who():
    review = client.AuthenticationV1Api().create_self_subject_review(client.V1SelfSubjectReview())
    assert review.status.user_info.username == "system:admin", review
    attributes = client.V1ResourceAttributes(verb="get", group=GROUP, resource=PLURAL)
    spec = client.V1SelfSubjectAccessReviewSpec(resource_attributes=attributes)
    body = client.V1SelfSubjectAccessReview(spec=spec)
    review = client.AuthorizationV1Api().create_self_subject_access_review(body)
    assert review.status.allowed, review


def wait_until_gone(name):
    for _ in range(200):
        try:
            client.ApiextensionsV1Api().read_custom_resource_definition(name)
        except ApiException as error:
            assert error.status == 404, error
            return
        time.sleep(0.05)
    raise AssertionError(f"{name} stays")


def end():
    client.CustomObjectsApi().delete_namespaced_custom_object(*PLACE, "a")
    client.ApiextensionsV1Api().delete_custom_resource_definition("foos.example.com")
    wait_until_gone("foos.example.com")
    listed = lambda: client.CustomObjectsApi().list_namespaced_custom_object(*PLACE)
    expect_failure(404, "404 page not found", listed)


if __name__ == "__main__":
    config.load_kube_config(sys.argv[1])
    for step in [definitions, objects, changes, core_kinds, dynamic, who, end]:
        step()
        print("passed:", step.__name__)
