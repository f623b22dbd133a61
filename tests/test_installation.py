"""Wheel and sdist, installed in clean environments: the tour runs; without extras numbers are computed, and every place
that imports a package of an extra names the extra.

A clean environment has the packages that pyproject.toml asks for and no others. They are those installed here, by
links: nothing is downloaded."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from cayley.extras import EXTRAS

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "cayley"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DISTRIBUTIONS = {"PIL": "matplotlib", "mpl_toolkits": "matplotlib", "contourpy": "matplotlib",
                 "collada": "pycollada", "cupy": "cupy-cuda12x",
                 "distributed": "dask", "cloudpickle": "dask", "fast_simplification": "fast-simplification",
                 "websockets": "viser", "yaml": "xacro"}  # what is asked for, where its name is another


def run(*command, cwd, **environment):
    home = Path(cwd) / "home"
    home.mkdir(exist_ok=True)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "CAYLEY"))}
    return subprocess.run(list(map(str, command)), cwd=cwd, text=True, capture_output=True, timeout=600,
                          env={**kept, "HOME": str(home), "USERPROFILE": str(home), "COLUMNS": "120",
                               "PYTHONUTF8": "1", **environment})


def done(*command, cwd, **environment):
    result = run(*command, cwd=cwd, **environment)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The wheel, the sdist, and the wheel that is made of the sdist."""
    folder = tmp_path_factory.mktemp("built")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", folder / "direct"], cwd=ROOT, check=True,
                   capture_output=True)
    wheel, = (folder / "direct").glob("*.whl")
    sdist, = (folder / "direct").glob("*.tar.gz")
    shutil.unpack_archive(sdist, folder)
    unpacked = folder / sdist.name.removesuffix(".tar.gz")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder / "again"], cwd=unpacked,
                   check=True, capture_output=True)
    again, = (folder / "again").glob("*.whl")
    return {"wheel": wheel, "sdist": again, "unpacked": unpacked}


def needed(requirements):
    """The distributions, as installed here, that requirements and their own requirements name."""
    found = {}
    waiting = list(map(Requirement, requirements))
    seen = set()
    while waiting:
        requirement = waiting.pop()
        key = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if key in seen:
            continue
        seen.add(key)
        if key[0] == "cayley":
            waiting.extend(Requirement(each) for extra in requirement.extras
                           for each in PROJECT["optional-dependencies"][extra])
            continue
        found[key[0]] = distribution = metadata.distribution(requirement.name)
        for each in map(Requirement, distribution.requires or ()):
            asked = ("", *requirement.extras)
            if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in asked):
                waiting.append(each)
    return found


def environment(folder, wheel, extras=()):
    """A virtual environment with the wheel and what it needs; returns its Python."""
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / ("python.exe" if os.name == "nt" else "python")
    site = Path(done(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip())
    asked = [*PROJECT["dependencies"], *[each for extra in extras for each in PROJECT["optional-dependencies"][extra]]]
    for distribution in needed(asked).values():
        for top in {file.parts[0] for file in distribution.files} - {"..", "__pycache__"}:
            link(Path(distribution.locate_file(top)), site / top)
    subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, "install",
                    "--quiet", "--no-deps", "--no-index", "--no-compile", wheel], check=True, capture_output=True)
    return python


def link(source, target):
    if target.exists():
        return
    if os.name != "nt":
        target.symlink_to(source)
    else:  # where links need rights
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)


@pytest.fixture(scope="module")
def plain(built, tmp_path_factory):
    """Python of an environment without extras."""
    return environment(tmp_path_factory.mktemp("plain"), built["wheel"])


def files_of(wheel):
    with zipfile.ZipFile(wheel) as files:
        return {name: files.read(name) for name in files.namelist()}


