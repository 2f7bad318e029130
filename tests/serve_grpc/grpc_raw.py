# SPDX-License-Identifier: Apache-2.0
"""A client of HTTP/2 that sends any frame, right or wrong. Headers are literals (RFC 7541, section 6.2.2), without Huffman's code."""
import socket
import struct

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS = 1, 1, 4
MAX_STREAMS_SETTING, WINDOW_SETTING = 3, 4
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
INFER = "/inference.GRPCInferenceService/ModelInfer"
LIVE = "/inference.GRPCInferenceService/ServerLive"


def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + struct.pack(">BBI", kind, flags, stream) + payload


def string(data):
    """With its length in 7 bits, or more."""
    if len(data) < 127:
        return bytes([len(data)]) + data
    rest, out = len(data) - 127, b"\x7f"
    while rest > 127:
        out += bytes([rest & 127 | 128])
        rest >>= 7
    return out + bytes([rest]) + data


def block(fields):
    return b"".join(b"\0" + string(name.encode()) + string(value.encode()) for name, value in fields)


def head(path=INFER, method="POST", content_type="application/grpc", **more):
    fields = [(":method", method), (":scheme", "http"), (":path", path), (":authority", "localhost"), ("te", "trailers")]
    fields += [("content-type", content_type)] if content_type is not None else []
    return block(fields + [(name.replace("_", "-"), value) for name, value in more.items()])


def message(data, flag=0):
    return struct.pack(">BI", flag, len(data)) + data


def setting(which, value):
    return struct.pack(">HI", which, value)


class Raw:
    """A connection; `auto` returns the server's pings and settings, and opens windows for what was read."""

    def __init__(self, port, settings=b"", auto=True, preface=PREFACE, timeout=20):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.auto, self.rest, self.stream, self.decoder = auto, b"", -1, None
        self.send(preface + frame(SETTINGS, 0, 0, settings) if preface == PREFACE else preface)

    def send(self, data):
        self.socket.sendall(data)

    def close(self):
        self.socket.close()

    def begin(self, end=False, **headers):
        """A new stream with these headers; its number."""
        self.stream += 2
        fields = head(**headers)
        parts = [fields[at:at + 16384] for at in range(0, len(fields), 16384)]
        for i, part in enumerate(parts):
            flags = END_HEADERS if i + 1 == len(parts) else 0
            self.send(frame(CONTINUATION if i else HEADERS, flags | (END_STREAM if end and not i else 0), self.stream, part))
        return self.stream

    def data(self, stream, data, end=True, size=16384):
        for at in range(0, max(len(data), 1), size):
            part = data[at:at + size]
            self.send(frame(DATA, END_STREAM if end and at + size >= len(data) else 0, stream, part))

    def read(self):
        """(kind, flags, stream, payload); None: the connection has ended."""
        while len(self.rest) < 9 or len(self.rest) < 9 + int.from_bytes(self.rest[:3], "big"):
            try:
                got = self.socket.recv(1 << 18)
            except ConnectionError:
                return None
            if not got:
                return None
            self.rest += got
        size = int.from_bytes(self.rest[:3], "big")
        kind, flags, stream = struct.unpack(">BBI", self.rest[3:9])
        payload, self.rest = self.rest[9:9 + size], self.rest[9 + size:]
        if self.auto:
            self.react(kind, flags, stream, payload)
        return kind, flags, stream, payload

    def react(self, kind, flags, stream, payload):
        if kind in (SETTINGS, PING) and not flags & ACK:
            self.send(frame(kind, ACK, 0, payload if kind == PING else b""))
        if kind == DATA and payload:
            grant = struct.pack(">I", len(payload))
            self.send(frame(WINDOW_UPDATE, 0, 0, grant) + (b"" if flags & END_STREAM else frame(WINDOW_UPDATE, 0, stream, grant)))

    def answer(self, stream):
        """({headers and trailers}, bytes of the message, code of a reset or None); the headers None: the connection has ended."""
        from hpack import Decoder
        self.decoder = self.decoder or Decoder()
        fields, data = {}, b""
        while True:
            got = self.read()
            if not got:
                return None, data, None
            kind, flags, number, payload = got
            if kind == HEADERS:
                decoded = dict(self.decoder.decode(payload))
                if number == stream:
                    fields.update(decoded)
            if number == stream and kind == DATA:
                data += payload
            if number == stream and kind == RST_STREAM:
                return fields, data, int.from_bytes(payload, "big")
            if number == stream and flags & END_STREAM:
                return fields, data, None

    def call(self, data=None, **headers):
        """Sends all and waits for the answer."""
        stream = self.begin(end=data is None, **headers)
        if data is not None:
            self.data(stream, data)
        return self.answer(stream)

    def goaway(self):
        """The code of GOAWAY, before the connection ends; None: there is none."""
        code = None
        while True:
            try:
                got = self.read()
            except OSError:
                return code
            if not got:
                return code
            if got[0] == GOAWAY:
                code = int.from_bytes(got[3][4:8], "big")
