"""Packages that import their names when they are asked for."""

import subprocess
import sys
from types import ModuleType

import pytest

import cayley.dynamics
import cayley.kinematics
from cayley.lazy_names import lazy_names

PACKAGES = (cayley.kinematics, cayley.dynamics)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_every_name_is_there_and_none_hides_a_module(package):
    assert len(dir(package)) > 50 and dir(package) == package.__all__
    for name in dir(package):
        value = getattr(package, name)
        assert not isinstance(value, ModuleType) and value.__name__ == name
        assert value.__module__.startswith((package.__name__, "cayley.geometry."))  # a pose is of geometry


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_importing_the_package_imports_nothing_of_it(package):
    name = package.__name__
    text = f"import sys, {name}; print([m for m in sys.modules if m.startswith('{name}.')], 'numpy' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout
    assert shown.startswith("[]")


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match=r"'cayley\.kinematics' has no attribute 'frame_poses': did you mean"):
        cayley.kinematics.frame_poses  # noqa: B018
    assert cayley.kinematics.singular.redundancy.__name__ == "cayley.kinematics.singular.redundancy"
    assert not hasattr(cayley.dynamics, "__wrapped__") and not hasattr(cayley.dynamics, "_private")


def test_the_stub_is_the_list(tmp_path):
    (tmp_path / "__init__.pyi").write_text("from math import pi as pi\nfrom collections import Counter, deque\n")
    get, names = lazy_names("somewhere", str(tmp_path / "__init__.py"))
    assert names() == ["Counter", "deque", "pi"] and get("deque").__name__ == "deque"


def test_packages_of_dynamics_have_the_names_that_the_documentation_has():
    from cayley.dynamics import cartesian, linearised
    assert {"CartesianCoordinates", "CartesianLinearised", "CartesianMechanism",
            "operational_space_kernel"} <= set(dir(cartesian))
    assert {"LinearisedMechanism", "StateSpace", "fit_state_space", "RecursiveFit", "SYMBOLS",
            "inverse_second_derivatives_kernel", "forward_second_derivatives_kernel"} <= set(dir(linearised))
    for package in (cartesian, linearised):
        assert all(getattr(package, name) is not None for name in dir(package))
