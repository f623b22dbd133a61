"""Versions that are too old are named, instead of ending in something that nobody understands."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from cayley.compiler.versions import LEAST, require
from cayley.errors import CayleyError, VersionError

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OLD = """
import {package}
{package}.__version__ = "{version}"
try:
    import numpy as np, cayley as cy
    cy.kernel("()->()")(lambda x: np.sin(x))(1.0)
except cy.CayleyError if "cy" in globals() else ImportError as error:
    print(type(error).__name__, isinstance(error, ImportError), error)
"""


@pytest.mark.parametrize("package, version, least", [("numpy", "2.2.6", "2.3"), ("numpy", "1.26.4", "2.3"),
                                                     ("llvmlite", "0.47.0", "0.48")])
def test_an_old_package_is_named(package, version, least):
    done = subprocess.run([sys.executable, "-c", OLD.format(package=package, version=version)], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(
        f"VersionError True Cayley needs {package} {least} or later; this is {version}: pip install")


def test_an_old_python_is_named():
    with pytest.raises(VersionError, match=r"Cayley needs Python 3\.11 or later; this is 3\.10\.13") as caught:
        require("Python", "3.10.13")
    assert isinstance(caught.value, CayleyError)


@pytest.mark.parametrize("name, version", [("numpy", "2.3.0"), ("numpy", "3.0.0.dev0+git1"), ("llvmlite", "0.48.0rc1"),
                                           ("llvmlite", "0.100.0"), ("Python", "3.14.0a1+")])
def test_others_are_welcome(name, version):
    require(name, version)


def test_everything_says_the_same():
    bounds = dict(re.fullmatch(r"([\w-]+)>=([\d.]+)", text).groups() for text in PROJECT["dependencies"])
    assert {name: bounds.get(name)
            for name in ("numpy", "llvmlite")} == {name: LEAST[name]
                                                   for name in ("numpy", "llvmlite")}
    least = LEAST["Python"]
    assert PROJECT["requires-python"] == f">={least}"
    named = [text.rsplit(" ", 1)[1] for text in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", text)]
    assert named[0] == least
    for place in ("README.md", "Makefile"):
        said = re.findall(r"Python (3\.\d+) or later", (ROOT / place).read_text(encoding="utf-8"))
        assert said and set(said) == {least}
