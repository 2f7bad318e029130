#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: serve_secure.py LIGHTNET-SERVE. Tokens, TLS, and certificates of clients, which openssl makes."""
import http.client
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import warnings

from serve_kit import Server, folder, request, scaled, wait_for, write
import numpy as np
from checks import run_tests, same, test
from tap import Tap

PROGRAM = sys.argv[1]
FOLDER = None


def openssl(*args):
    done = subprocess.run(["openssl", *args], cwd=FOLDER, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def make_authority(name):
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.pem",
            "-days", "2", "-subj", f"/CN={name}", "-addext", "keyUsage=critical,keyCertSign", "-addext", "basicConstraints=critical,CA:TRUE")


def make_certificate(name, authority, days="2"):
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr",
            "-subj", f"/CN={name}")
    write(f"{FOLDER}/{name}.ext", b"subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n")
    openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.pem", "-CAkey", f"{authority}.key", "-CAcreateserial",
            "-out", f"{name}.pem", "-days", days, "-extfile", f"{name}.ext")


def client(certificate=None, authority="ca", version=None):
    context = ssl.create_default_context(cafile=f"{FOLDER}/{authority}.pem")
    if authority == "ca":
        context.load_verify_locations(f"{FOLDER}/ca2.pem")
    if certificate:
        context.load_cert_chain(f"{FOLDER}/{certificate}.pem", f"{FOLDER}/{certificate}.key")
    if version:
        context.minimum_version = context.maximum_version = version
    return context


def tls_args(with_clients=False):
    return ["--tls-cert", f"{FOLDER}/server.pem", "--tls-key", f"{FOLDER}/server.key",
            *(["--tls-client-ca", f"{FOLDER}/clients.pem"] if with_clients else [])]


def answer(server, context, path="/v2/health/live"):
    """The status, or what is wrong with the connection."""
    connection = http.client.HTTPSConnection("localhost", server.port, timeout=20, context=context)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except ssl.SSLCertVerificationError:
        return "the server is unknown"
    except (ssl.SSLError, ConnectionError):
        return "refused"
    finally:
        connection.close()


def says(text, *args):
    done = subprocess.run([PROGRAM, f"{FOLDER}/m.onnx", "--port", "0", *args], capture_output=True, text=True, timeout=60)
    return same(done.returncode, 1) + ([] if text in done.stderr else [f"'{text}' is not in {done.stderr}"])


@test
def requests_need_the_token():
    write(f"{FOLDER}/token", b"secret-token\nmore\n")
    with Server(PROGRAM, f"{FOLDER}/m.onnx", "--token-file", f"{FOLDER}/token") as server:
        faults = []
        for path in ("/v2", "/metrics", "/v2/models/m", "/v2/models/m/ready"):
            status, headers, _ = server.call("GET", path)
            faults += same((status, headers["WWW-Authenticate"]), (401, "Bearer"))
        for given in ("Bearer secret-toke", "Bearer secret-token1", "Bearer ", "Bearer", "secret-token", "Basic secret-token", "Bearer Secret-token", ""):
            faults += same(server.get("/v2", {"Authorization": given})[0], 401)
        faults += same(server.post("/v2/models/m/infer", {"inputs": []})[0], 401)
        return faults + same([server.get("/v2", {"Authorization": given})[0] for given in ("Bearer secret-token", "bearer secret-token")], [200, 200]) + \
            same([server.call(method, "/")[0] for method in ("GET", "HEAD", "POST")], [200, 200, 405]) + same(server.get("/v2/health/live")[0], 200) + same(server.get("/v2/health/ready")[0], 200) + \
            (["the log has the token"] if "secret-token" in server.read_log() else [])


