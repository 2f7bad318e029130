#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: serve_secure.py LIGHTNET-SERVE. Tokens, TLS, and certificates of clients, which openssl makes."""
import http.client
import shutil
import ssl
import subprocess
import sys
import threading
import warnings

from serve_kit import Server, folder, scaled, write
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
        for path in ("/v2", "/", "/metrics", "/v2/models/m", "/v2/models/m/ready"):
            status, headers, _ = server.call("GET", path)
            faults += same((status, headers["WWW-Authenticate"]), (401, "Bearer"))
        for given in ("Bearer secret-toke", "Bearer secret-token1", "Bearer ", "Bearer", "secret-token", "Basic secret-token", "Bearer Secret-token", ""):
            faults += same(server.get("/v2", {"Authorization": given})[0], 401)
        faults += same(server.post("/v2/models/m/infer", {"inputs": []})[0], 401)
        return faults + same([server.get("/v2", {"Authorization": given})[0] for given in ("Bearer secret-token", "bearer secret-token")], [200, 200]) + \
            same(server.get("/v2/health/live")[0], 200) + same(server.get("/v2/health/ready")[0], 200) + \
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


def main():
    global FOLDER
    if not shutil.which("openssl"):
        tap = Tap()
        tap.skip("tokens and TLS", "there is no openssl")
        tap.end()
    with folder() as FOLDER:
        write(f"{FOLDER}/m.onnx", scaled(2))
        for name in ("ca", "clients"):
            make_authority(name)
        make_certificate("server", "ca")
        make_certificate("alice", "clients")
        make_certificate("expired", "clients", "-1")
        make_authority("self")
        run_tests()


if __name__ == "__main__":
    main()
