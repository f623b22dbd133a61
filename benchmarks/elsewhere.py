"""Peers that need other packages than the tests: each is a process of `.venv-peers`, which the Makefile makes, and
races in the same rounds as everyone else. `CAYLEY_PEERS` names another environment."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from peers import MissingPeer
from timing import Contestant

HERE = Path(__file__).resolve().parent
ENVIRONMENT = Path(os.environ.get("CAYLEY_PEERS") or HERE.parent / ".venv-peers").absolute()


class Process:
    """A peer in its own process; it answers a line of JSON by a line of JSON, and arrays travel in files."""

    def __init__(self, peer: str) -> None:
        python = ENVIRONMENT / "bin" / "python"
        if not python.exists():
            raise MissingPeer(f"{peer}: there is no environment of peers, {ENVIRONMENT.name} (`make bench` makes it)")
        self.peer, self.folder = peer, tempfile.TemporaryDirectory()
        self.errors = (Path(self.folder.name) / "errors").open("w+")
        self.program = subprocess.Popen([python, HERE / "elsewhere_peers.py", peer], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.errors, text=True, cwd=self.folder.name)
        self.versions: list[str] = self.ask("versions")["versions"]

    def ask(self, request: str, **given: Any) -> dict[str, Any]:
        assert self.program.stdin and self.program.stdout
        try:
            self.program.stdin.write(json.dumps({"request": request, **given}) + "\n")
            self.program.stdin.flush()
            line = self.program.stdout.readline()
        except BrokenPipeError:
            line = ""
        answer = json.loads(line) if line else {"missing": f"its process ended: {self._last_words()}"}
        if "missing" in answer:
            raise MissingPeer(f"{self.peer}: {answer['missing']}")
        return answer

    def _last_words(self) -> str:
        self.errors.seek(0)
        return " ".join(self.errors.read().splitlines()[-1:]) or f"status {self.program.wait()}"

    def contestants(self, job: str, arrays: Mapping[str, np.ndarray], tolerance: float,
                    **given: Any) -> list[Contestant]:
        """The ways in which the peer does a job, such as "inverse_dynamics", on these arrays."""
        path = Path(self.folder.name) / "given.npz"
        np.savez(path, **dict(arrays))
        ways = self.ask("enter", job=job, arrays=str(path), folder=self.folder.name, **given)["ways"]
        return [
            Contestant(f"{self.peer} {way['title']}", way["title"], "", {}, way["states"],
                       _Results(self, way["number"]), tolerance, _Timer(self, way["number"])) for way in ways]


class _Results:
    def __init__(self, process: Process, number: int) -> None:
        self.process, self.number = process, number

    def __call__(self) -> np.ndarray:
        path = Path(self.process.folder.name) / "results.npy"
        self.process.ask("results", way=self.number, path=str(path))
        return np.load(path)


class _Timer:
    """What `timeit.Timer` is, for a statement in the other process."""

    def __init__(self, process: Process, number: int) -> None:
        self.process, self.number = process, number

    def timeit(self, loops: int) -> float:
        return float(self.process.ask("time", way=self.number, loops=loops)["seconds"])


_processes: dict[str, Process] = {}


def process(peer: str) -> Process:
    """The process of a peer, which is started once."""
    if peer not in _processes:
        _processes[peer] = Process(peer)
    return _processes[peer]


def versions() -> list[str]:
    """Of the packages of all peers that were started."""
    return list(dict.fromkeys(name for process in _processes.values() for name in process.versions))


def refused() -> list[str]:
    """The peers that could not be installed, each with what the installer said."""
    told = ENVIRONMENT / "refused.txt"
    return told.read_text().splitlines() if told.exists() else []
