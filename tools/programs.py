"""Install the Debian packages that the tests need besides Python's: `python tools/programs.py`.

Where they cannot be installed (another system, no root, no network) this says which are missing, and the tests that
need them are left out by name.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGES = {
    "libgomp1": "Pinocchio, the first oracle",
    "gcc": "exported C",
    "g++": "exported C++ and the text for GPUs, on the processor",
    "libc6-dev": "the headers of both",
    "gfortran": "exported Fortran",
    "cmake": "exported libraries",
    "chromium": "reports, the studio and JavaScript",
    "fonts-dejavu-extra": "equations in pages, whose subscripts need a font for mathematics",
    "gcc-arm-none-eabi": "controllers on a Cortex-M4F",
    "libnewlib-arm-none-eabi": "their C library",
    "libstdc++-arm-none-eabi-newlib": "Arduino sketches",
    "qemu-system-arm": "the Cortex-M4F itself, emulated",
}


def missing() -> list[str]:
    """The packages that are not installed; none where there is no Debian to ask."""
    if shutil.which("dpkg-query") is None:
        return []
    told = subprocess.run(["dpkg-query", "--show", "--showformat=${Package} ${db:Status-Status}\n", *PACKAGES],
                          capture_output=True, text=True).stdout
    installed = {line.split()[0] for line in told.splitlines() if line.endswith(" installed")}
    return [name for name in PACKAGES if name not in installed]


def main() -> None:
    if missing():
        import fcntl  # which Debian has
        with (Path(tempfile.gettempdir()) / "cayley-programs.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # `make lowest` may be installing them
            install(missing())


def install(absent: list[str]) -> None:
    """Install packages, and say of those that cannot be installed what is left out."""
    if not absent:
        return
    print(f"Installing for the tests: {', '.join(absent)}", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-qq"], ["install", "-qq", "--yes", "--no-install-recommends", *absent]):
        done = subprocess.run(["apt-get", *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              env=environment)
        if done.returncode:
            print(done.stderr.strip()[-500:], file=sys.stderr)
            break
    for name in missing():
        print(f"{name} is not installed (apt-get install {name}): tests of {PACKAGES[name]} are left out.",
              file=sys.stderr)


if __name__ == "__main__":
    main()
