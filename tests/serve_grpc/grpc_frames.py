#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: grpc_frames.py LIGHTNET_SERVE. gRPC over HTTP/2, frame by frame: what its own clients never send. Speaks TAP."""
import signal
import struct
import sys
import tempfile
import time
from urllib.parse import unquote

try:
    import hpack as _  # noqa: F401
except ImportError:
    print("1..0 # SKIP hpack is missing")
    sys.exit(0)

import grpc_raw as raw
from grpc_kit import SLOW, Server, Tap, onnx, wait_for, write_models
from grpc_raw import DATA, END_HEADERS, HEADERS, LIVE, PING, RST_STREAM, SETTINGS, WINDOW_UPDATE, Raw, frame

NO_ERROR, INTERNAL_ERROR, CANCEL, ENHANCE_YOUR_CALM = 0, 2, 8, 11
KEEP = 1 << 20  # bytes of a message


def infer(model, datatype, shape, data, name="x"):
    """The bytes of a ModelInferRequest."""
    tensor = onnx.field(1, name) + onnx.field(2, datatype) + onnx.repeated(3, shape)
    return onnx.field(1, model) + onnx.field(5, tensor) + onnx.field(7, data)


def floats(n):
    return infer("id_fp32", "FP32", [n], struct.pack(f"<{n}f", *range(n)))


def status(got, http="200"):
    """The status of gRPC and its text, or what else came."""
    fields, data, code = got
    if fields is None:
        return "the connection has ended"
    if fields.get(":status") != http:
        return f":status {fields.get(':status')}"
    return fields.get("grpc-status"), unquote(fields.get("grpc-message", "")), data, code


def expect(got, want, words="", http="200"):
    found = status(got, http)
    if not isinstance(found, tuple) or found[0] != str(want) or words not in found[1]:
        yield f"{found}, expected status {want}: {words}"


def test_http(tap, server):
    client = Raw(server.port)
    live = raw.message(b"")
    for kind in ("application/grpc", "application/grpc+proto", "application/grpc; x=y", "Application/GRPC"):
        tap.check("content-type " + kind, expect(client.call(live, path=LIVE, content_type=kind), 0))
    for kind in ("application/grpc-web", "application/grpc+json", "application/json", "", None):
        tap.check(f"content-type {kind}: 415", expect(client.call(live, path=LIVE, content_type=kind), 12, "content-type", "415"))
    got = client.call(live, path=LIVE, method="GET")
    tap.check("GET: 405", [*expect(got, 12, "POST", "405"), *([] if got[0].get("allow") == "POST" else [str(got)])])
    fields, data, _ = client.call(live, path=LIVE)
    want = {":status": "200", "content-type": "application/grpc", "grpc-accept-encoding": "identity", "grpc-status": "0"}
    tap.check("the headers, message and trailers of an answer", [] if (fields, data) == (want, b"\0\0\0\0\2\x08\1") else [f"{fields} {data}"])
    for path in ("/", LIVE + "/", LIVE.lower(), "/inference.GRPCInferenceService"):
        tap.check(f"path '{path}'", expect(client.call(live, path=path), 12, "no method"))
    client.close()


