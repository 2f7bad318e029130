#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: serve_kserve.py LIGHTNET-SERVE. The manifest of KServe: its fields, and its container's command line.

The fields are those of KServe's types (pkg/apis/serving, v1alpha1 and v1beta1) and of Kubernetes' containers that a manifest of
this kind needs, so a field that is misspelled or in a wrong place is found. The command runs with models in /mnt/models, where KServe
puts them; that needs root, and a namespace of mounts.
"""
import os
import shutil
import signal
import subprocess
import sys
import time

from serve_kit import DIGITS, ROOT, folder
from checks import run_tests, same, test
from tap import Tap

PROGRAM = os.path.abspath(sys.argv[1])
MANIFEST = os.path.join(ROOT, "serve/deploy/kserve.yaml")

# {field: kind}: a type, a table, a list of one kind, a set of values, or a function that returns whether a value fits.
TEXTS = lambda value: isinstance(value, dict) and all(isinstance(part, str) for pair in value.items() for part in pair)
ADDRESS = lambda value: value in range(1, 65536)
PATH = lambda value: isinstance(value, str) and value.startswith("/")
METADATA = {"name": str, "namespace": str, "labels": TEXTS, "annotations": TEXTS}
PROBE = {"httpGet": {"path": PATH, "port": ADDRESS, "scheme": {"HTTP", "HTTPS"}}, "initialDelaySeconds": int, "timeoutSeconds": int,
         "periodSeconds": int, "successThreshold": int, "failureThreshold": int}
RESOURCES = {"cpu": str, "memory": str}
CONTAINER = {"name": str, "image": str, "command": [str], "args": [str], "env": [{"name": str, "value": str}],
             "ports": [{"name": str, "containerPort": ADDRESS, "protocol": {"TCP"}}], "resources": {"requests": RESOURCES, "limits": RESOURCES},
             "livenessProbe": PROBE, "readinessProbe": PROBE, "startupProbe": PROBE}
PROTOCOL = {"v1", "v2", "grpc-v1", "grpc-v2"}
RUNTIME = {"apiVersion": {"serving.kserve.io/v1alpha1"}, "kind": {"ServingRuntime", "ClusterServingRuntime"}, "metadata": METADATA, "spec": {
    "supportedModelFormats": [{"name": str, "version": str, "autoSelect": bool, "priority": int}], "multiModel": bool, "disabled": bool,
    "protocolVersions": [PROTOCOL], "containers": [CONTAINER], "nodeSelector": TEXTS, "labels": TEXTS, "annotations": TEXTS}}
SERVICE = {"apiVersion": {"serving.kserve.io/v1beta1"}, "kind": {"InferenceService"}, "metadata": METADATA, "spec": {"predictor": {
    "minReplicas": int, "maxReplicas": int, "timeout": int, "containerConcurrency": int, "terminationGracePeriodSeconds": int,
    "serviceAccountName": str, "model": {"modelFormat": {"name": str, "version": str}, "runtime": str, "protocolVersion": PROTOCOL,
                                         "storageUri": str, "runtimeVersion": str}}}}


def faults_of(value, kind, at):
    """Where a value is not of its kind."""
    if isinstance(kind, list):
        if not isinstance(value, list):
            return [f"{at} is no list"]
        return [fault for i, one in enumerate(value) for fault in faults_of(one, kind[0], f"{at}[{i}]")]
    if isinstance(kind, dict):
        if not isinstance(value, dict):
            return [f"{at} is no object"]
        return [fault for name, one in value.items()
                for fault in (faults_of(one, kind[name], f"{at}.{name}") if name in kind else [f"{at} has no field '{name}'"])]
    fits = value in kind if isinstance(kind, set) else type(value) is kind if isinstance(kind, type) else kind(value)
    return [] if fits else [f"{at} is {value!r}"]


def manifest():
    import yaml
    with open(MANIFEST, encoding="utf-8") as file:
        return list(yaml.safe_load_all(file))


@test
def fields_are_those_of_kserve():
    runtime, service = manifest()
    return faults_of(runtime, RUNTIME, "runtime") + faults_of(service, SERVICE, "service")


@test
def wrong_fields_are_found():
    runtime, service = manifest()
    runtime["spec"]["containers"][0]["readinessProbes"] = {}
    runtime["spec"]["containers"][0]["ports"][0]["containerPort"] = "8080"
    service["spec"]["predictor"]["model"]["protocolVersion"] = "v3"
    service["spec"]["terminationGracePeriodSeconds"] = 60
    return same(faults_of(runtime, RUNTIME, "runtime"), ["runtime.spec.containers[0].ports[0].containerPort is '8080'",
                                                         "runtime.spec.containers[0] has no field 'readinessProbes'"]) + \
        same(faults_of(service, SERVICE, "service"), ["service.spec.predictor.model.protocolVersion is 'v3'",
                                                      "service.spec has no field 'terminationGracePeriodSeconds'"])


@test
def drain_has_its_time():
    # In KServe's default mode, Knative rejects the grace period (kserve's issues 1546 and 1723).
    _, service = manifest()
    mode = service["metadata"]["annotations"]["serving.kserve.io/deploymentMode"]
    return same("terminationGracePeriodSeconds" in service["spec"]["predictor"] and mode != "RawDeployment", False)


@test
def documents_fit_together():
    runtime, service = manifest()
    container, model = runtime["spec"]["containers"][0], service["spec"]["predictor"]["model"]
    formats = [(one["name"], one["autoSelect"]) for one in runtime["spec"]["supportedModelFormats"]]
    drain = {arg.split("=")[0]: arg.split("=")[1] for arg in container["args"][1:]}
    seconds = float(drain["--drain-delay"]) + float(drain.get("--drain", 30))
    return same(model["runtime"], runtime["metadata"]["name"]) + same((model["modelFormat"]["name"], True) in formats, True) + \
        same(model["protocolVersion"] in runtime["spec"]["protocolVersions"], True) + same(container["name"], "kserve-container") + \
        same([one["containerPort"] for one in container["ports"]], [int(drain["--port"])]) + \
        same(service["metadata"]["annotations"]["prometheus.io/port"], drain["--port"]) + \
        same(service["spec"]["predictor"]["terminationGracePeriodSeconds"] > seconds, True)


# The container

def lacks():
    if not shutil.which("unshare") or not shutil.which("ip") or os.geteuid():
        return "namespaces need root, unshare and ip"
    done = subprocess.run(["unshare", "--mount", "--net", "sh", "-c", "mount -t tmpfs none /mnt && ip link set lo up"], capture_output=True, text=True)
    return f"namespaces cannot be made: {done.stderr.strip()}" if done.returncode else None


def run_container(models):
    """In namespaces of its own: the command line of the manifest, its probes, and a request. What is wrong, a line each."""
    container = manifest()[0]["spec"]["containers"][0]
    subprocess.run(["sh", "-ec", "mount -t tmpfs none /mnt && mkdir /mnt/models && mount --bind $0 /mnt/models && "
                    "mount -o remount,bind,ro /mnt/models && ip link set lo up", models], check=True)
    environment = {**os.environ, "PATH": os.path.dirname(PROGRAM) + ":" + os.environ["PATH"]}
    name = manifest()[1]["metadata"]["name"]
    arguments = [argument.replace("{{.Name}}", name) for argument in container["args"]]
    server = subprocess.Popen(container["command"] + arguments, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        faults = check_container(container, server)
    finally:
        server.kill()
    print("\n".join(faults), end="")
    return 0


def get(url, end):
    """The status and the text, once there is an answer."""
    import http.client
    import urllib.error
    import urllib.request
    while True:
        try:
            with urllib.request.urlopen(url, timeout=10) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            answer = error.code, error.read().decode()
        except (OSError, http.client.HTTPException) as error:
            answer = 0, str(error)
        if time.monotonic() > end:
            return answer
        time.sleep(.05)


def check_container(container, server):
    faults = []
    for name in ("readinessProbe", "livenessProbe"):
        probe = container[name]["httpGet"]
        faults += [f"{name}: {fault}" for fault in same(get(f"http://127.0.0.1:{probe['port']}{probe['path']}", time.monotonic() + 20)[0], 200)]
    service = manifest()[1]["metadata"]["name"]
    status, text = get(f"http://127.0.0.1:8080/v2/models/{service}", time.monotonic() + 1)
    faults += same(status, 200) + ([] if '"shape":[1,1,28,28]' in text else [text])
    begin = time.monotonic()
    server.send_signal(signal.SIGTERM)
    while get("http://127.0.0.1:8080/v2/health/ready", time.monotonic())[0] == 200 and time.monotonic() < begin + 3:
        time.sleep(.01)  # the signal is on its way
    faults += same(get("http://127.0.0.1:8080/v2/health/ready", time.monotonic())[0], 503)
    faults += same(server.wait(30), 0)
    return faults + ([] if 4.5 < time.monotonic() - begin < 20 else [f"it ends after {time.monotonic() - begin} s, expected 5"])


def runs_with(*places):
    """The model at these places below /mnt/models."""
    with folder() as path:
        for place in places:
            os.makedirs(os.path.dirname(f"{path}/{place}"), exist_ok=True)
            shutil.copy(DIGITS, f"{path}/{place}")
        done = subprocess.run(["unshare", "--mount", "--net", "--fork", "--kill-child", sys.executable, __file__, PROGRAM, "container", path],
                              capture_output=True, text=True, timeout=120)
        return same(done.returncode, 0) + same(done.stdout, "") + ([done.stderr] if done.returncode else [])


def container_serves_a_file():
    return runs_with("model.onnx")


def container_serves_a_file_of_another_name():
    return runs_with("net.onnx")


def container_serves_versions():
    return runs_with("1/model.onnx", "2/model.onnx")


if __name__ == "__main__":
    if sys.argv[2:3] == ["container"]:
        sys.exit(run_container(sys.argv[3]))
    try:
        import yaml
    except ImportError:
        tap = Tap()
        tap.skip("the manifest of KServe", "there is no python3-yaml")
        tap.end()
    reason = lacks()
    containers = [] if reason else [container_serves_a_file, container_serves_a_file_of_another_name, container_serves_versions]
    if reason:
        print(f"# the container is not run: {reason}")
    for container in containers:
        test(container)
    run_tests(beside=containers)  # each drains for seconds
