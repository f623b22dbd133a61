"""Every public class: its objects are pickled, copied and deeply copied, also after they have been used.

A class is found in the public packages. One of plain data, a dataclass or named tuple without functions in its fields,
is filled with stand-ins; all others are made: by the examples of their own docstrings, or here.
"""

from __future__ import annotations

import copy
import dataclasses
import doctest
import importlib
import inspect
import pickle
import pkgutil
import re
import subprocess
import sys
import warnings
from contextlib import redirect_stderr
from functools import cache
from io import StringIO

import numpy as np
import pytest

import cayley as cy
from cayley.compiler import local_functions
from cayley.compiler.kernel import Kernel
from cayley.compiler.made_once import kept
from cayley.dynamics.accounting import Tape
from cayley.dynamics.rigid_links.links import serial_chain
from cayley.geometry.rotations.euler import euler_kernels
from cayley.machines import integrate_attitude
from cayley.model.joint_kinds import Revolute
from cayley.planning import PlatformTask, point_to_point
from cayley.planning.timing.efforts import limit_use

NOT_PLAIN = re.compile(r"Callable|Text\b|Any\b|Kernel|System|Motion\b|object")
LEFT_OUT = {
    "cayley.studio": "a page in a browser and its controls, which are no data",
    "cayley.cli": "commands",
}


def public_classes():
    found = {}
    for info in [None, *pkgutil.walk_packages(cy.__path__, "cayley.")]:
        if (info is not None and not info.ispkg) or (info and info.name.startswith(tuple(LEFT_OUT))):
            continue
        package = cy if info is None else importlib.import_module(info.name)
        names = getattr(package, "__all__", None) or [name for name in dir(package) if name[0] != "_"]
        for value in (getattr(package, name) for name in names):
            if inspect.isclass(value) and value.__module__.startswith("cayley."):
                found[f"{value.__module__}.{value.__qualname__}"] = value
    return {name: kind for name, kind in sorted(found.items())
            if not (inspect.isabstract(kind) or getattr(kind, "_is_protocol", False))}


