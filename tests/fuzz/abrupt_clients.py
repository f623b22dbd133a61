"""Clients that send the studio anything and go away in the midst of it: it must go on, whatever comes.

One `cayley studio` is started, as a process of its own, at the first seed; every seed is a handful of clients.
"""

from __future__ import annotations

import atexit
import random
import socket
import subprocess
import sys
from base64 import b64encode
from contextlib import suppress
from functools import cache
from struct import pack
from urllib.parse import urlsplit
from urllib.request import urlopen

import msgspec
import viser

CLIENTS = 12
JUNK = (b"\xa1\xf4", b"", b"\xff" * 40, msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": "none",
                                                                "updates": {"value": 1.0}}))


@cache
def studio() -> tuple[subprocess.Popen, str]:
    """A studio that runs until this program ends, and its address."""
    process = subprocess.Popen([sys.executable, "-m", "cayley", "studio", "planar2r", "--no-browser"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    atexit.register(end, process)
    line = process.stdout.readline()
    assert line.startswith("planar2r: http://127.0.0.1:"), line
    return process, line.split()[1]


def end(process: subprocess.Popen) -> None:
    process.kill()
    process.wait()
    process.stdout.close()


def handshake(url: str, *, host: str | None = None, origin: str | None = None, upgrade: bool = True) -> socket.socket:
    """A connection that has asked for a WebSocket, or for the page; its answer is not yet read."""
    where = urlsplit(url)
    lines = [f"GET / HTTP/1.1\r\nHost: {host or where.netloc}"]
    if origin is not None:
        lines.append(f"Origin: {origin}")
    if upgrade:
        lines += ["Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Key: {b64encode(bytes(16)).decode()}",
                  "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Protocol: viser-v{viser.__version__}"]
    client = socket.create_connection((where.hostname, where.port), timeout=20)
    client.sendall("\r\n".join([*lines, "", ""]).encode())
    return client


def frame(message: bytes, *, masked: bool = True) -> bytes:
    """A binary message as a client sends it: masked, by zeros."""
    size = bytes([len(message) | 128 * masked]) if len(message) < 126 else pack("!BH", 126 | 128 * masked, len(message))
    return b"\x82" + size + bytes(4) * masked + message


def abort(client: socket.socket, *, half_closed: bool) -> None:
    """Go away without a word, so that what is on its way meets a closed door (RST); or half first (FIN), after which
    the other side's next write is a broken pipe."""
    if half_closed:
        with suppress(OSError):
            client.shutdown(socket.SHUT_WR)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, pack("ii", 1, 0))
    client.close()


def check(seed: int) -> None:
    """Some clients with some messages each, cut off anywhere; afterwards the page is still there."""
    rng = random.Random(seed)
    process, url = studio()
    for _ in range(CLIENTS):
        client = handshake(url, upgrade=rng.random() < 0.9)
        try:
            if rng.random() < 0.9:
                client.recv(200)
            for _ in range(rng.randrange(40)):
                message = rng.choice(JUNK) if rng.random() < 0.8 else rng.randbytes(rng.randrange(1, 300))
                sent = frame(message, masked=rng.random() < 0.98)
                client.sendall(sent if rng.random() < 0.98 else sent[:-1])
        except OSError:
            pass  # the server has closed it, which it may
        abort(client, half_closed=rng.random() < 0.7)
    with urlopen(url, timeout=60) as page:
        assert page.status == 200 and process.poll() is None
