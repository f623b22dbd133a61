"""Functions, classes and methods that users reach say how they are called when a call does not fit, in names that users
write; calls that fit are what they were."""

import ast
import inspect
import pickle
import sys
from enum import EnumMeta
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import cayley as cy
from cayley.errors import SignatureError
from cayley.explained_calls import CallError, explained, with_explained_calls

HOME = Path(cy.__file__).parent
PACKAGES = [".".join(stub.parent.relative_to(HOME.parent).parts) for stub in sorted(HOME.rglob("__init__.pyi"))
            if stub.parent.name != "functions"]  # whose functions are methods of rooms
PACKAGES += ["cayley", "cayley.systems", "cayley.simulation"]
WITHIN = {"Algebra", "HasSystem", "Manifold", "Operations", "Record", "State"}  # objects of these are made by Cayley
Q = np.zeros(7)


@pytest.fixture(scope="module")
def arm():
    return cy.load("panda")


def called_by_users(package):
    """Functions and classes of a package, and the methods of these; tuples with names and cached functions are C."""
    home = import_module(package)
    for name in dir(home):
        found = getattr(home, name)
        if name.startswith("_") or name in WITHIN or not str(getattr(found, "__module__", "")).startswith("cayley"):
            continue
        if inspect.isfunction(found):
            yield name, found
        elif isinstance(found, type) and not isinstance(found, EnumMeta):
            own = {key: each for kind in reversed(found.__mro__) if kind.__module__.startswith("cayley")
                   for key, each in vars(kind).items()}
            yield from ((key, each) for key, each in own.items() if inspect.isfunction(each) and key[0] != "_")
            if inspect.isfunction(own.get("__init__")) and own["__init__"].__module__.startswith("cayley."):
                yield found.__name__, found


@pytest.mark.parametrize("package", PACKAGES)
def test_whatever_a_package_has_says_how_it_is_called(package):
    tried = 0
    for name, function in called_by_users(package):
        parameters = list(inspect.signature(function).parameters.values())
        if any(p.kind is p.VAR_KEYWORD for p in parameters) or inspect.isabstract(function) or getattr(
                function, "_is_protocol", False):
            continue
        tried += 1
        own = [object()] if parameters[:1] and parameters[0].name == "self" else []
        with pytest.raises(SignatureError, match=rf"^{name} has no argument 'not_one_of_them'.* It is called {name}\("):
            function(*own, not_one_of_them=1)
    assert tried or package in ("cayley.geometry.vector_fields",)


@pytest.mark.parametrize("call, said", [
    (lambda arm: cy.load(), r"load needs `name_or_path`. It is called load\(name_or_path, floating_base="),
    (lambda arm: cy.load("panda", floating=True), "no argument 'floating': did you mean 'floating_base'"),
    (lambda arm: cy.Mechanism(), r"^Mechanism needs `tree`"),
    (lambda arm: cy.Mechanism("panda"), r"a mechanism has a tree, not 'panda': `cy.load` makes one"),
    (lambda arm: cy.System(), r"^System needs `name`. It is called System\(name, state"),
    (lambda arm: cy.kernel(), r"^kernel needs `signature`"),
    (lambda arm: cy.planning.follow(), r"^follow needs `machine`, `path`, `frame` and `start`. It is called follow\("),
    (lambda arm: cy.control.digital(), r"^digital needs `law` and `period`"),
    (lambda arm: cy.machines.TranslationalDelta(), r"^TranslationalDelta needs `crank`, `rod`, `base` and `platform`"),
    (lambda arm: arm.control.pid(), r"^pid needs `kp`, `ki` and `kd`. It is called pid\(kp, ki, kd,"),
    (lambda arm: arm.control.pd(1.0, kv=2.0), r"^pd has no argument 'kv'"),
    (lambda arm: arm.control.law("pd")(), r"^pd needs `kp` and `kd`"),
    (lambda arm: arm.control.wall(), r"^wall needs "),
    (lambda arm: arm.rollout()(Q, Q), r"^rollout needs `step` and `steps`"),
    (lambda arm: arm.simulate(Q, Q, until=0.001).plot(colour=3), r"^plot has no argument 'colour'"),
    (lambda arm: arm.inverse_dynamics.using(), r"^using needs `method`. It is called using\(method\)"),
    (lambda arm: arm.inverse_dynamics.with_inputs(wrench=["tool"]), "no argument 'wrench': did you mean 'wrenches'"),
    (lambda arm: arm.inverse_dynamics(Q, Q), r"takes 3 arguments \(q, qd, qdd\), not 2: it needs `qdd`"),
    (lambda arm: arm.inverse_dynamics(Q, Q, qddd=Q), "no argument or option 'qddd': did you mean 'qdd'"),
    (lambda arm: arm.pose(), r"^pose needs `q` and `frame`: it is called pose\(q, frame, "),
    (lambda arm: arm.pose(Q, fram="tool"), "^pose has no option 'fram'.*did you mean 'frame'"),
    (lambda arm: arm.pose(Q, "tool", "world"), r"^pose takes 2 positional arguments, not 3: it is called pose\(q"),
    (lambda arm: arm.twist(Q, frame="tool", axes="world"), r"^twist needs `qd`: it is called twist\(q, qd, frame"),
    (lambda arm: arm.pose.of(fram="tool"), "^pose has no option 'fram'.*did you mean 'frame'"),
    (lambda arm: arm.tree.with_payload("tool"), r"^with_payload needs `mass`"),
    (lambda arm: arm.variants.with_joints(hinge=3), r"^with_joints has no argument 'hinge'. It is called with_j"),
    (lambda arm: cy.planning.point_to_point([0.0], [1.0], duration=1.0).scaled(), "^scaled needs")])