def test_wheel_and_sdist_hold_the_whole_package(built):
    tracked = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "src/cayley"], cwd=ROOT,
                             text=True, capture_output=True)
    if tracked.returncode == 0:
        names = [name for name in tracked.stdout.split("\n") if name and (ROOT / name).exists()]
    else:  # the tests of an sdist
        names = [str(path.relative_to(ROOT)) for path in SOURCE.rglob("*")
                 if path.is_file() and path.suffix != ".pyc"]
    files = files_of(built["wheel"])
    assert {name.removeprefix("src/") for name in names} == {name for name in files if name.startswith("cayley/")}
    assert "cayley/py.typed" in files and any(name.endswith(".toml") for name in files)
    licence, = (name for name in files if name.endswith("licenses/LICENSE"))
    assert files[licence] == (ROOT / "LICENSE").read_bytes()
    same = files_of(built["sdist"])
    assert {name: data for name, data in same.items() if name.startswith("cayley/")} == {
        name: data for name, data in files.items() if name.startswith("cayley/")}
    for name in ("LICENSE", "README.md", "CHANGELOG.md", "Makefile", "pyproject.toml", "tests/test_installation.py",
                 "docs/start/installing.md", "tools/lowest.py"):
        assert (built["unpacked"] / name).read_bytes() == (ROOT / name).read_bytes()


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_the_tour_of_an_installation_writes_the_file_of_the_readme(built, tmp_path, kind):
    python = environment(tmp_path / "env", built[kind], ["full"])
    work = tmp_path / "work"
    work.mkdir()
    said = done(python.with_name("cayley.exe" if os.name == "nt" else "cayley"), "tour", cwd=work,
                CAYLEY_COMPILE="quick", CAYLEY_CACHE=os.environ["CAYLEY_CACHE"])  # the compiler is the same
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    name = re.search(r"writes a report[^`]*`(\S+?)`", readme)[1]
    assert {path.name for path in work.iterdir()} == {name, "home"} and name in said
    page = (work / name).read_text(encoding="utf-8")
    assert "puma560" in page and "<svg" in page and "<math" in page


NUMBERS = """
import numpy as np, cayley as cy
arm = cy.load("panda")
q = arm.random_configuration(3, seed=0)
tau = arm.inverse_dynamics(q, 0 * q, 0 * q)
assert np.abs(arm.forward_dynamics(q, 0 * q, tau)).max() < 1e-8
assert arm.inverse_kinematics(arm.pose(q[0], "tool"), "tool").status == "solved"
small = cy.load("planar2r")
assert small.simulate([0.1, 0.2], [0.0, 0.0], until=0.1).q.shape
assert small.rollout()(np.zeros((2, 2)), np.zeros((2, 2)), step=1e-3, steps=5).q.shape == (2, 6, 2)
assert small.control.pd(1.0, 1.0) is not None
assert "Joints" in str(arm.summary())
exciting = small.formulations.compare_inverse_dynamics(*np.zeros((3, 2)), progress=True)
assert exciting.agrees
platform = cy.load("stewart")
assert platform.loops.mobility == 6
from cayley.dynamics.identification import base_parameters, linear_model
assert base_parameters(linear_model(small.tree)) is not None
from cayley.machines.networks import Network
assert Network.of(cy.load("four_bar").tree).layout.loops
"""

ERRORS = {
    "equations": ["small.equations()", "cy.kernel('(2)->(2)')(lambda x: 2 * x).evaluate(cy.SYMPY, [1, 2])",
                  "cy.kernel('(2)->(2)')(lambda x: 2 * x).evaluate(cy.MPMATH, [1.0, 2.0])"],
    "plots": ["small.draw()", "small.simulate([0.1, 0.2], [0.0, 0.0], until=0.1).plot()",
              "small.report().save('x.html')"],
    "bridges": ["cy.kernel('(2)->(2)')(lambda x: 2 * x).evaluate(cy.CASADI, [1, 2])"],
    "tables": ["small.summary().joints.to_dataframe()"],
    "mjcf": ["from cayley.model.formats.mjcf import load_mjcf; load_mjcf('<mujoco/>')"],
}


def test_numbers_need_no_extra(plain, tmp_path):
    done(plain, "-c", NUMBERS, cwd=tmp_path)


@pytest.mark.parametrize("extra", ERRORS)
def test_functions_of_an_extra_name_it(plain, tmp_path, extra):
    for call in ERRORS[extra]:
        code = f"import cayley as cy\nsmall = cy.load('planar2r')\n{call}"
        result = run(plain, "-c", code, cwd=tmp_path)
        assert result.returncode and f"pip install 'cayley[{extra}]'" in result.stderr.splitlines()[-1], (
            call, result.stderr)


def test_the_command_line_names_its_extra_in_one_line(plain, tmp_path):
    for command in ([plain, "-m", "cayley", "tour"], [plain.with_name("cayley"), "robots"]):
        result = run(*command, cwd=tmp_path)
        assert result.returncode == 1 and not result.stdout
        assert re.fullmatch(r"Error: .*pip install 'cayley\[cli\]'\s*", result.stderr)


