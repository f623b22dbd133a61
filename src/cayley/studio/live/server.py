"""The server of a view: viser's, whose page and all that it needs come out of its own package.

It listens on this machine alone unless another host is named, and never hands its page on to a machine elsewhere. Nor
does it answer to pages of others: a browser says in Host by which name it was sent here, and in Origin which page sent
it. A foreign name (DNS rebinding) and a foreign page are refused; viser looks at neither."""

from __future__ import annotations

import io
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager, redirect_stdout
from functools import cache
from ipaddress import ip_address
from threading import Lock, current_thread, main_thread
from typing import TypeAlias
from urllib.parse import urlsplit

from cayley.errors import CayleyError, ConventionError, UnsupportedError

try:
    import websockets.asyncio.server as websockets_server
    from viser import ViserServer
    from websockets.http11 import Request, Response
except ImportError as error:
    raise UnsupportedError("the studio draws with the package viser, which is not installed: pip install "
                           "'cayley[studio]'") from error

HOST = "127.0.0.1"
PORT = 8080  # or the next that is free
_LOCAL = ("localhost", "127.0.0.1", "::1")
_STARTING = Lock()

_Answer: TypeAlias = Response | Awaitable[Response | None] | None
_Gate: TypeAlias = Callable[[websockets_server.ServerConnection, Request], _Answer]


class StudioServer(ViserServer):
    """A server without a public address on the internet."""

    def request_share_url(self, verbose: bool = True) -> None:
        return None


def started(host: str, port: int | None) -> StudioServer:
    """A server on a port, or on the first that is free from 8080 on."""
    if port is not None:
        _check_free(host, port)
    if hasattr(signal, "SIGPIPE") and current_thread() is main_thread():
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # a client that goes away ends a write, not the program
    with _gated(host) as gates, redirect_stdout(io.StringIO()):  # it says where it listens, and so do we
        server = StudioServer(host=host, port=PORT if port is None else port, verbose=False)
    if not gates:
        stopped(server)
        raise UnsupportedError("this version of viser cannot be protected against requests from other pages: install "
                               "version 1.1")
    return server


def stopped(server: StudioServer) -> None:
    """Stop a server that may have stopped."""
    with redirect_stdout(io.StringIO()):
        server.stop()


def _check_free(host: str, port: int) -> None:
    if not 0 < port < 65536:
        raise ConventionError(f"a port must be a number from 1 to 65535, not {port}")
    with closing(socket.socket()) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError as error:
            raise CayleyError(f"port {port} of {host} cannot be used ({error.strerror or error}): name another, or "
                              "none for the first that is free") from error


@contextmanager
def _gated(host: str) -> Iterator[list[_Gate]]:
    """Patch the listener of viser while its server starts, so that every request passes `refusal` first."""
    gates: list[_Gate] = []

    class Gated(websockets_server.serve):
        def __init__(self, *arguments: object, process_request: _Gate | None = None, **more: object) -> None:
            def gate(connection: websockets_server.ServerConnection, request: Request) -> _Answer:
                why = refusal(host, request.headers.get_all("Host"), request.headers.get_all("Origin"))
                if why:
                    return connection.respond(403, f"{why}\n")
                return None if process_request is None else process_request(connection, request)
            gates.append(gate)
            super().__init__(*arguments, process_request=gate, **more)  # type: ignore[arg-type]

    with _STARTING:
        plain = websockets_server.serve
        websockets_server.serve = Gated  # type: ignore[misc]
        try:
            yield gates
        finally:
            websockets_server.serve = plain  # type: ignore[misc]


def refusal(bound: str, hosts: list[str], origins: list[str]) -> str:
    """Reason to reject a request, by its Host and Origin (which only browsers send), or an empty text."""
    if len(hosts) != 1 or not _is_own(_name(hosts[0]), bound.lower()):
        return "Unknown host name: open the address that the studio printed, or start it with --host NAME."
    if len(origins) > 1 or any(origin.partition("://")[2].lower() != hosts[0].lower() for origin in origins):
        return "The studio does not answer requests from other pages."
    return ""


def _name(host: str) -> str:
    """Host name or address of a Host header without its port, or an empty text."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _is_own(name: str, bound: str) -> bool:
    """True if a host name can mean this server. DNS can point a foreign name to it, but not an IP address."""
    if name in _LOCAL or name == bound:
        return True
    if bound in _LOCAL:
        return False
    try:
        ip_address(name)
    except ValueError:
        return name in _names_of_this_machine()
    return True


@cache
def _names_of_this_machine() -> tuple[str, ...]:
    name = socket.gethostname().lower()
    return name, f"{name}.local", socket.getfqdn().lower()
