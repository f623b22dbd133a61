"""Install the peers of `.venv-peers` one by one; those that do not install are named on the page with what the
installer said. `python benchmarks/install_peers.py .venv/bin/uv .venv-peers`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

COMPILING = 900  # seconds, at most
PEERS = {
    "Drake": ["drake>=1.51"],
    "frax": ["frax>=0.1", "jax"],
    "adam": ["adam-robotics[jax]>=0.5"],
    "mink": ["mink>=1.3", "daqp", "mujoco"],
    "PlaCo": ["placo"],
    "Crocoddyl": ["crocoddyl==3.2.1", "pin==4.0.0"],  # which ends in a segmentation fault with pin 4.1.0
    "CppADCodeGen": ["pin==4.0.0", "cmeel-cppad", "cmeel-cppadcodegen", "cmeel-eigen"],
    "PyRoki": ["pyroki"],
    "bard": ["bard-pytorch-dynamics"],  # the package `bard` on PyPI is an empty one of somebody else
}


def main() -> None:
    uv, environment = sys.argv[1], Path(sys.argv[2])
    refused = []
    for name, packages in PEERS.items():
        done = subprocess.run([uv, "pip", "install", "--quiet", "--python", environment / "bin" / "python", *packages],
                              capture_output=True, text=True)
        if done.returncode:
            said = re.sub(r"[^\x20-\x7e]+", " ", " ".join(done.stderr.split()))
            refused.append(f"{name}, `pip install {' '.join(packages)}`: {said.strip()[:300]}")
            print(f"not installed: {refused[-1]}", file=sys.stderr)
    program = [environment / "bin" / "python", Path(__file__).with_name("elsewhere_peers.py"), "--compile"]
    compilers = [subprocess.Popen([*program, name], stderr=subprocess.PIPE, text=True, start_new_session=True)
                 for name in ("pinocchio_codegen", "pinocchio_loops")]
    for compiler in compilers:
        try:
            _, said = compiler.communicate(timeout=COMPILING)
        except subprocess.TimeoutExpired:
            os.killpg(compiler.pid, signal.SIGTERM)
            said = f"g++ took longer than {COMPILING} s"
        if compiler.returncode != 0:
            refused.append(f"CppADCodeGen, compiled: {' '.join(said.strip().splitlines()[-1:])}")
    (environment / "refused.txt").write_text("\n".join(refused) + ("\n" if refused else ""))


if __name__ == "__main__":
    main()