def test_framing(tap, server):
    client, data = Raw(server.port), raw.message(floats(3))
    tap.check("a message in frames of one byte", expect(send_parts(client, data, 1), 0))
    tap.check("no message", expect(client.call(), 12, "there is none"))
    tap.check("no message, after the headers", expect(client.call(b""), 12, "there is none"))
    tap.check("two messages", expect(client.call(data + data), 12, "more"))
    tap.check("a byte more", expect(client.call(data + b"\0"), 12, "more"))
    for n in (1, 4, 5, len(data) - 1):
        tap.check(f"{n} bytes of a message", expect(client.call(data[:n]), 3, "ends within its message"))
    got = client.call(raw.message(b"\x1f\x8b", 1), grpc_encoding="gzip")
    tap.check("a compressed message", [*expect(got, 12, "gzip"), *([] if got[0]["grpc-accept-encoding"] == "identity" else [str(got)])])
    tap.check("a compressed message without an encoding", expect(client.call(raw.message(b"x", 1)), 12, "without"))
    tap.check("a flag that does not exist", expect(client.call(raw.message(b"x", 7)), 12, "compressed"))
    tap.check("an encoding that is not used", expect(client.call(data, grpc_encoding="gzip"), 0))
    for name, bad in (("no field", b"\xff" * 9), ("field 0", b"\0\0"), ("a length beyond the end", b"\x0a\x7fx"),
                      ("another wire type", b"\x0d1234"), ("groups", b"\x0b\x0c")):
        tap.check(f"no message of Protocol Buffers: {name}", expect(client.call(raw.message(bad)), 3, "is no inference.ModelInferRequest"))
    tap.check("an unknown field is ignored", expect(client.call(raw.message(floats(3) + onnx.field(99, "x"))), 0))
    tap.check("an id that is no UTF-8", expect(client.call(raw.message(floats(3) + onnx.field(3, b"\xff"))), 3, "UTF-8"))
    tap.check("the trailers of a client are ignored", expect(send_trailers(client, data), 0))
    stream = client.begin()
    client.data(stream, struct.pack(">BI", 0, 2**32 - 1) + bytes(1000), end=False)
    tap.check("a message of 4 GB is rejected before it is sent", expect(client.answer(stream), 8, "4294967295 bytes"))
    tap.check("and need not be sent", [] if find(client, RST_STREAM, stream) == struct.pack(">I", NO_ERROR) else ["no RST_STREAM"])
    client.close()


def find(client, kind, stream):
    while True:
        got = client.read()
        if not got or (got[0] == kind and got[2] == stream):
            return got and got[3]


def send_parts(client, data, size):
    stream = client.begin()
    client.data(stream, data, size=size)
    return client.answer(stream)


def send_trailers(client, data):
    stream = client.begin()
    client.data(stream, data, end=False)
    client.send(frame(HEADERS, END_HEADERS | raw.END_STREAM, stream, raw.block([("x-checksum", "1")])))
    return client.answer(stream)