@test
def tls_serves_and_rejects_old_versions():
    with Server(PROGRAM, f"{FOLDER}/m.onnx", *tls_args(), tls=client()) as server:
        seen = server.infer("m", {"x": np.ones((1, 2), np.float32)})["y"].tolist()
        versions = [answer(server, client(version=version)) for version in (ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_2)]
        old = client()
        old.set_ciphers("ALL:@SECLEVEL=0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
        return same(seen, [[2.0, 2.0]]) + same(versions, [200, 200]) + same(answer(server, old), "refused") + \
            same(answer(server, client(authority="clients")), "the server is unknown")


@test
def many_clients_with_tls_are_answered():
    with Server(PROGRAM, f"{FOLDER}/m.onnx", *tls_args(), "--batch-wait", "5", tls=client()) as server:
        failed = []

        def load(i):
            try:
                connection = server.connect()
                for k in range(20):
                    x = np.full((1, 2), i * 100 + k, np.float32)
                    assert (server.infer("m", {"x": x}, connection)["y"] == 2 * x).all()
                connection.close()
            except Exception as error:
                failed.append(repr(error))
        threads = [threading.Thread(target=load, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return failed


@test
def clients_need_a_certificate_of_the_authority():
    with Server(PROGRAM, f"{FOLDER}/m.onnx", *tls_args(True), tls=client("alice")) as server:
        faults = same(server.get("/v2/models/m")[0], 200)
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            for name in (None, "server", "self", "expired"):
                seen = answer(server, client(name, version=version), "/v2/models/m")
                faults += [f"{name}, {version}: {seen}"] if isinstance(seen, int) else []
            faults += same(answer(server, client("alice", version=version)), 200)
        return faults


@test
def wrong_certificates_are_explained_at_the_start():
    write(f"{FOLDER}/nonsense", b"nonsense")
    server, key = f"{FOLDER}/server.pem", f"{FOLDER}/server.key"
    return says("server.pem", "--tls-cert", server, "--tls-key", f"{FOLDER}/alice.key") + \
        says("nonsense", "--tls-cert", f"{FOLDER}/nonsense", "--tls-key", key) + \
        says("cannot read", "--tls-cert", f"{FOLDER}/missing", "--tls-key", key) + \
        says("has no certificate", "--tls-cert", server, "--tls-key", key, "--tls-client-ca", f"{FOLDER}/nonsense")


# Files that change

def replace(name, source):
    """NAME.pem and NAME.key of the server become those of another certificate."""
    for ending in ("pem", "key"):
        shutil.copy(f"{FOLDER}/{source}.{ending}", f"{FOLDER}/{name}.{ending}~")
        os.replace(f"{FOLDER}/{name}.{ending}~", f"{FOLDER}/{name}.{ending}")


def live_args(*more):
    return ["--tls-cert", f"{FOLDER}/live.pem", "--tls-key", f"{FOLDER}/live.key", *more]


def shown(port, certificate=None):
    """The name in the certificate that a connection of HTTP/2 or HTTP sees."""
    context = client(certificate)
    context.set_alpn_protocols(["h2"])
    with socket.create_connection(("localhost", port), 20) as plain, context.wrap_socket(plain, server_hostname="localhost") as connection:
        return dict(pair for group in connection.getpeercert()["subject"] for pair in group)["commonName"]


@test
def token_that_changes_is_read_again():
    write(f"{FOLDER}/token", b"first\n")
    with Server(PROGRAM, f"{FOLDER}/m.onnx", "--token-file", f"{FOLDER}/token", "--poll", ".1") as server:
        connection = server.connect()

        def status(token):
            return server.call("GET", "/v2", headers={"Authorization": f"Bearer {token}"}, connection=connection)[0]
        faults = same(status("first"), 200)
        write(f"{FOLDER}/token", b"the second\n")
        wait_for(lambda: status("the second") == 200)
        faults += same(status("first"), 401)
        for broken, reason in ((b"\n", "no token in its first line"), (b"", "is empty"), (b"a\0b", "is no text")):
            write(f"{FOLDER}/token", broken)
            assert server.wait_for_log("the new token is not used: .*" + reason), server.text
            faults += same(status("the second"), 200) + same(status(""), 401)
        os.remove(f"{FOLDER}/token")
        assert server.wait_for_log("the new token is not used: .*cannot read"), server.text
        faults += same(status("the second"), 200)
        write(f"{FOLDER}/token", b"last")
        wait_for(lambda: status("last") == 200)
        connection.close()
        return faults + same(server.text.count("cannot read"), 1) + (["the log has a token"] if "second" in server.text else [])


@test
def sighup_reads_files_without_polling():
    write(f"{FOLDER}/token", b"first")
    write(f"{FOLDER}/other.onnx", scaled(2))
    replace("live", "server")
    with Server(PROGRAM, f"{FOLDER}/other.onnx", *live_args("--token-file", f"{FOLDER}/token", "--poll", "0"), tls=client()) as server:
        given = {"Authorization": "Bearer next"}

        def value():
            body, headers = request({"x": np.ones((1, 2), np.float32)}, binary=False)
            return server.post("/v2/models/other/infer", body, {**headers, **given})[1]["outputs"][0]["data"]
        faults = same(server.get("/v2", given)[0], 401)
        write(f"{FOLDER}/token", b"next")
        write(f"{FOLDER}/other.onnx", scaled(5))
        replace("live", "renewed")
        faults += same((server.get("/v2", given)[0], shown(server.port)), (401, "server"))
        server.process.send_signal(signal.SIGHUP)
        wait_for(lambda: server.get("/v2", given)[0] == 200)
        wait_for(lambda: value() == [5.0, 5.0])
        return faults + same(shown(server.port), "renewed")


@test
def sighup_does_not_end_the_drain():
    with Server(PROGRAM, f"{FOLDER}/m.onnx", "--drain-delay", "1") as server:
        server.process.send_signal(signal.SIGTERM)
        assert server.wait_for_log("stopping")
        server.process.send_signal(signal.SIGHUP)
        return same(server.get("/v2/health/live")[0], 200) + same(server.get("/v2/health/live")[0], 200) + same(server.wait(), 0)


@test
def certificate_is_renewed_under_load():
    """Connections with the old one go on, no request fails, and both front ends show the new one."""
    replace("live", "server")
    with Server(PROGRAM, f"{FOLDER}/m.onnx", *live_args("--poll", ".1", "--grpc-port", "0"), tls=client()) as server:
        grpc_port = int(server.wait_for_log(r"listening on grpcs://.*:(\d+)")[1])
        old, stop, failed, n = server.connect(), threading.Event(), [], [0]
        server.call("GET", "/v2", connection=old)

        def load():
            while not stop.is_set():
                try:
                    assert server.get("/v2/models/m")[0] == 200
                    n[0] += 1
                except Exception as error:
                    failed.append(repr(error))
        thread = threading.Thread(target=load)
        thread.start()
        faults = same((shown(server.port), shown(grpc_port)), ("server", "server"))
        for name in ("renewed", "server", "renewed"):
            replace("live", name)
            wait_for(lambda: (shown(server.port), shown(grpc_port)) == (name, name))
        stop.set()
        thread.join()
        faults += failed[:3] + ([] if n[0] > 5 else [f"{n[0]} requests"]) + same(server.call("GET", "/v2", connection=old)[0], 200)
        old.close()
        return faults


@test
def broken_certificate_keeps_the_old_one():
    replace("live", "server")
    with Server(PROGRAM, f"{FOLDER}/m.onnx", *live_args("--poll", ".1"), tls=client()) as server:
        faults = []
        for name, data, reason in (("pem", b"nonsense", "no certificate with its key"), ("key", b"nonsense", "no certificate with its key"),
                                   ("pem", b"", "is empty"), ("key", open(f"{FOLDER}/alice.key", "rb").read(), "no certificate with its key")):
            replace("live", "server")
            time.sleep(.3)
            before = server.read_log().count("the new certificate is not used")
            write(f"{FOLDER}/live.{name}", data)
            wait_for(lambda: server.read_log().count("the new certificate is not used") > before)
            faults += same(shown(server.port), "server") + ([] if reason in server.text else [f"{reason}: {server.text[-500:]}"])
        shutil.copy(f"{FOLDER}/renewed.pem", f"{FOLDER}/live.pem")  # the certificate first, and later its key
        assert server.wait_for_log("the new certificate is not used")
        time.sleep(.3)
        faults += same(shown(server.port), "server")
        replace("live", "renewed")
        wait_for(lambda: shown(server.port) == "renewed")
        return faults


@test
def authority_of_clients_changes():
    replace("live", "server")
    shutil.copy(f"{FOLDER}/clients.pem", f"{FOLDER}/authority.pem")
    with Server(PROGRAM, f"{FOLDER}/m.onnx", *live_args("--tls-client-ca", f"{FOLDER}/authority.pem", "--poll", ".1"), tls=client("alice")) as server:
        faults = same(answer(server, client("alice")), 200) + same(answer(server, client("renewed")), "refused")
        shutil.copy(f"{FOLDER}/ca2.pem", f"{FOLDER}/authority.pem")
        wait_for(lambda: answer(server, client("renewed")) == 200)
        return faults + same(answer(server, client("alice")), "refused") + same(answer(server, client()), "refused")


def main():
    global FOLDER
    if not shutil.which("openssl"):
        tap = Tap()
        tap.skip("tokens and TLS", "there is no openssl")
        tap.end()
    with folder() as FOLDER:
        write(f"{FOLDER}/m.onnx", scaled(2))
        for name in ("ca", "ca2", "clients"):
            make_authority(name)
        make_certificate("server", "ca")
        make_certificate("renewed", "ca2")
        make_certificate("alice", "clients")
        make_certificate("expired", "clients", "-1")
        make_authority("self")
        run_tests()


if __name__ == "__main__":
    main()
