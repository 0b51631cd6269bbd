"""An operator of kopf: gives each Foo a ConfigMap, and says so in its status."""

import kopf
from kubernetes import client, config


@kopf.on.startup()
def start(settings, **_):
    config.load_kube_config()
    settings.posting.enabled = True


@kopf.on.create("example.com", "v1", "foos")
@kopf.on.update("example.com", "v1", "foos", field="spec")
def publish(name, namespace, spec, patch, **_):
    child = {"metadata": {"name": name}, "data": {"size": str(spec["size"])}}
    kopf.adopt(child)
    api = client.CoreV1Api()
    try:
        api.create_namespaced_config_map(namespace, child)
    except client.ApiException as error:
        if error.status != 409:
            raise
        api.patch_namespaced_config_map(name, namespace, child)
    patch.status["published"] = spec["size"]


@kopf.on.delete("example.com", "v1", "foos")
def remove(name, namespace, **_):
    client.CoreV1Api().delete_namespaced_config_map(name, namespace)