def field_types(kind):
    """The annotations of plain data; None of a class that is something else."""
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return dict(kind.__annotations__)
    return {part.name: part.type for part in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else None


def is_plain(kind):
    types = field_types(kind)
    return types is not None and not any(NOT_PLAIN.search(str(text)) for text in types.values())


CLASSES = public_classes()
PLAIN = [name for name, kind in CLASSES.items() if is_plain(kind) and not issubclass(kind, BaseException)]
OTHERS = [name for name, kind in CLASSES.items() if name not in PLAIN and not issubclass(kind, BaseException)]
ERRORS = [name for name, kind in CLASSES.items() if issubclass(kind, BaseException)]


def same(a, b, depth=0):
    """Whether two objects say the same, as far as they consist of data."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.shape(a) == np.shape(b) and (a.dtype == object or np.array_equal(a, b, a.dtype.kind in "fc"))
    if isinstance(a, Kernel):  # each has a class of its own
        return repr(a) == repr(b) and (a is b or depth > 0 or bool(a.signature.names) or same_numbers(a, b))
    if type(a) is not type(b) or depth > 4:
        return type(a) is type(b)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y, depth + 1) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k], depth + 1) for k in a)
    if isinstance(a, (int, float, complex, str, bytes, bool, type(None))):
        return a == b or a != a
    if dataclasses.is_dataclass(a) and not isinstance(a, type):
        return all(same(getattr(a, part.name), getattr(b, part.name), depth + 1) for part in dataclasses.fields(a))
    return True


def same_numbers(a, b):
    given = [np.full(core, 0.3 + 0.1 * k) for k, core in enumerate(a.signature.inputs)]
    found = [result if isinstance(result, tuple) else (result,) for result in (a(*given), b(*given))]
    return all(np.array_equal(x, y, equal_nan=True) for x, y in zip(*found, strict=True))


def check(value):
    for made in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert same(value, made)
        assert re.sub(r"0x\w+", "", repr(made)) == re.sub(r"0x\w+", "", repr(value))


@pytest.mark.parametrize("name", PLAIN)
def test_plain_data(name):
    kind = CLASSES[name]
    values = [np.array([0.5, k]) for k in range(len(field_types(kind)))]
    if issubclass(kind, tuple):
        value = kind._make(values)
    else:
        value = object.__new__(kind)
        for part, given in zip(field_types(kind), values, strict=True):
            object.__setattr__(value, part, given)
        if hasattr(value, "__dict__"):
            kept(value, "used", lambda: lambda: 0)
    for made in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert type(made) is kind
        assert all((getattr(made, part) == getattr(value, part)).all() for part in field_types(kind))


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    check_error = CLASSES[name]("what is wrong")
    for made in (pickle.loads(pickle.dumps(check_error)), copy.copy(check_error), copy.deepcopy(check_error)):
        assert type(made) is type(check_error) and str(made) == "what is wrong"


# Classes that hold more than data


def arm():
    return cy.load("planar2r").with_gravity([0.0, -9.81, 0.0])


def falls(t, x, u, p):
    return x.height


def through(run):
    return run.simulate({"q": [0.1, 0.2], "qd": [0.0, 0.0]}, until=0.05, inputs={"tau": [0.0, 0.0]})


def line(start=0.0):
    return point_to_point([start], [start + 1.0], duration=1.0)


def own(name):
    return importlib.import_module(f"cayley.{name}")


Z = Revolute((0.0, 0.0, 1.0))

MADE = {
    "control.tasks.controller.TaskController": lambda: cy.load("panda").tasks([cy.control.PoseTask("tool")]),
    "compiler.operations.operation.Operation": lambda: own("compiler.operations").OPERATIONS["sin"],
    "compiler.kernel.Kernel": lambda: cy.kernel("(3)->()")(lambda x: x @ x),
    "systems.layout.State": lambda: arm().system().layout.state(np.zeros(4)),
    "model.parts.Joint": lambda: arm().tree.joints[0],
    "control.laws.table.Law": lambda: own("control.laws.table").Law(own("control.laws.joint_law").joint_pd),
    "dynamics.accounting.counting_scalar.CountingScalar": lambda: Tape().inputs([2.0, 3.0]).sum(),
    "dynamics.accounting.counting_scalar.Tape": lambda: Tape().inputs([2.0, 3.0]).sum().tape,
    "dynamics.equations.result.EquationsOfMotion": lambda: arm().equations(),
    "dynamics.forward.kernels.ForwardDynamics": lambda: arm().forward_dynamics,
    "dynamics.inverse.screws.BodyScrews": lambda: arm().formulations.body_screws,
    "dynamics.inverse.kernels.InverseDynamics": lambda: arm().inverse_dynamics,
    "dynamics.inverse.reactions.Reactions": lambda: arm().joint_reactions,
    "dynamics.linearised.identified_discrete_model.RecursiveFit": lambda: own("dynamics").RecursiveFit(2, 1, 0.1),
    "dynamics.linearised.kernels.Linearize": lambda: arm().linearize,
    "dynamics.rigid_links.links.Link": lambda: serial_chain(arm().tree).links[0],
    "dynamics.rigid_links.methods.KernelWithMethods": lambda: arm().inertia_matrix,
    "dynamics.rigid_links.methods.Method": lambda: own("dynamics").Method("cayley.dynamics", "here"),
    "machines.centred_charts.ChartSpan": lambda: integrate_attitude(
        lambda t: [0.0, 0.0, 1.0], np.eye(3), [0.0, np.pi, 6.0], frame="world").spans[0],
    "geometry.rotations.euler.EulerKernels": lambda: euler_kernels("zyx", axes="moving"),
    "kinematics.inverse.result.InverseKinematicsResult": lambda: arm().inverse_kinematics(
        arm().pose([[0.3, 0.4], [0.1, 0.2]], "tool"), "tool")[1],
    "machines.networks.instant.NetworkJoint": lambda: own("machines.networks").NetworkJoint(Z, np.eye(3)),
    "machines.walking.stride.Stride": lambda: own("machines.walking.planar_biped").PlanarBiped().stride(
        lambda s: 0.3 * s * np.array([-1.0, 1.0, -1.0, 1.0]), [("double support", 0.5)], repeats=False),
    "model.constraint_kinds.loop.Loop": lambda: own("model.constraint_kinds").Loop("loop", "a", "b", Z),
    "model.constraint_kinds.prescribed_motion.PrescribedMotion": lambda: own(
        "model.constraint_kinds").PrescribedMotion("motor", "crank", lambda t: 0.3 * np.sin(t)),
    "model.spring_kinds.law.SpringLaw": lambda: own(
        "model.spring_kinds").SpringLaw(lambda *x: x[0], lambda q, qm: qm - q),
    "planning.sequence.Composed": lambda: own("planning").Composed(line(), line()),
    "planning.function_of_time.FunctionOfTime": lambda: own("planning").FunctionOfTime(
        lambda t: np.stack([np.sin(t)]), 0.0, 1.0),
    "planning.timing.efforts.LimitUse": lambda: limit_use(line(), own("planning").MotionLimits(velocity=3.0)),
    "planning.tool_motions.mobile_tasks.PlatformTask": lambda: PlatformTask(
        cy.load("two_wheel_robot").tree, None, line(), ("a",), np.zeros(2), "base", None),
    "planning.sequence.Sequence": lambda: line().then(line(1.0)),
    "planning.sequence.Together": lambda: own("planning").Together((line(), line())),
    "scale.points.Grid": lambda: own("scale").Grid(kp=[1.0, 2.0]),
    "scale.points.Table": lambda: own("scale").Table({"kp": [1.0, 2.0]}),
    "systems.rollouts.rollout.Rollout": lambda: arm().rollout(controller=lambda t, q, qd: -q),
    "systems.trajectory.Trajectory": lambda: arm().simulate([0.1, 0.2], [0.0, 0.0], until=0.05),
    "systems.adaptive.events.Event": lambda: own("simulation").Event("level", lambda t, q, qd: q[0]),
    "geometry.manifolds.Manifold": lambda: own("systems").UNIT_QUATERNION,
    "systems.system.System": lambda: arm().system(),
    "systems.transitions.Transition": lambda: own("systems").Transition("impact", falls, jump=lambda t, x, u, p: x),
}
NO_DATA = {
    "compiler.native.vector_assembly.Lanes": "it writes into an LLVM builder, which lives while a kernel is compiled",
    "learning.rsl_rl_environment.RslRlEnvironment": "it holds tensors of PyTorch, and belongs to one run",
    "exports.layouts.FolderLayout": "a base class without objects", "model.formats.format.Format": "the same",
}
MORE = {  # several kinds of one class, each made in its own way
    "a closed mechanism": lambda: cy.load("four_bar").system(),
    "wheels": lambda: cy.load("two_wheel_robot").system(),
    "friction": lambda: cy.load("panda").including("friction", "armature").system(),
    "a closed loop": lambda: cy.connect(arm(), arm().control.computed_torque(100.0, 20.0)),
    "feedback": lambda: own("systems").feedback(lag()),
    "a series": lambda: own("systems").series(lag(), lag().renamed({"y": "z", "u": "v"}, "second")),
    "other parameters": lambda: own("control").pid(2.0, 1.0),
    "a run": lambda: through(arm().system()),
    "a rollout of a system": lambda: arm().system().rollout(),
    "what was rolled out": lambda: arm().rollout()([0.1, 0.2], [0.0, 0.0], step=1e-3, steps=10),
    "what a system rolled out": lambda: arm().system().rollout()(
        {"q": [[0.1, 0.2]], "qd": [0.0, 0.0]}, step=1e-3, steps=10, inputs={"tau": [0.0, 0.0]}),
    "one pose": lambda: arm().inverse_kinematics(arm().pose([0.3, 0.4], "tool"), "tool"),
    "a kernel of a lambda": lambda: cy.kernel("()->()")(lambda x: x * x),
}


def lag():
    return cy.System("lag", state={"y": "V"}, inputs={"u": "V"}, derivative=lambda t, x, u, p: u.u - x.y)


@cache
def examples(module):
    """What the examples of a module's docstrings have made."""
    found, shown = [], []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    display, sys.__displayhook__ = sys.__displayhook__, lambda value: shown.append(value)
    try:
        for test in doctest.DocTestFinder().find(own(module)):
            with warnings.catch_warnings(action="ignore"), redirect_stderr(StringIO()):
                runner.run(test, out=lambda text: None, clear_globs=False)
            found += [value for name, value in test.globs.items() if name not in vars(own(module))]
    finally:
        sys.__displayhook__ = display
    return [*found, *shown]


def inside(value, depth=2):
    yield value
    if depth and isinstance(value, (tuple, list)):
        for part in value[:20]:
            yield from inside(part, depth - 1)
    elif depth and type(value).__module__.startswith("cayley."):
        for part in list(getattr(value, "__dict__", {}).values()):
            yield from inside(part, depth - 1)


@pytest.mark.parametrize("name", [name for name in OTHERS if name.removeprefix("cayley.") not in NO_DATA])
def test_what_is_more_than_data(name):
    kind, short = CLASSES[name], name.removeprefix("cayley.")
    values = [MADE[short]()] if short in MADE else [
        part for value in examples(kind.__module__.removeprefix("cayley.")) for part in inside(value)
        if type(part) is kind][:2]
    if not values and issubclass(kind, cy.Mechanism.__bases__):
        values = [arm()]  # a part of a mechanism's class
    if not values and not vars(kind).get("__init__"):
        values = [kind()]
    assert values, f"{name} is new: say in MADE how one is made, or give its docstring an example"
    for value in values:
        check(value)


@pytest.mark.parametrize("what", MORE)
def test_one_class_made_in_several_ways(what):
    check(MORE[what]())


GIVEN = {"kp": 30.0, "ki": 4.0, "kd": 6.0, "kf": 1.0, "frame": "tool", "slope": 2.0, "rate": 0.5, "bound": 1.0,
         "layer": 0.1, "gain": 20.0, "stiffness": 50.0, "damping": 9.0, "inertia": 2.0, "along": ["x"],
         "selection": own("control").Selection(["x"], ["y"]), "q": [0.3, 0.4],
         "task": (True, True, False, False, False, False)}


@pytest.mark.parametrize("law", [*cy.load("planar2r").control.laws])
def test_laws_command_the_same_forces_afterwards(law):
    needs = vars(own("control").ArmControl)[law].arguments
    choice = {name: GIVEN[name] for name, argument in needs.items()
              if name == "task" or argument.default is inspect.Parameter.empty}
    if law == "null_space":  # for which two joints are too few
        choice["task"] = (True, False, False, False, False, False)
    system = getattr(arm().control, law)(**choice)
    rng = np.random.default_rng(0)
    given = [rng.uniform(0.1, 0.9, core) for core in system.step.signature.inputs]
    assert same(system, copy.copy(system)) and same(system, copy.deepcopy(system))
    for here, there in zip(system.step(*given), pickle.loads(pickle.dumps(system)).step(*given), strict=True):
        np.testing.assert_array_equal(here, there)


def test_runs_come_back_from_another_process():
    """What is pickled there is read here, and the other way round."""
    loop = cy.connect(arm(), arm().control.computed_torque(100.0, 20.0))
    text = ("import pickle, sys; loop = pickle.load(sys.stdin.buffer); run = loop.simulate({'q': [0.1, 0.2], 'qd': "
            "[0.0, 0.0]}, until=0.05, inputs={'target': [1.0, 1.0], 'target_qd': [0.0, 0.0], 'target_qdd': [0.0, 0.0]"
            "}); sys.stdout.buffer.write(pickle.dumps(run))")
    done = subprocess.run([sys.executable, "-c", text], input=pickle.dumps(loop), capture_output=True, check=True)
    there = pickle.loads(done.stdout)
    here = loop.simulate({"q": [0.1, 0.2], "qd": [0.0, 0.0]}, until=0.05, inputs={
        "target": [1.0, 1.0], "target_qd": [0.0, 0.0], "target_qdd": [0.0, 0.0]})
    np.testing.assert_allclose(there.vectors, here.vectors, rtol=1e-8)  # to the tolerance of the solver
    np.testing.assert_array_equal(there["tau"], pickle.loads(done.stdout)["tau"])
    assert there.finished


def test_functions_of_the_user_travel_with_cloudpickle_or_are_named(monkeypatch):
    gain = 3.0
    system = cy.System("lag", state={"y": ""}, derivative=lambda t, x, u, p: -gain * x.y)
    again = pickle.loads(pickle.dumps(system))
    assert again.simulate({"y": 1.0}, until=1.0).end.y == system.simulate({"y": 1.0}, until=1.0).end.y
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(cy.UnsupportedError, match=r"the derivative of the System lag is a function that pickle cannot "
                                                  r"carry \('.*<lambda>', line \d+ of .*top of a module"):
        pickle.dumps(system)
    assert copy.copy(system).simulate({"y": 1.0}, until=1.0).end.y == copy.deepcopy(system).simulate(
        {"y": 1.0}, until=1.0).end.y


def test_a_pickle_of_another_version_is_refused():
    with pytest.raises(cy.UnsupportedError, match="another function here"):
        local_functions._function("cayley.systems.joining.connected", "Connected._text.<locals>.<lambda>", 7, [], None,
                                  None)