def test_what_is_missing_is_named_and_no_class_within(arm, call, said):
    with pytest.raises(cy.CayleyError, match=said) as told:
        call(arm)
    assert "__" not in str(told.value) and "()" not in str(told.value)


def test_a_method_of_a_frame_that_was_called_before_still_says_what_is_missing(arm):
    arm.twist(Q, Q, "tool", axes="world")
    with pytest.raises(SignatureError, match=r"^twist needs `qd`"):
        arm.twist(Q, frame="tool", axes="world")


def test_names_of_arm_control_that_do_not_exist(arm):
    with pytest.raises(AttributeError, match=r"^`arm.control` has no 'pdd': did you mean 'pd' or 'pid'"):
        _ = arm.control.pdd


def test_functions_of_packages_are_pickled_from_wherever_they_were_taken():
    from cayley.planning.tool_motions.following import follow
    assert pickle.loads(pickle.dumps(cy.planning.follow)) is cy.planning.follow
    assert pickle.loads(pickle.dumps(follow)) is follow
    assert inspect.signature(cy.planning.follow) == inspect.signature(follow) and cy.planning.follow.__doc__


def test_what_goes_wrong_within_stays_what_it_is():
    @explained
    def inner(x):
        return x + "text"

    with pytest.raises(TypeError) as told:
        inner(1)
    assert not isinstance(told.value, CallError)
    with pytest.raises(TypeError, match="unhashable"):
        explained(cache(lambda x: x))([])


def test_what_takes_anything_is_left_alone_and_nothing_is_wrapped_twice():
    def anything(self, *given, **named): ...

    def demanding(self, *given, step, **named):
        return step

    kind = type("Thing", (), {"__module__": "cayley.somewhere", "anything": anything, "demanding": demanding})
    for function in (anything, demanding):
        function.__module__ = "cayley.somewhere"
    with_explained_calls(kind)
    once = kind.demanding
    with_explained_calls(kind)
    assert kind.anything is anything and kind.demanding is once and kind().demanding(1, 2, step=3, more=4) == 3
    with pytest.raises(CallError, match=r"^demanding needs `step`. It is called demanding\(\*given, step, \*\*named\)"):
        kind().demanding()


def test_warnings_are_given_at_the_line_of_the_user():
    with pytest.warns(UserWarning, match="more than a turn") as caught:
        cy.Mechanism.from_dh([("q1", 0.4, 0, 90)], convention="standard")
    assert caught[0].filename == __file__
    assert caught[0].lineno == sys._getframe().f_lineno - 2
    tree = ast.parse(Path(__file__).read_text())
    assert any(isinstance(node, ast.Attribute) and node.attr == "from_dh" and node.lineno == caught[0].lineno
               for node in ast.walk(tree))
