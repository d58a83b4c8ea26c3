"""An HTTP proxy on loopback between the program and a server that others wrote: it relays, or does to an answer what networks
and servers do. It counts what it is asked and keeps no secrets."""

import http.client
import http.server
import socket
import struct
import threading
import time

HUGE = 50 << 20


def chunk(wire, data):
    wire.write(b"%x\r\n%s\r\n" % (len(data), data))
    wire.flush()


def head(wire, status, content_type, extra=b""):
    wire.write(b"HTTP/1.1 %d Answer\r\nContent-Type: %s\r\n%sTransfer-Encoding: chunked\r\n\r\n" %
               (status, content_type.encode(), extra))


def relay(answer, wire, content_type=None):
    head(wire, answer.status, content_type or answer.getheader("content-type", ""))
    while data := answer.read1(65536):
        chunk(wire, data)
    wire.write(b"0\r\n\r\n")


def cut(answer, wire):
    """The connection breaks in the middle of the second event."""
    head(wire, answer.status, answer.getheader("content-type", ""))
    text = answer.read()
    second = text.find(b"\n\n", text.find(b"\n\n") + 2)
    chunk(wire, text[:second - 5])
    reset = wire.connection
    reset.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    reset.close()


def slow_loris(answer, wire):
    """A byte now and then, and never a whole event."""
    head(wire, answer.status, answer.getheader("content-type", ""))
    for byte in b": " + b"x" * 2000:
        chunk(wire, bytes([byte]))
        time.sleep(0.3)


def wrong_type(answer, wire):
    relay(answer, wire, "text/html; charset=utf-8")


def huge_stream(answer, wire):
    """The server's own events that bring text, over and over."""
    head(wire, answer.status, answer.getheader("content-type", ""))
    events = [event for event in answer.read().split(b"\n\n") if b"delta" in event and b"stop" not in event]
    block = max(events, key=len) + b"\n\n"
    block *= max(1, 65536 // len(block))
    for _ in range(HUGE // len(block)):
        chunk(wire, block)


def huge_event(answer, wire):
    """One event that does not end."""
    head(wire, answer.status, answer.getheader("content-type", ""))
    chunk(wire, b"data: ")
    for _ in range(HUGE // 65536):
        chunk(wire, b"x" * 65536)


def huge_json(answer, wire):
    head(wire, 200, "application/json")
    chunk(wire, b'{"choices": [{"message": {"content": "')
    for _ in range(HUGE // 65536):
        chunk(wire, b"x" * 65536)
    chunk(wire, b'"}, "finish_reason": "stop"}]}')
    wire.write(b"0\r\n\r\n")


def redirect(answer, wire):
    head(wire, 307, "application/json", b"Location: http://127.0.0.1:9/elsewhere\r\n")
    wire.write(b"0\r\n\r\n")


def tell_key(answer, wire):
    """An error whose text repeats the key that was sent."""
    head(wire, 400, "application/json")
    chunk(wire, b'{"error": {"type": "invalid_request_error", "message": "no model for %s"}}' % wire.key.encode())
    wire.write(b"0\r\n\r\n")


FAULTS = {fault.__name__: fault for fault in
          (relay, cut, slow_loris, wrong_type, huge_stream, huge_event, huge_json, redirect, tell_key)}


class Wire:
    def __init__(self, connection, key):
        self.connection, self.key = connection, key
        self.file = connection.makefile("wb", buffering=0)

    def write(self, data):
        self.file.write(data)

    def flush(self):
        self.file.flush()


class FaultyProxy(http.server.ThreadingHTTPServer):
    """`fault`: a name of FAULTS, done to the answer of every POST. GETs are relayed."""

    daemon_threads = True

    def __init__(self, port, fault):
        super().__init__(("127.0.0.1", 0), Handler)
        self.upstream, self.fault, self.asked = port, FAULTS[fault], 0
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def handle_error(self, *_):
        pass  # the program hung up, as it should on most of these


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.forward(relay)

    def do_POST(self):
        with self.server.lock:
            self.server.asked += 1
        self.forward(self.server.fault)

    def forward(self, fault):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
        upstream = http.client.HTTPConnection("127.0.0.1", self.server.upstream, timeout=300)
        upstream.request(self.command, self.path, body, headers)
        answer = upstream.getresponse()
        key = self.headers.get("x-api-key") or self.headers.get("authorization", "").removeprefix("Bearer ")
        try:
            retry = answer.getheader("retry-after")
            if retry:
                self.relay_with(answer, retry)
            else:
                fault(answer, Wire(self.connection, key))
        finally:
            upstream.close()
            self.close_connection = True

    def relay_with(self, answer, retry):
        wire = Wire(self.connection, "")
        head(wire, answer.status, answer.getheader("content-type", ""), b"Retry-After: %s\r\n" % retry.encode())
        chunk(wire, answer.read())
        wire.write(b"0\r\n\r\n")

    def log_message(self, *_):
        pass
