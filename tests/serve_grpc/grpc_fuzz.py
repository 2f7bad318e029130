#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: grpc_fuzz.py LIGHTNET_SERVE [--count N] [--seed S]. Hostile messages and frames do not stop the server. Speaks TAP.

Of the cases, most are calls whose messages are changed at random, each of which must have one end: an answer or a reset.
The others are connections with changed or made-up frames. Meanwhile a second connection is served. With a server that
sanitizers watch, any word of theirs fails.
"""
import argparse
import os
import random
import struct
import sys
import tempfile
import time

import grpc_raw as raw
from grpc_kit import TYPES, Server, Tap, onnx, wait_for, write_models
from grpc_raw import CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PING, PRIORITY, RST_STREAM, SETTINGS, WINDOW_UPDATE, Raw, frame

TOGETHER = 64  # calls of a connection at once
FRAMES_EVERY = 40  # of the rounds, one sends frames
ROUNDS = 200  # of a connection: the server ends those with too many resets
METHODS = ["ServerLive", "ServerReady", "ServerMetadata", "ModelReady", "ModelMetadata", "RepositoryIndex"]
EDGES = [0, 1, 127, 128, 255, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1]
WORDS = [b"x", b"y", b"two", b"FP32", b"BYTES", b"timeout", b"\xff\xfe", b"\0", b"a" * 300, b"id_fp32", b"shared_memory_region"]
CONTENTS = {name: number for number, name in enumerate(
    ["bool_contents", "int_contents", "int64_contents", "uint_contents", "uint64_contents", "fp32_contents", "fp64_contents",
     "bytes_contents"], 1)}


def write_sequence(folder):
    """y = 2 x of any length, and the sums of rows, for which 0 is padding."""
    graph = onnx.graph([onnx.node("Add", ["x", "x"], ["y"]), onnx.node("ReduceSum", ["x", "axis"], ["sum"], keepdims=0)],
                       [onnx.value("x", "float", ["n", "s"])], [onnx.value("y", "float", ["n", "s"]), onnx.value("sum", "float", ["n"])],
                       [onnx.tensor("axis", "int64", [1], [1])])
    with open(os.path.join(folder, "sequence.onnx"), "wb") as file:
        file.write(onnx.model(graph, opset=17) + onnx.field(14, onnx.field(1, "lightnet.pad") + onnx.field(2, "x:1=0")))


# Messages

def packed(random, datatype, n):
    """The elements of typed contents, packed."""
    if datatype == "FP32":
        return random.randbytes(4 * n)
    if datatype == "FP64":
        return random.randbytes(8 * n)
    return b"".join(onnx.varint(random.choice(EDGES) if random.random() < .2 else random.getrandbits(7)) for _ in range(n))


def raw_data(random, datatype, n):
    if datatype == "BYTES":
        return b"".join(len(word).to_bytes(4, "little") + word for word in random.choices(WORDS, k=n))
    return random.randbytes(n * int(TYPES[datatype][1].strip("<?iuf") or 1))


def sequence_message(random):
    """A sequence of some length, which is padded beside those of others."""
    length = random.randint(0, 12)
    tensor = onnx.field(1, "x") + onnx.field(2, "FP32") + onnx.field(3, 1) + onnx.field(3, length)
    return onnx.field(1, "sequence") + onnx.field(5, tensor) + onnx.field(7, random.randbytes(4 * length))


def right_message(random):
    """A request that the server can answer."""
    if random.random() < .2:
        return sequence_message(random)
    datatype, n = random.choice(list(TYPES)), random.choice([0, 1, 3, 17])
    tensor = onnx.field(1, "x") + onnx.field(2, datatype) + onnx.field(3, n)
    tail = b""
    if random.random() < .5 or not TYPES[datatype][2]:
        tail = onnx.field(7, raw_data(random, datatype, n))
    elif datatype == "BYTES":
        tensor += onnx.field(5, onnx.repeated(8, random.choices(WORDS, k=n)))
    else:
        tensor += onnx.field(5, onnx.field(CONTENTS[TYPES[datatype][2]], packed(random, datatype, n)))
    if random.random() < .2:
        value = onnx.field(random.choice([1, 2, 5]), random.choice([0, 1, 10**7]))
        tail += onnx.field(4, onnx.field(1, random.choice(["timeout", "any"])) + onnx.field(2, value))
    if random.random() < .2:
        tail += onnx.field(6, onnx.field(1, random.choice(["y", "z"])))
    return onnx.field(1, "id_" + datatype.lower()) + onnx.field(5, tensor) + tail


def changed(random, data):
    """`data` with up to three changes."""
    data = bytearray(data)
    for _ in range(random.randint(0, 3)):
        at = random.randint(0, len(data))
        kind = random.randrange(7)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << random.randrange(8)
        elif kind == 1:
            del data[at:at + random.randint(1, 8)]
        elif kind == 2:
            data[at:at] = random.randbytes(random.randint(1, 8))
        elif kind == 3:
            data[at:at] = onnx.varint(random.choice(EDGES))
        elif kind == 4:
            end = random.randint(at, len(data))
            data[at:at] = data[at:end] * random.choice([1, 2, 50])
        elif kind == 5:
            data[at:at] = onnx.field(random.randint(1, 9), random.choice(WORDS))
        else:
            data[at:] = b""
    return bytes(data)


def call(random, stream):
    """The frames of a call, and whether it must have an end: it has none if its client resets it."""
    path = raw.INFER if random.random() < .9 else "/inference.GRPCInferenceService/" + random.choice(METHODS)
    data = raw.message(changed(random, right_message(random)))
    if random.random() < .05:
        data = changed(random, data)
    out = frame(HEADERS, END_HEADERS, stream, raw.head(path=path))
    size = random.choice([16384, 16384, 7])
    for at in range(0, max(len(data), 1), size):
        last = at + size >= len(data)
        out += frame(DATA, END_STREAM if last else 0, stream, data[at:at + size])
    is_reset = random.random() < .01
    if is_reset:
        out += frame(RST_STREAM, 0, stream, struct.pack(">I", random.choice([0, 8, 2**32 - 1])))
    return out, not is_reset


def run_calls(client, random, n):
    """Errors of `n` calls at once; each ends."""
    waiting, data = set(), b""
    for _ in range(n):
        client.stream += 2
        out, must_end = call(random, client.stream)
        data += out
        waiting |= {client.stream} if must_end else set()
    client.send(data)
    while waiting:
        try:
            got = client.read()
        except OSError:
            return [f"{len(waiting)} calls of {n} have no end"]
        if not got:
            return ["the connection has ended"]
        kind, flags, stream, _ = got
        if kind == RST_STREAM or (kind == HEADERS and flags & END_STREAM):
            waiting.discard(stream)
    return []


# Frames

def made_up(random, stream):
    """A frame of any type with any payload."""
    kinds = [DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, 5, PING, 7, WINDOW_UPDATE, CONTINUATION, 10, 99]
    kind = random.choice(kinds)
    payload = random.choice([b"", bytes(4), bytes(5), bytes(6), bytes(8), random.randbytes(random.randint(0, 40)), raw.head(),
                             raw.setting(random.randint(0, 9), random.choice(EDGES[:8])), struct.pack(">I", random.choice(EDGES[:8]))])
    return frame(kind, random.choice([0, 1, 4, 5, 8, 32, random.randrange(256)]), random.choice([0, stream, stream + 2, 2, 2**31 - 1]), payload)


def run_frames(server, random):
    """A connection of its own with a changed series of frames."""
    client = Raw(server.port, auto=False, timeout=2, preface=raw.PREFACE if random.random() < .95 else random.randbytes(24))
    data = b""
    for i in range(random.randint(1, 20)):
        data += call(random, 1 + 2 * i)[0] if random.random() < .6 else made_up(random, 1 + 2 * i)
    if random.random() < .7:
        data = changed(random, data)
    try:
        client.send(data)
        if random.random() < .5:
            client.socket.settimeout(.02)
            for _ in range(20):
                if not client.read():
                    break
    except OSError:
        pass
    client.close()


def fuzz(server, count, seed):
    """Errors."""
    generator, client, done, rounds = random.Random(seed), Raw(server.port), 0, 0
    other = Raw(server.port)
    while done < count:
        rounds += 1
        if rounds % FRAMES_EVERY == 0:
            run_frames(server, generator)
            done += 1
        else:
            faults = run_calls(client, generator, TOGETHER)
            if faults:
                return [f"after {done} cases: {faults[0]}"]
            done += TOGETHER
        if rounds % ROUNDS == 0:
            client.close()
            client = Raw(server.port)
        if rounds % 50 == 0:
            stream = other.begin(path=raw.LIVE)
            other.data(stream, raw.message(b""))
            while True:
                got = other.read()
                if not got:
                    return [f"after {done} cases: the second connection has ended"]
                if got[2] == stream and got[1] & END_STREAM:
                    break
        if server.process.poll() is not None:
            return [f"after {done} cases: the server has ended"]
    client.close()
    other.close()
    return []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        write_models(folder)
        write_sequence(folder)
        # The second connection is idle for a minute and more where a sanitizer runs on a busy machine.
        with Server(args.server, folder, "--max-request", "1M", "--batch-wait", 1, "--idle-timeout", 86400, log_requests=False) as server:
            fuzz(server, 2000, args.seed + 1)
            before, begin = server.memory(), time.monotonic()
            faults = fuzz(server, args.count, args.seed)
            took = time.monotonic() - begin
            tap.check(f"{args.count} hostile cases with seed {args.seed}, {args.count / took:.0f} a second", faults)
            tap.check("no call is left", [] if wait_for(lambda: server.metric("lightnet_calls") <= 1, 20) else ["some are"])
            grown = server.memory() - before
            tap.check("the memory stays small", [] if grown < (256 << 20) else [f"it has grown by {grown >> 20} MB"])
            answers = server.metric('lightnet_requests_total{model="id_fp32",version="1",status="ok"}')
            runs = [server.metric(f'lightnet_batch_rows_{of}{{model="sequence",version="1"}}') for of in ("count", "sum")]
            tap.check("sequences ran together", [] if runs[1] > 1.05 * runs[0] > 0 else [f"{runs[1]} rows in {runs[0]} runs"])
            ignored = [line for line in server.text().splitlines() if "is ignored" in line]
            tap.check("those of different lengths, too", ignored)
            tap.check("some of them were right", [] if answers > args.count / 1000 else [f"{answers} answers"])
    tap.end()


if __name__ == "__main__":
    main()
