#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: serve_balanced.py LIGHTNET-SERVE. Three servers behind nginx: one is killed under load, and started again.

The configuration is that of docs/serving.md, with other ports.
"""
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
        self.threads = [threading.Thread(target=self.run, args=(i,)) for i in range(n)]
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


@test
def no_client_notices_that_a_server_is_killed_and_started_again():
    with folder() as path:
        write(f"{path}/models/m.onnx", scaled(2))
        ports = free_ports(4)
        write(f"{path}/nginx.conf", configuration(ports).encode())
        servers = [Server(PROGRAM, f"{path}/models", port=port) for port in ports[1:]]
        nginx = subprocess.Popen(["nginx", "-p", path, "-e", f"{path}/error.log", "-c", f"{path}/nginx.conf"])
        try:
            wait_for(lambda: is_there(ports[0]))
            load = Load(ports[0])
            load.wait_for_more()
            servers[1].process.kill()
            servers[1].process.wait()
            load.wait_for_more(200)
            servers[1] = Server(PROGRAM, f"{path}/models", port=ports[2])
            wait_for(lambda: requests_of(servers[1]) > 10)
            load.wait_for_more()
            load.stop()
            shares = [requests_of(server) for server in servers]
            return load.failed[:3] + ([] if min(shares) > 10 else [f"shares of {shares}"])
        finally:
            nginx.terminate()
            nginx.wait()
            for server in servers:
                server.__exit__(Exception)


def is_there(port):
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", "/v2/health/ready")
        return connection.getresponse().status == 200
    except OSError:
        return False


def requests_of(server):
    return sum(server.metrics()["lightnet_requests_total"].values())


if __name__ == "__main__":
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    if not shutil.which("nginx"):
        tap = Tap()
        tap.skip("three servers behind nginx", "there is no nginx")
        tap.end()
    run_tests()
