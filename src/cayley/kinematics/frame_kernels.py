"""Kernels of the texts of kinematics, `text(tree, *arrays, frame, **choices)`, for one mechanism, one frame and one
choice; and of rates, steps and differences of configurations."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.kernel_family import GIVEN
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, Scalar
from cayley.errors import ConventionError
from cayley.kinematics.forward import body_poses, frame_pose
from cayley.kinematics.mechanism_kernel import (
    MechanismKernel,
    choices_in_words,
    described,
    first_sentence,
    of_a_mechanism,
    units_of,
)
from cayley.model.configuration_space import configuration_difference, configuration_rate, configuration_step
from cayley.model.tree import Tree

_UNITS = {
    "pose_matrix": "position in m", "point_position": "m", "twist": "m/s; rad/s", "acceleration": "m/s^2; rad/s^2",
    "frame_bias": "m/s^2; rad/s^2",
    "general_jacobian": "rows: velocity x y z, angular velocity x y z",
    "formed_jacobian": "rows: velocity x y z, angular velocity x y z",
    "actuated_jacobian": "rows: velocity x y z, angular velocity x y z", "joint_forces_that_exert": "tau",
    "joint_forces_that_resist": "tau"}


def sized(tree: Tree, signature: str) -> str:
    """A signature with q and v for the sizes of configuration and velocity, with the numbers of a mechanism."""
    return re.sub(r"\b[qv]\b", lambda letter: str(tree.nq if letter[0] == "q" else tree.nv), signature)


def sized_kernel(tree: Tree, signature: str, text: Callable[..., Any], name: str,
                 check: Callable[..., None] | None = None, *, explain: Callable[..., None] | None = None,
                 sentence: str = "", unit: str = "") -> MechanismKernel:
    """A kernel in whose signature q and v stand for the sizes of configuration and velocity. The sentence says what it
    computes, for its docstring and exported code; the unit is that of its only result, or one of the names that
    `units_of` knows."""
    units = units_of(tree)
    if sentence:
        described(tree, text, sentence)
    made = kernel(sized(tree, signature), name="".join(c if c.isalnum() else "_" for c in name), check=check,
                  explain=explain, units={**units, "out": units.get(unit, unit)}, kind=MechanismKernel)(text)
    return cast(MechanismKernel, made)


def body_pose_kernel(tree: Tree) -> Kernel:
    """`poses(q)`: those of all bodies (..., bodies, 4, 4), the root first; made once for each mechanism.

    >>> from cayley.model.catalogue import load_robot
    >>> body_pose_kernel(load_robot("planar2r"))(np.zeros((5, 2))).shape
    (5, 3, 4, 4)
    """
    return kept(tree, "poses of all bodies", lambda: kernel(
        f"({tree.nq})->({len(tree.bodies)},4,4)", name="poses_of_all_bodies")(
            lambda q: np.stack([pose.matrix for pose in body_poses(tree, q)])))


@of_a_mechanism
def frame_kernel(tree: Tree, text: Callable[..., Any], signature: str, frame: str, *,
                 check: Callable[..., None] | None = None, explain: Callable[..., None] | None = None,
                 **choices: Any) -> MechanismKernel:  # noqa: ANN401 (of the text)
    """The kernel of a text for a frame. The choices `axes`, `at` and `relative_to` name frames, and are looked up;
    `at=GIVEN` makes the point (3) the last input.

    >>> from cayley.kinematics.jacobians.velocity import twist
    >>> from cayley.model.catalogue import load_robot
    >>> frame_kernel(load_robot("planar2r"), twist, "(q),(v)->(6)", "tool", axes="world", at=GIVEN)
    <kernel twist_of_tool (2),(2),(3)->(6)>
    """
    _check_frames(tree, frame, text.__name__, choices)
    names = list(inspect.signature(text).parameters)
    arrays = names[1:names.index("frame")]
    given = [name for name, choice in choices.items() if choice is GIVEN]

    def of_one_state(*inputs: Array) -> Scalar:
        return text(tree, *inputs[:len(arrays)], frame, **choices | dict(zip(given, inputs[len(arrays):], strict=True)))

    of_one_state.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in [*arrays, *given]])
    described(tree, of_one_state, first_sentence(text), choices_in_words(tree, frame, choices))
    return sized_kernel(tree, signature.replace("->", ",(3)" * len(given) + "->"), of_one_state,
                        f"{text.__name__}_of_{frame}", check, explain=explain, unit=_UNITS.get(text.__name__, ""))


def pose_matrix(tree: Tree, q: Array, frame: str, *, relative_to: str) -> Array:
    """The pose (4, 4) of a frame in another, or in the root ("world")."""
    return frame_pose(tree, q, frame, None if relative_to == "world" else relative_to).matrix


def _check_frames(tree: Tree, frame: str, what: str, choices: dict[str, Any]) -> None:
    tree.frame(frame)
    if "axes" in choices and choices["axes"] is None:
        asked = what.removeprefix("general_").replace("_", " ")
        raise ConventionError(
            f'say in which axes the {asked} is to be: axes="world" (the root\'s), axes="body" (those of the frame), or '
            "the name of a frame")
    if choices.get("axes") not in (None, "world", "body"):
        tree.frame(choices["axes"])
    for place in (choices.get("at"), choices.get("relative_to")):
        if isinstance(place, str) and place != "world":
            tree.frame(place)
    for place in (choices.get("formed_in"), choices.get("referred_to")):
        if place not in (None, "world", "body"):
            tree.frame(place)


def rate_kernel(tree: Tree) -> Kernel:
    """`rate(q, qd)`: dq/dt, how the coordinates change at a velocity."""
    return sized_kernel(tree, "(q),(v)->(q)", lambda q, qd: configuration_rate(tree, q, qd), "rate",
                        sentence="How fast the coordinates q change at the velocity qd.")


def integrate_kernel(tree: Tree) -> Kernel:
    """`integrate(q, qd)`: where the constant velocity qd leads from q in unit time."""
    return sized_kernel(tree, "(q),(v)->(q)", lambda q, qd: configuration_step(tree, q, qd), "integrate",
                        sentence="Where the constant velocity qd leads from the configuration q in unit time.",
                        unit="q")


def difference_kernel(tree: Tree) -> Kernel:
    """`difference(start, end)`: the constant velocity that leads from one configuration to another in unit time."""
    return sized_kernel(tree, "(q),(q)->(v)", lambda start, end: configuration_difference(tree, start, end),
                        "difference",
                        sentence="The constant velocity that leads from one configuration to another in unit time.",
                        unit="qd")
