#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: serve_listen.py LIGHTNET-SERVE. The addresses and ports that the server listens to, for HTTP and gRPC."""
import contextlib
import http.client
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time

from serve_kit import DIGITS, Server, accepts, folder, free_ports, wait_for, write
from checks import run_tests, same, test

PROGRAM = sys.argv[1]


def fails(*args, program=PROGRAM):
    """The exit status and the message of a server that cannot start."""
    done = subprocess.run([program, DIGITS, "--log", "none", *map(str, args)], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as one:
            one.bind(("::1", 0))
        return True
    except OSError:
        return False


@contextlib.contextmanager
def several_addresses():
    """The program with a table of hosts of its own: (program, a name, its addresses). It has one address if namespaces cannot be made."""
    addresses = ["127.0.0.1", "127.0.0.2", *(["::1"] if has_ipv6() else [])]
    with folder() as path:
        write(f"{path}/hosts", "".join(f"{address} many.test\n" for address in addresses).encode())
        inner = f"mount --bind {path}/hosts /etc/hosts && exec {os.path.abspath(PROGRAM)} \"$@\""
        with open(f"{path}/serve", "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nexec unshare --mount sh -c '{inner}' serve \"$@\"\n")
        os.chmod(f"{path}/serve", 0o755)
        if subprocess.run([f"{path}/serve", "--version"], capture_output=True).returncode:
            print("# namespaces cannot be made: a name with one address")
            yield PROGRAM, "localhost", ["127.0.0.1"]
        else:
            yield f"{path}/serve", "many.test", addresses


def is_live(host, port):
    connection = http.client.HTTPConnection(host, port, timeout=10)
    try:
        connection.request("GET", "/v2/health/live")
        return connection.getresponse().status == 200
    finally:
        connection.close()


@test
def port_in_use_is_an_error_for_both_front_ends():
    with Server(PROGRAM, DIGITS, "--grpc-port", 0) as server:
        grpc = int(server.wait_for_log(r"listening on grpc://127\.0\.0\.1:(\d+)")[1])
        text = "lightnet serve: error: cannot listen to 127.0.0.1:{}: Address already in use\n"
        return same(fails("--port", server.port), (1, text.format(server.port))) + \
            same(fails("--port", 0, "--grpc-port", grpc), (1, text.format(grpc))) + \
            same(fails("--port", grpc), (1, text.format(grpc))) + same(is_live("127.0.0.1", server.port), True)


@test
def port_is_free_at_once_after_a_server_has_ended():
    port, = free_ports(1)
    with Server(PROGRAM, DIGITS, port=port) as server:
        kept = server.connect()
        kept.request("GET", "/v2/health/live")
        kept.getresponse().read()
    with Server(PROGRAM, DIGITS, port=port) as server:
        kept.close()
        return same(is_live("127.0.0.1", server.port), True)


@test
def name_is_listened_to_at_all_its_addresses():
    with several_addresses() as (program, name, addresses), Server(program, DIGITS, "--host", name, "--grpc-port", 0) as server:
        grpc = int(server.wait_for_log(rf"listening on grpc://{name}:(\d+)")[1])
        return same([is_live(host, server.port) for host in addresses], [True] * len(addresses)) + \
            same([accepts(host, grpc) for host in addresses], [True] * len(addresses))


@test
def port_in_use_at_one_address_of_a_name_is_an_error():
    faults = []
    with several_addresses() as (program, name, addresses):
        for address in addresses:
            with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as other:
                other.bind((address, 0))
                other.listen()
                port = other.getsockname()[1]
                for options in (["--port", port], ["--port", 0, "--grpc-port", port]):
                    faults += same(fails("--host", name, *options, program=program),
                                   (1, f"lightnet serve: error: cannot listen to {name}:{port}: Address already in use\n"))
    return faults


@test
def ipv6_has_brackets_and_its_wildcard_includes_ipv4():
    if not has_ipv6():
        print("# there is no IPv6")
        return []
    with Server(PROGRAM, DIGITS, "--host", "::", "--grpc-port", 0) as server:
        grpc = int(server.wait_for_log(r"listening on grpc://\[::\]:(\d+)")[1])
        return same(bool(re.search(r"listening on http://\[::\]:\d+", server.text)), True) + \
            same([is_live(host, server.port) for host in ("127.0.0.1", "::1")], [True, True]) + \
            same([accepts(host, grpc) for host in ("127.0.0.1", "::1")], [True, True]) + \
            same(fails("--host", "::", "--port", server.port),
                 (1, f"lightnet serve: error: cannot listen to [::]:{server.port}: Address already in use\n"))


@test
def connections_are_refused_at_all_addresses_while_the_server_drains():
    faults = []
    with several_addresses() as (program, name, addresses), Server(program, DIGITS, "--host", name, "--grpc-port", 0) as server:
        grpc = int(server.wait_for_log(rf"listening on grpc://{name}:(\d+)")[1])
        with socket.create_connection(("127.0.0.1", server.port)) as held:
            held.send(b"POST /v2/models/digits/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
            wait_for(lambda: "lightnet_calls 2\n" in server.call("GET", "/metrics")[2].decode())
            server.process.send_signal(signal.SIGTERM)
            for host in addresses:
                for port in (server.port, grpc):
                    wait_for(lambda: not accepts(host, port), 10)
            faults += same(server.process.poll(), None)
            held.send(b"{}       ")
            faults += [] if held.recv(99).startswith(b"HTTP/1.1 400") else ["no answer"]
    return faults


def small_request(server):
    return server.post("/v2/models/digits/infer", b" " * 60000)[0]


def large_request(server):
    """A request that has begun and holds the memory, or None: a small one beside it held it first."""
    slow = socket.create_connection(("127.0.0.1", server.port))
    try:
        slow.sendall(b"POST /v2/models/digits/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 1040000\r\n\r\n" + b" " * 1030000)
        while not select.select([slow], [], [], 0)[0]:
            if small_request(server) == 503:
                return slow
            server.read_log()  # a full pipe loses lines
            time.sleep(.01)
    except OSError:
        pass
    slow.close()
    return None


@test
def client_that_trickles_holds_no_memory():
    with Server(PROGRAM, DIGITS, "--idle-timeout", 1, "--max-memory", "1M") as server:
        tries = (large_request(server) for _ in range(20))
        with next(slow for slow in tries if slow) as slow:
            begin = time.monotonic()
            try:
                while time.monotonic() < begin + 10 and not select.select([slow], [], [], .2)[0]:
                    slow.send(b" ")
            except OSError:
                pass
            seconds = time.monotonic() - begin
            wait_for(lambda: small_request(server) == 400, 5)
            return ([] if seconds < 8 else ["it goes on"]) + ([] if server.wait_for_log("less than 16384 bytes per second", 5) else [server.text])


@test
def unknown_hosts_and_addresses_of_others_are_errors():
    status, text = fails("--host", "192.0.2.1", "--port", 8080)
    faults = same((status, text), (1, "lightnet serve: error: cannot listen to 192.0.2.1:8080: Cannot assign requested address\n"))
    status, text = fails("--host", "no.such.host.invalid", "--port", 0)
    return faults + same(status, 1) + ([] if text.startswith("lightnet serve: error: cannot listen to 'no.such.host.invalid': ") else [text])


if __name__ == "__main__":
    run_tests()
