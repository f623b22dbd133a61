"""Every public function of a mechanism is shown as it is called: in `help`, by `inspect`, and so by editors."""

import inspect
import pydoc
import re
from operator import attrgetter

import numpy as np
import pytest

import cayley as cy
from cayley.compiler.kernel import Kernel
from cayley.compiler.kernel_family import KernelOfMethod, family

ROOMS = ("loops", "configurations", "dexterity", "centroidal", "collision", "identification", "formulations",
         "pictures", "variants")


def public(kind, prefix=""):
    return {f"{prefix}{name}": inspect.getattr_static(kind, name) for name in dir(kind) if name[0] != "_"}


PUBLIC = public(cy.Mechanism) | {name: found for room in ROOMS for name, found in public(
    type(getattr(cy.load("planar2r"), room)), f"{room}.").items()}
KERNELS = [name for name, found in PUBLIC.items() if isinstance(found, KernelOfMethod)]
FAMILIES = [name for name, found in PUBLIC.items() if isinstance(found, family)]
OWN_ROBOT = {
    "formulations.motor_motion": lambda: cy.load("planar2r").with_drive("joint1", stiffness=1e3, inertia=1e-3)
    .including("elastic drives"), "loops.needed_friction": lambda: cy.load("two_wheel_robot")}


def named(signature):
    return [name for name in signature.parameters if name != "self"]


def test_nothing_is_shown_without_its_arguments():
    text = pydoc.plain(pydoc.render_doc(cy.Mechanism))
    assert not re.findall(r"\|  (\w+\(\.\.\.\))", text)
    assert len(KERNELS) >= 40 and len(FAMILIES) >= 15  # of the mechanism and its rooms
    assert "pose(self, q: 'ArrayLike', frame: 'str', *, relative_to: 'str' = 'world') -> numpy.ndarray" in text
    assert "inverse_dynamics(self, q: 'ArrayLike', qd: 'ArrayLike', qdd: 'ArrayLike') -> numpy.ndarray" in text


@pytest.mark.parametrize("name", KERNELS)
def test_the_arrays_of_a_kernel_are_those_it_is_shown_with(name):
    arm = OWN_ROBOT.get(name, lambda: cy.load("planar2r"))()
    kernel = attrgetter(name)(arm)
    assert isinstance(kernel, Kernel)
    assert list(kernel.inputs) == named(inspect.signature(PUBLIC[name]))
    assert PUBLIC[name].__doc__.startswith(f"`{name.rpartition('.')[2]}({', '.join(kernel.inputs)})`")


@pytest.mark.parametrize("name", FAMILIES)
def test_the_arrays_of_a_family_come_first(name):
    arm = cy.load("planar2r")
    shown = inspect.signature(attrgetter(name)(arm))
    choices = {"frame": "tool", "axes": "world", "task": "position", "orientation": "quaternion", "formed_in": "world",
               "referred_to": "world"}
    made = attrgetter(name)(arm).of(**{key: choices[key] for key in named(shown) if key in choices})
    assert named(shown)[:len(made.inputs)] == list(made.inputs)


def test_a_function_of_the_class_takes_the_object_first():
    arm = cy.load("planar2r")
    np.testing.assert_array_equal(cy.Mechanism.inertia_matrix(arm, [0.3, -0.7]), arm.inertia_matrix([0.3, -0.7]))
    assert cy.Mechanism.gravity_forces(arm, [0.0, 0.0], dtype=np.float32).dtype == np.float32


def test_results_that_are_not_arrays_are_named():
    shown = {name: inspect.signature(PUBLIC[name]).return_annotation for name in (*KERNELS, *FAMILIES)}
    assert shown["linearize"] == "Sensitivities" and shown["formulations.link_motion"] == "LinkMotion"
    assert shown["pose"] is np.ndarray and shown["forward_derivatives"] == "ForwardDerivatives"
