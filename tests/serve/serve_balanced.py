#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: serve_balanced.py LIGHTNET-SERVE. Three servers behind nginx: some are killed, a model is broken.

The configuration is that of docs/serving.md, with other ports.
"""
import contextlib
import http.client
import os
import re
import shutil
import subprocess
import sys
import threading

from serve_kit import ROOT, Server, folder, free_ports, read_response, request, scaled, wait_for, write
import numpy as np
from checks import run_tests, same, test
from tap import Tap

PROGRAM = sys.argv[1]


def configuration(ports):
    """serve/deploy/nginx.conf for these ports."""
    with open(os.path.join(ROOT, "serve/deploy/nginx.conf"), encoding="utf-8") as file:
        text = file.read()
    for old, new in zip(("18080", "18081", "18082", "18083"), ports):
        text, n = re.subn(rf":{old}\b", f":{new}", text)
        assert n == 1, f"{n} times :{old}"
    return text + "daemon off;\nmaster_process off;\n"


class Load:
    """Clients that send requests one after the other until they are stopped."""

    def __init__(self, port, n=4):
        self.port, self.ending = port, threading.Event()
        self.answered, self.failed = [0] * n, []
        self.threads = [threading.Thread(target=self.run, args=(i,), daemon=True) for i in range(n)]
        for thread in self.threads:
            thread.start()

    def run(self, i):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        k = 0
        while not self.ending.is_set():
            k += 1
            x = np.full((1, 2), 1000 * i + k, np.float32)
            try:
                self.ask(connection, x)
                self.answered[i] += 1
            except Exception as error:
                self.failed.append(repr(error))
                connection.close()
        connection.close()

    def ask(self, connection, x):
        body, headers = request({"x": x})
        connection.request("POST", "/v2/models/m/infer", body, headers)
        response = connection.getresponse()
        answer = response.read()
        assert response.status == 200, f"{response.status}: {answer[:200]}"
        assert (read_response(response.headers, answer)["y"] == 2 * x).all(), "a wrong answer"

    def wait_for_more(self, n=60):
        wanted = sum(self.answered) + n
        wait_for(lambda: sum(self.answered) >= wanted)

    def stop(self):
        self.ending.set()
        for thread in self.threads:
            thread.join()


@contextlib.contextmanager
def balanced(models, ready):
    """Three servers of models {name: content} behind nginx, once all have the page `ready`: (the port of nginx, servers, start(i))."""
    with folder() as path:
        for name, content in models.items():
            write(f"{path}/models/{name}.onnx", content)
        ports = free_ports(4)
        write(f"{path}/nginx.conf", configuration(ports).encode())
        start = lambda i: Server(PROGRAM, f"{path}/models", port=ports[1 + i], wait=False)
        servers = [start(i) for i in range(3)]
        nginx = subprocess.Popen(["nginx", "-p", path, "-e", f"{path}/error.log", "-c", f"{path}/nginx.conf"])
        try:
            for port in (*ports[1:], ports[0]):
                wait_for(lambda: is_there(port, ready))
            yield ports[0], servers, start
        finally:
            nginx.terminate()
            nginx.wait()
            for server in servers:
                server.__exit__(Exception)


def kill(server):
    server.process.kill()
    server.process.wait()


def post(port, model, size=2):
    """(status, type, text)."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    body, headers = request({"x": np.zeros((1, size), np.float32)})
    connection.request("POST", f"/v2/models/{model}/infer", body, headers)
    response = connection.getresponse()
    answer = response.status, response.headers["Content-Type"], response.read()
    connection.close()
    return answer


@test
def no_client_notices_that_a_server_is_killed_and_started_again():
    with balanced({"m": scaled(2)}, "/v2/health/ready") as (port, servers, start):
        load = Load(port)
        load.wait_for_more()
        kill(servers[1])
        load.wait_for_more(200)
        servers[1] = start(1)
        wait_for(lambda: requests_of(servers[1]) > 10)
        load.wait_for_more()
        load.stop()
        shares = [requests_of(server) for server in servers]
        return load.failed[:3] + ([] if min(shares) > 10 else [f"shares of {shares}"])


@test
def one_of_three_servers_answers_all():
    # Each request may find both that have gone first.
    with balanced({"m": scaled(2)}, "/v2/health/ready") as (port, servers, _):
        kill(servers[0])
        kill(servers[2])
        return [f"request {i}: {got}" for i in range(40) for got in [post(port, "m")[0]] if got != 200]


@test
def broken_model_does_not_take_servers_out():
    with balanced({"m": scaled(2), "broken": b"no model"}, "/v2/models/m/ready") as (port, servers, _):
        load, faults = Load(port), []
        for _ in range(100):
            status, kind, text = post(port, "broken")
            faults += same((status, kind), (503, "application/json")) + ([] if b"'broken' is not loaded" in text else [f"{text}"])
        load.wait_for_more()
        load.stop()
        shares = [requests_of(server) for server in servers]
        return faults[:3] + load.failed[:3] + ([] if min(shares) > 10 else [f"shares of {shares}"])


@test
def errors_of_nginx_are_json():
    with balanced({"m": scaled(2)}, "/v2/health/ready") as (port, servers, _):
        faults = same(post(port, "m", 17 << 20), (413, "application/json", b'{"error":"the request has more than 64 MiB, the max"}'))
        for server in servers:
            kill(server)
        return faults + same(post(port, "m"), (502, "application/json", b'{"error":"no server can be reached"}'))


def is_there(port, page):
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", page)
        return connection.getresponse().status == 200
    except OSError:
        return False


def requests_of(server):
    return sum(server.metrics().get("lightnet_requests_total", {}).values())


if __name__ == "__main__":
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    if not shutil.which("nginx"):
        tap = Tap()
        tap.skip("three servers behind nginx", "there is no nginx")
        tap.end()
    run_tests()