def packages(node):
    names = ([alias.name for alias in node.names] if isinstance(node, ast.Import)
             else [node.module] if isinstance(node, ast.ImportFrom) and not node.level else [])
    return {name.partition(".")[0] for name in names}


def optional(node):
    return packages(node) & EXTRAS.keys()


def places(node, guard=""):
    """Imports below a node, each with what stands around it."""
    for child in ast.iter_child_nodes(node):
        inside = guard
        if isinstance(child, ast.With) and "optional_imports" in ast.unparse(child.items[0]):
            inside = "optional_imports"
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            inside = "types"
        elif isinstance(child, ast.Try) and any("ImportError" in ast.unparse(each.type) for each in child.handlers
                                                if each.type):
            inside = "caught"
        elif isinstance(child, ast.FunctionDef) and child.name == "__rich__":
            inside = "called by Rich"
        if packages(child):
            yield child, inside
        yield from places(child, inside)


@cache
def found_places():
    return [(path.relative_to(SOURCE).as_posix(), node, guard) for path in sorted(SOURCE.rglob("*.py"))
            for node, guard in places(ast.parse(path.read_text(encoding="utf-8")))]


def test_every_import_of_an_extra_is_guarded():
    bare = [f"{path}:{node.lineno}" for path, node, guard in found_places() if optional(node) and not guard
            and not (path.startswith("cli/") and optional(node) <= {"typer", "rich"})  # their package has imported it
            and not (path == "model/formats/xacro_text.py" and "substitution_args" in ast.unparse(node))]
    assert not bare, bare


def test_every_guarded_import_names_its_extra(plain, tmp_path):
    imports = sorted({ast.unparse(node) for _, node, guard in found_places()
                      if optional(node) and guard == "optional_imports"})
    assert len(imports) > 20
    code = f"""
import cayley as cy
from cayley.extras import EXTRAS, optional_imports
for line in {imports!r}:
    try:
        with optional_imports():
            exec(line)
    except cy.errors.MissingPackageError as error:
        package = line.split()[1].partition(".")[0]
        assert f"pip install 'cayley[{{EXTRAS[package]}}]'" in str(error), line
        assert isinstance(error, ImportError) and error.name == package
    else:
        raise AssertionError(line)
"""
    done(plain, "-c", code, cwd=tmp_path)


def test_every_module_is_imported_or_names_an_extra(plain, tmp_path):
    code = """
import pkgutil, importlib, cayley
for each in pkgutil.walk_packages(cayley.__path__, "cayley.", onerror=lambda name: None):
    if each.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(each.name)
    except ImportError as error:
        assert "pip install 'cayley[" in str(error), (each.name, error)
        print(each.name)
    except cayley.UnsupportedError as error:
        assert "pip install 'cayley[" in str(error), (each.name, error)
        print(each.name)
"""
    without = done(plain, "-W", "ignore", "-c", code, cwd=tmp_path).split()
    drawn = ("cayley.cli", "cayley.drawing.", "cayley.dynamics.equations", "cayley.dynamics.nonholonomic.printed_",
             "cayley.studio.", "cayley.learning.environment", "cayley.exports.")
    assert not [name for name in without if not name.startswith(drawn)]


def test_every_package_that_is_imported_is_required_or_of_an_extra():
    known = {*sys.stdlib_module_names, *EXTRAS, "cayley", "numpy", "scipy", "llvmlite", "ruckig",
             "tensordict"}  # which rsl_rl brings
    imported = set().union(*[packages(node) for _, node, guard in found_places() if guard != "types"])
    assert imported <= known, imported - known


def test_extras_are_those_of_the_project():
    assert set(EXTRAS.values()) <= PROJECT["optional-dependencies"].keys()
    for package, extra in EXTRAS.items():
        asked = {Requirement(each).name for each in PROJECT["optional-dependencies"][extra]}
        assert DISTRIBUTIONS.get(package, package) in asked, package


def test_the_plain_installation_is_small():
    names = {Requirement(each).name for each in PROJECT["dependencies"]}
    assert names == {"numpy", "scipy", "llvmlite"} == needed(PROJECT["dependencies"]).keys()
