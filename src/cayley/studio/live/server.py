"""The server of a view: viser's, whose page and all that it needs come out of its own package.

It listens on this machine alone unless another host is named, and never hands its page on to a machine elsewhere.
"""

from __future__ import annotations

import io
import socket
from contextlib import closing, redirect_stdout

from cayley.errors import CayleyError, ConventionError, UnsupportedError

try:
    from viser import ViserServer
except ImportError as error:
    raise UnsupportedError("the studio draws with the package viser, which is not installed: pip install "
                           "'cayley[studio]'") from error

HOST = "127.0.0.1"
PORT = 8080  # or the next that is free


class StudioServer(ViserServer):
    """A server that nobody can ask for an address on the internet."""

    def request_share_url(self, verbose: bool = True) -> None:
        return None


def started(host: str, port: int | None) -> StudioServer:
    """A server on a port, or on the first that is free from 8080 on."""
    if port is not None:
        _check_free(host, port)
    with redirect_stdout(io.StringIO()):  # it says where it listens, and so do we
        return StudioServer(host=host, port=PORT if port is None else port, verbose=False)


def stopped(server: StudioServer) -> None:
    """Stop a server that may have stopped."""
    with redirect_stdout(io.StringIO()):
        server.stop()


def _check_free(host: str, port: int) -> None:
    if not 0 < port < 65536:
        raise ConventionError(f"a port is a number from 1 to 65535, not {port}")
    with closing(socket.socket()) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError as error:
            raise CayleyError(f"port {port} of {host} cannot be used ({error.strerror or error}): name another, or "
                              "none for the first that is free") from error
