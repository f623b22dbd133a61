"""The functions with which a page moves a mechanism, in JavaScript that the compiler writes: a joint kind, a constraint
or an attitude is what the library says, and nothing of it is written in the page.

    poses(q)                 of all bodies, the root first: 12 numbers each, the rows of (R | p)
    placed(q, values)        the configuration with these values of its sliders, and of what follows them
    between(start, end, x)   from one configuration to another, 0 <= x <= 1
and of a mechanism that is to stay closed
    opening(q)               what is open of its constraints
    follow(1, 1, 4, q, good, size, sign, d, stages)      `kinematics.following_step`: the others follow the sliders
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cayley.compiler.backends.javascript import iteration_text, javascript_text
from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.geometry.rotations import quaternion_from_roll_pitch_yaw
from cayley.kinematics.constraints.inputs import Inputs
from cayley.kinematics.constraints.rows import hold_positions, residual
from cayley.kinematics.constraints.scale import machine_size
from cayley.kinematics.forward import body_poses
from cayley.kinematics.loops.following_step import following_step
from cayley.model.tree import Tree
from cayley.studio.sliders import Slider


def motion_text(tree: Tree, sliders: Sequence[Slider], closed: Sequence[int] | None) -> str:
    """One object, `Motion`, of these functions. `closed` are the numbers of the joints that have a slider, of a
    mechanism that is to stay closed."""
    texts = [_poses(tree), _placed(tree, sliders), _between(tree)]
    names = ["poses", "placed", "between"]
    if closed is not None:
        texts += _closing(tree, closed)
        names += ["opening", "follow"]
    return "\n".join(["const Motion = (() => {", *texts, f"return {{ {', '.join(names)} }};", "})();"])


def _poses(tree: Tree) -> str:
    def poses(q: Array) -> Array:
        return np.stack([np.concatenate([np.asarray(pose.R), np.reshape(pose.p, (3, 1))], axis=1)
                         for pose in body_poses(tree, q)])

    made = kernel(f"({tree.nq})->({len(tree.bodies)},3,4)", name="poses", inputs=("q",))(poses)
    return javascript_text(made.program(), "poses")


def _placed(tree: Tree, sliders: Sequence[Slider]) -> str:
    """Three turns of an attitude are yaw, pitch and roll; mimic joints follow their leaders."""
    def placed(q: Array, values: Array) -> Array:
        found = list(q)
        turns: dict[int, dict[int, Scalar]] = {}
        for slider, value in zip(sliders, values, strict=True):
            if slider["attitude"] is None:
                found[slider["place"]] = value
            else:
                turns.setdefault(slider["place"], {})[slider["attitude"]] = value
        for place, angles in turns.items():
            found[place:place + 4] = quaternion_from_roll_pitch_yaw(np.stack([angles[k] for k in (2, 1, 0)]))
        for joint, at in zip(tree.joints, tree.q_slices, strict=True):
            if joint.mimic is not None:
                leader = found[tree.q_slices[tree.joint_number(joint.mimic.joint)].start]
                found[at.start] = joint.mimic.multiplier * leader + joint.mimic.offset
        return np.stack(found) if found else np.zeros(0)

    made = kernel(f"({tree.nq}),({len(sliders)})->({tree.nq})", name="placed", inputs=("q", "values"))(placed)
    return javascript_text(made.program(), "placed")


def _between(tree: Tree) -> str:
    """Evenly from coordinate to coordinate; quaternions, of which two are one attitude, the shorter way and unit."""
    attitudes = [slice(place.start + joint.motion.attitude.q.start, place.start + joint.motion.attitude.q.stop)
                 for joint, place in zip(tree.joints, tree.q_slices, strict=True) if joint.motion.attitude is not None]

    def between(start: Array, end: Array, x: Scalar) -> Array:
        found = start + x * (end - start)
        for at in attitudes:
            near = where(start[at] @ end[at] < 0.0, -1.0, 1.0) * end[at]
            mixed = start[at] + x * (near - start[at])
            found[at] = mixed / np.sqrt(mixed @ mixed)
        return found

    made = kernel(f"({tree.nq}),({tree.nq}),()->({tree.nq})", name="between", inputs=("start", "end", "x"))(between)
    return javascript_text(made.program(), "between")


def _closing(tree: Tree, driven: Sequence[int]) -> list[str]:
    """Of the constraints on positions: what wheels forbid does not hold a slider."""
    held = replace(tree, constraints=tuple(each for each in tree.constraints if each.positions))
    rows = np.flatnonzero(hold_positions(held))
    opening = kernel(f"({tree.nq})->({len(rows)})", name="opening", inputs=("q",))(lambda q: residual(held, q)[rows])
    step = following_step(Inputs(held, tuple(driven)), machine_size(held))
    return [javascript_text(opening.program(), "opening"), iteration_text(step.iteration(), "follow")]