def test_metadata(tap, server):
    client, data = Raw(server.port), raw.message(floats(3))
    for text in ("", "1", "m", "1x", "123456789m", "-1m", "1 m", "1mm", "0x1m"):
        tap.check(f"grpc-timeout '{text}' is wrong", expect(client.call(data, grpc_timeout=text), 3, "grpc-timeout"))
    for text in ("20S", "99999999H", "1M", "60000m", "60000000u", "01H"):
        tap.check(f"grpc-timeout '{text}'", expect(client.call(data, grpc_timeout=text), 0))
    slow = raw.message(infer("slow", "INT64", [], struct.pack("<q", SLOW), "count"))
    for text in ("0m", "1n", "200m"):
        tap.check(f"grpc-timeout '{text}' of a run of minutes", expect(client.call(slow, grpc_timeout=text), 4))
    got = client.call(raw.message(infer("ä\n%", "FP32", [1], b"1234")))
    sent = got[0]["grpc-message"]
    tap.check("a message of an error has percent-encoding", [*expect(got, 5, "no model 'ä\n%'"),
                                                            *([] if "%C3%A4%0A%25" in sent else [sent])])
    got = client.call(raw.message(infer("broken", "FP32", [1], b"1234")))
    tap.check("a model that is not loaded: try again", [*expect(got, 14), *([] if got[0].get("grpc-retry-pushback-ms") == "1000" else [str(got)])])
    tap.check("headers of 15 kB", expect(client.call(data, x_large="x" * 15000), 0))
    tap.check("headers of 17 kB", expect(client.call(data, x_large="x" * 17000), 8, "headers"))
    client.call(data, traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    tap.check("the log has the traceparent", [] if wait_for(lambda: "0af7651916cd43dd8448eb211c80319c" in server.text(), 5) else ["it has not"])
    client.close()


def test_flow(tap, server):
    """The server sends no more than the client's window."""
    window, n = 1000, 30000
    client = Raw(server.port, raw.setting(raw.WINDOW_SETTING, window), auto=False)
    stream = client.begin()
    client.data(stream, raw.message(floats(n)))
    got, faults = b"", []
    while True:
        kind, flags, number, payload = client.read()
        if kind == DATA:
            got += payload
            window -= len(payload)
            faults += [f"{-window} bytes too many"] if window < 0 else []
            if window == 0:
                client.send(frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", 5000)) + frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 5000)))
                window += 5000
        if number == stream and flags & raw.END_STREAM and kind == HEADERS:
            break
    tap.check("a response of 120 kB through a window of 1000 bytes", faults + ([] if got.endswith(struct.pack(f"<{n}f", *range(n))) else ["the bytes differ"]))
    client.close()


def settings_of(client):
    while True:
        kind, flags, _, payload = client.read()
        if kind == SETTINGS and not flags & raw.ACK:
            return {struct.unpack(">HI", payload[i:i + 6])[0]: struct.unpack(">HI", payload[i:i + 6])[1] for i in range(0, len(payload), 6)}


def test_streams(tap, server):
    client = Raw(server.port)
    limit = settings_of(client)[raw.MAX_STREAMS_SETTING]
    streams = [client.begin() for _ in range(limit)]
    for stream in reversed(streams):
        client.data(stream, raw.message(floats(stream)))
    done, ended = set(), set(streams)
    while ended - done:
        got = client.read()
        if not got:
            break
        done |= {got[2]} if got[1] & raw.END_STREAM and got[0] == HEADERS else set()
    tap.check(f"{limit} streams at once are answered", [] if not ended - done else [f"{len(ended - done)} are not"])
    for _ in range(limit + 1):
        client.begin()
    tap.check("one more is refused", [] if client.goaway() is not None or wait_for(lambda: client.read() is None) else ["it is not"])
    client.close()


def test_preface(tap, server):
    for name, preface in (("HTTP/1.1", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), ("noise", bytes(range(100)))):
        client = Raw(server.port, preface=preface)
        tap.check(f"a client that speaks {name} is disconnected", [] if client.goaway() in (None, 1) else ["GOAWAY"])
        client.close()


def test_floods(tap, server):
    """Clients that cost more than they may."""
    before = server.memory()
    client = Raw(server.port, auto=False)
    try:
        for _ in range(300):
            client.send(b"".join(frame(HEADERS, END_HEADERS, s, raw.head()) + frame(RST_STREAM, 0, s, struct.pack(">I", CANCEL))
                                 for s in (client_stream(client) for _ in range(100))))
    except OSError:
        pass
    code = client.goaway()
    tap.check("30000 streams that are reset at once end the connection", [] if code in (INTERNAL_ERROR, ENHANCE_YOUR_CALM, None) else [f"code {code}"])
    client.close()
    kinds = {"pings": frame(PING, 0, 0, bytes(8)), "settings": frame(SETTINGS, 0, 0, raw.setting(4, 65535)),
             "empty data": None, "window updates": frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1)),
             "priorities": frame(2, 0, 1, struct.pack(">IB", 0, 1))}
    for name, one in kinds.items():
        client = Raw(server.port, auto=False)
        client.socket.settimeout(2)
        stream = client.begin()
        one = one or frame(DATA, 0, stream)
        try:
            for _ in range(100):
                client.send(one * 2000)
        except OSError:
            pass
        client.close()
        other = Raw(server.port)
        tap.check(f"200000 {name} disturb no other client", expect(other.call(raw.message(b""), path=LIVE), 0))
        other.close()
    grown = server.memory() - before
    tap.check("the memory stays small", [] if grown < (64 << 20) else [f"it has grown by {grown >> 20} MB"])


def client_stream(client):
    client.stream += 2
    return client.stream


