"""Cayley with the oldest packages that pyproject.toml allows: `python tools/lowest.py` installs them and runs the
README and some tests.

Every `name>=version` there becomes `name==version` here, so that a lower bound is never more than what has been run.
The interpreter that runs this file is the one that is tried.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / "build" / "lowest-{}.{}".format(*sys.version_info)
EXTRAS = ("mjcf", "scale", "bridges", "test")  # not gpu, which needs one
TRIED = ("README.md", "docs/robots/compiler.md", "tests/test_mechanism.py", "tests/cli/test_commands.py",
         *[f"tests/compiler/test_{name}.py" for name in ("kernel", "symbols", "interpret", "versions")],
         *[f"tests/model/test_{name}.py" for name in ("urdf", "mjcf", "toml_format")],
         "tests/drawing/test_stick_figures.py")
# beside NumPy, whose own import takes its time by version
NOT_TRIED = "tests/compiler/test_kernel.py::test_import_is_quick_and_lean"
BOUND = re.compile(r"(?P<name>[\w.-]+)(\[[\w,]+\])?>=(?P<version>[\d.]+)(,<[\d.]+)?(\s*;.*)?")


def lower_bounds(project: dict) -> dict[str, str]:
    """The lowest version of each package of [project], by name; a package that is named twice must say the same."""
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    found: dict[str, str] = {}
    for requirement in {r for group in groups for r in group if not r.startswith(f"{project['name']}[")}:
        match = BOUND.fullmatch(requirement)
        if match is None:
            raise SystemExit(f"pyproject.toml: {requirement!r} has no lower bound of the form name>=version")
        name, version = match["name"], match["version"]
        if found.setdefault(name, version) != version:
            raise SystemExit(f"pyproject.toml: {name} has two lower bounds, {found[name]} and {version}")
    return found


def install(python: Path, versions: str) -> None:
    """Make the virtual environment, with these versions and no others."""
    print(f"Installing the oldest packages allowed into {HOME.relative_to(ROOT)}", flush=True)
    venv.create(HOME, with_pip=True)
    constraints = HOME / "constraints.txt"
    constraints.write_text(versions, encoding="utf-8")
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    what = ["--constraint", constraints, "--editable", f"{ROOT}[{','.join(EXTRAS)}]"]
    # uv takes a third of the time, and finds what it finds without pip's settings
    quick = [python, "-m", "uv", "pip", "install", "--quiet", "--python", python]
    if subprocess.run([*pip, "uv"]).returncode or subprocess.run([*quick, *what]).returncode:
        subprocess.run([*pip, *what], check=True)


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    python = HOME / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    versions = "".join(f"{name}=={version}\n" for name, version in sorted(lower_bounds(project).items()))
    installed = HOME / "installed.txt"  # so that a second run needs no network
    if not installed.exists() or installed.read_text(encoding="utf-8") != versions:
        install(python, versions)
        installed.write_text(versions, encoding="utf-8")
    sys.exit(
        subprocess.run([python, "-m", "pytest", "-q", "-n", "2", "--deselect", NOT_TRIED, *TRIED], cwd=ROOT,
                       env={**os.environ, "CAYLEY_TEST_CACHE": "cold"}).returncode)


if __name__ == "__main__":
    main()
