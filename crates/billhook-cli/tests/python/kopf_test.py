"""Runs an operator of kopf against `billhook serve`; the argument is the kubeconfig."""

import os
import pathlib
import subprocess
import sys
import time

from kubernetes import client, config

from client import DEFINITION, PLACE, expect_failure, foo

TIMEOUT = 60


def wait(what, condition):
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end, f"still waiting: {what}"
        time.sleep(0.05)


def main(kubeconfig):
    config.load_kube_config(kubeconfig)
    foos, core = client.CustomObjectsApi(), client.CoreV1Api()
    client.ApiextensionsV1Api().create_custom_resource_definition(DEFINITION)
    program = pathlib.Path(__file__).with_name("kopf_operator.py")
    command = [sys.executable, "-m", "kopf", "run", "--standalone", "-n", "default", str(program)]
    operator = subprocess.Popen(command, env={**os.environ, "KUBECONFIG": kubeconfig})
    try:
        status = lambda: foos.get_namespaced_custom_object(*PLACE, "a").get("status", {})
        foos.create_namespaced_custom_object(*PLACE, foo("a", 1))
        wait("published", lambda: status().get("published") == 1)
        owner = core.read_namespaced_config_map("a", "default").metadata.owner_references[0]
        assert owner.kind == "Foo", owner
        foos.patch_namespaced_custom_object(*PLACE, "a", {"spec": {"size": 2}})
        wait("published again", lambda: status().get("published") == 2)
        foos.delete_namespaced_custom_object(*PLACE, "a")
        names = lambda: foos.list_namespaced_custom_object(*PLACE)["items"]
        wait("deleted", lambda: not names())
        expect_failure(404, "NotFound", lambda: core.read_namespaced_config_map("a", "default"))
    finally:
        operator.terminate()
        operator.wait()
    print("passed: kopf")


main(sys.argv[1])