def test_idle(tap, folder):
    with Server(sys.argv[1], folder, "--idle-timeout", 1, "--max-connections", 4) as server:
        client = Raw(server.port)
        begin = time.monotonic()
        tap.check("a connection that says nothing is closed", [] if client.goaway() == NO_ERROR else ["without GOAWAY"])
        tap.check("after its time", [] if .9 < time.monotonic() - begin < 5 else [f"after {time.monotonic() - begin} s"])
        client.close()
        client = Raw(server.port)
        stream = client.begin()
        client.data(stream, raw.message(floats(3))[:-1], end=False)
        begin = time.monotonic()
        while time.monotonic() - begin < 10:
            client.send(frame(PING, 0, 0, bytes(8)))
            got = client.read()
            if not got or (got[0] == RST_STREAM and got[2] == stream):
                break
            time.sleep(.01)
        tap.check("a message that stops is reset, whatever else is sent", [] if got and int.from_bytes(got[3], "big") == CANCEL else [str(got)])
        client.close()
        client = Raw(server.port, timeout=30)
        stream = client.begin()
        client.data(stream, raw.message(floats(1000))[:-100], end=False)
        for _ in range(40):
            time.sleep(.1)
            if server.metric("lightnet_calls") <= 1:
                break
            client.data(stream, b"\0", end=False)
        tap.check("a message that trickles ends", expect(client.answer(stream), 4, "less than 16384 bytes per second"))
        client.close()
        client = Raw(server.port, raw.setting(raw.WINDOW_SETTING, 10), auto=False)
        client.data(client.begin(), raw.message(floats(10000)))
        time.sleep(.1)
        tap.check("an answer that nobody reads holds its connection no longer", [] if wait_for(lambda: server.metric("lightnet_calls") <= 1, 10) else ["it does"])
        client.close()
        client = Raw(server.port, timeout=30)
        got = client.call(raw.message(infer("slow", "INT64", [], struct.pack("<q", SLOW), "count")), grpc_timeout="2500m")
        tap.check("a run that lasts is not idle", expect(got, 4))
        client.close()
        time.sleep(.2)
        clients = [Raw(server.port) for _ in range(4)]
        time.sleep(.2)
        late = Raw(server.port)
        Raw(server.port).goaway()
        tap.check("one connection too many is closed", [] if late.goaway() is None else ["GOAWAY"])
        tap.check("the first that is closed is logged", [] if server.text().count("gRPC has 4 connections, the max") == 1 else [server.text()[-500:]])
        tap.check("the others go on", [fault for one in clients for fault in expect(one.call(raw.message(b""), path=LIVE), 0)])
        for one in clients:
            one.close()


def test_memory(tap, folder):
    with Server(sys.argv[1], folder, "--max-request", "1M", "--max-memory", "16M") as server:
        client, statuses = Raw(server.port), []
        for _ in range(20):
            stream = client.begin()
            client.data(stream, struct.pack(">BI", 0, KEEP) + bytes(KEEP - 1), end=False)
        held = [client.answer(1 + 2 * i) for i in range(17, 20)]
        statuses = [fault for got in held for fault in expect(got, 14, "more than 16777216")]
        tap.check("messages that are not complete have a limit together", statuses)
        client.close()
        other = Raw(server.port)
        tap.check("and it is free again", [] if wait_for(lambda: not list(expect(other.call(raw.message(floats(1000))), 0)), 5) else ["it is not"])
        client = Raw(server.port, raw.setting(raw.WINDOW_SETTING, 0), auto=False)
        for _ in range(24):
            client.data(client.begin(), raw.message(floats(200000)))
        tap.check("answers that nobody reads count, too",
                  [] if wait_for(lambda: not list(expect(other.call(raw.message(floats(200000))), 14, "more than 16777216")), 10) else ["they do not"])
        client.close()
        tap.check("until their client goes", [] if wait_for(lambda: not list(expect(other.call(raw.message(floats(200000))), 0)), 5) else ["it is not"])
        other.close()


def test_goaway(tap, folder):
    server = Server(sys.argv[1], folder)
    client = Raw(server.port)
    client.call(raw.message(b""), path=LIVE)
    server.process.send_signal(signal.SIGTERM)
    tap.check("SIGTERM: idle connections end by GOAWAY", [] if client.goaway() == NO_ERROR else ["they do not"])
    tap.check("and the server ends", [] if server.process.wait(20) == 0 else [server.text()])
    client.close()


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        write_models(folder)
        with Server(sys.argv[1], folder, "--instances", 2) as server:
            test_http(tap, server)
            test_framing(tap, server)
            test_metadata(tap, server)
            test_flow(tap, server)
            test_streams(tap, server)
            test_preface(tap, server)
            test_floods(tap, server)
        test_idle(tap, folder)
        test_memory(tap, folder)
        test_goaway(tap, folder)
    tap.end()


if __name__ == "__main__":
    main()
