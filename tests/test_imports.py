"""Nobody waits for what is not used, and `dir(cayley)` is what a user wants."""

import json
import subprocess
import sys

import pytest

import cayley as cy

HEAVY = {
    "llvmlite", "scipy", "sympy", "matplotlib", "rich", "typer", "mujoco", "trimesh", "viser", "websockets", "networkx",
    "xml", "html", "http", "email", "asyncio", "unittest"}
LATER = ("dynamics", "simulation", "drawing", "control", "planning", "machines", "systems", "studio", "cli")


def loaded_by(code):
    """The modules that a fresh interpreter has loaded after a piece of code."""
    done = subprocess.run([sys.executable, "-c", f"{code}\nimport sys, json\nprint(json.dumps(sorted(sys.modules)))"],
                          capture_output=True, text=True, check=True, timeout=120)
    return set(json.loads(done.stdout))


def test_reading_a_robot_loads_neither_llvm_nor_the_packages_that_compute():
    found = loaded_by("import cayley\ncayley.load('panda')")
    assert {name.split(".")[0] for name in found} & HEAVY == set()
    assert {name for name in found if name.startswith(tuple(f"cayley.{part}." for part in LATER))} == set()
    assert "urllib.request" not in found and "cayley.model.report" not in found
    assert not {"difflib", "zipfile", "tempfile", "shutil"} & found
    assert len(found - loaded_by("import numpy")) < 240  # 0.12 s of a processor, where 0.25 s are allowed


@pytest.mark.parametrize("package", ["rotations", "motions", "inertia", "rates", "principal_axes", "tensors"])
def test_a_package_of_geometry_loads_what_is_used_of_it(package):
    others = {name for name in loaded_by(f"import cayley.geometry.{package}")
              if name.startswith("cayley.geometry.") and name.count(".") > 2}
    assert others == set()


def test_the_names_of_the_package_are_those_that_a_user_wants():
    assert sorted(dir(cy)) == sorted([*cy.__all__, "__version__"]) and len(set(cy.__all__)) == len(cy.__all__)
    modules = {name for name in cy.__all__ if type(getattr(cy, name)) is type(cy)}
    assert modules <= {"control", "geometry", "learning", "machines", "planning", "simulation", "systems"}
    assert not {"TYPE_CHECKING", "Any", "annotations", "np", "numpy"} & set(dir(cy))
    assert {"load", "catalogue", "Mechanism", "kernel", "where", "CayleyError"} <= set(dir(cy))


def test_laws_of_an_arm_load_no_algebra_and_no_statistics():
    found = loaded_by("import cayley\ncayley.load('planar2r').control.pd(1.0, 1.0)")
    assert {"sympy", "scipy.signal", "scipy.stats", "cayley.dynamics.identification"} & found == set()
