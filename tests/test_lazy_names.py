"""Packages that import their names when they are asked for."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import cayley.dynamics
import cayley.kinematics
import cayley.planning
from cayley.lazy_names import lazy_names, with_former_names

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


@pytest.mark.parametrize("module", ["deque.py", "deque/__init__.py"])
@pytest.mark.parametrize("asked", [lambda get, names: get("deque"), lambda get, names: get("Counter"),
                                   lambda get, names: get("__all__"), lambda get, names: names()])
def test_a_name_that_is_also_a_module_of_the_package_is_an_error(tmp_path, module, asked):
    (tmp_path / "__init__.pyi").write_text("from collections import Counter, deque\n")
    (tmp_path / module).parent.mkdir(exist_ok=True)
    (tmp_path / module).write_text("")
    with pytest.raises(ImportError, match="imports 'deque' from collections, and somewhere has a module 'deque'"):
        asked(*lazy_names("somewhere", str(tmp_path / "__init__.py")))


def test_every_stub_names_what_is_no_module_of_its_package():
    root = Path(cayley.__file__).parent
    stubs = [stub for stub in root.rglob("__init__.pyi") if "lazy_names(" in stub.with_suffix(".py").read_text()]
    assert len(stubs) > 10
    for stub in stubs:
        package = import_module(".".join(("cayley", *stub.parent.relative_to(root).parts)))
        assert dir(package), package
    from cayley.dynamics.elastic_drives import elastic_arm
    assert callable(elastic_arm)


def test_packages_of_dynamics_have_the_names_that_the_documentation_has():
    from cayley.dynamics import cartesian, linearised
    assert {"CartesianCoordinates", "CartesianLinearised", "CartesianMechanism",
            "operational_space_kernel"} <= set(dir(cartesian))
    assert {"LinearisedMechanism", "StateSpace", "fit_state_space", "RecursiveFit",
            "inverse_second_derivatives_kernel", "forward_second_derivatives_kernel"} <= set(dir(linearised))
    for package in (cartesian, linearised):
        assert all(getattr(package, name) is not None for name in dir(package))


def test_a_former_name_of_a_package_works_and_says_the_new_one(tmp_path):
    (tmp_path / "__init__.pyi").write_text("from cayley.kinematics import Closure\n")
    former = {"Closing": "Closure", "follow_old": "planning.follow"}
    get, names = lazy_names("cayley.kinematics", str(tmp_path / "__init__.py"), former=former)
    with pytest.warns(DeprecationWarning, match=r"`cayley\.kinematics\.Closing` is now called "
                                                r"`cayley\.kinematics\.Closure`") as caught:
        assert get("Closing") is cayley.kinematics.Closure
    assert caught[0].filename == __file__
    with pytest.warns(DeprecationWarning, match=r"is now called `cayley\.planning\.follow`"):
        assert get("follow_old") is cayley.planning.follow
    assert names() == ["Closure"]


def test_a_former_name_of_a_class_works_and_says_the_new_one():
    class Room:
        def close(self):
            return "closed"

    @with_former_names({"close": "loops.close", "rows": "names"})
    class Arm:
        names = ("a",)

        @property
        def loops(self):
            return Room()

    arm = Arm()
    with pytest.warns(DeprecationWarning, match=r"`Arm\.close` is now called `loops\.close`") as caught:
        assert arm.close() == "closed"
    assert caught[0].filename == __file__
    with pytest.warns(DeprecationWarning, match=r"`Arm\.rows` is now called `names`"):
        assert arm.rows == ("a",)
    assert "close" not in dir(arm)
    with pytest.raises(AttributeError, match="'Arm' object has no attribute 'clos'"):
        arm.clos  # noqa: B018


def test_former_names_leave_what_else_a_class_answers():
    @with_former_names({"old": "new"})
    class Thing:
        new = 1

        def __getattr__(self, name):
            raise AttributeError(f"a thing has no {name}")

    with pytest.warns(DeprecationWarning):
        assert Thing().old == 1
    with pytest.raises(AttributeError, match="a thing has no other"):
        Thing().other  # noqa: B018
