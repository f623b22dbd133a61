"""External loads on a mechanism, in the links' terms: wrenches at named frames, and the motion of its base."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.inverse.methods import METHODS
from cayley.dynamics.inverse.newton_euler import JointLoad, Movement, acceleration_tensor, inverse_dynamics
from cayley.dynamics.inverse.passes import NONE, STILL, Base, EndLoad
from cayley.dynamics.rigid_links.links import ROOT, Links
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.errors import ConventionError, SignatureError
from cayley.geometry.rotations.quaternion import matrix_from_quaternion
from cayley.model.tree import Tree


@dataclass(frozen=True)
class ExternalLoads:
    """The inputs that a kernel takes from the world: wrenches at frames, then the motion of the base."""

    frames: tuple[str, ...] = ()
    axes: str = "body"
    base_motion: bool = False

    def __post_init__(self) -> None:
        check_axes(self.axes)

    @property
    def names(self) -> tuple[str, ...]:
        return (*[f"wrench_{frame}"
                  for frame in self.frames], *(["base_turning", "base_acceleration"] if self.base_motion else []))

    @property
    def shapes(self) -> str:
        return ",(6)" * len(self.frames) + ",(3),(6)" * self.base_motion

    @property
    def words(self) -> str:
        """A sentence about the inputs."""
        axes = "of the root" if self.axes == "world" else "of its frame"
        places = ", ".join(map(repr, self.frames))
        wrenches = f"Wrenches (f; m) [N; N m] act ON the mechanism at the origins of {places}, each in the axes {axes}."
        base = (
            "The root moves: its angular velocity [rad/s], then the acceleration of its origin and its angular "
            "acceleration [m/s^2; rad/s^2], in its own axes, in which gravity stays as it is.")
        return " ".join([wrenches] * bool(self.frames) + [base] * self.base_motion)

    def at_links(self, links: Links, tree: Tree, q: Array, inputs: Sequence[Any]) -> dict[str, Any]:
        """The inputs as the options of a recursion over links."""
        wrenches = zip(self.frames, inputs, strict=False)
        loads = [load_at_link(links, tree, q, frame, wrench, self.axes) for frame, wrench in wrenches]
        base = base_movement(links, tree, *inputs[len(self.frames):]) if self.base_motion else None
        return {"base": base, "loads": loads}


def check_axes(axes: str) -> None:
    """Check that these are axes in which a wrench can be given."""
    if axes not in ("body", "world"):
        raise ConventionError(
            f'a wrench must be given in the axes "body" (of its frame) or "world" (of the root), not {axes!r}')


NO_LOADS = ExternalLoads()


def wrench_unit(axes: str) -> str:
    """The unit of a port of wrenches, which tells the axes too: those of the root are not joined with a frame's own."""
    return "N; N m" if axes == "body" else "N; N m in the root's axes"


def load_at_link(links: Links, tree: Tree, q: Array, frame: str, wrench: Array, axes: str) -> tuple[int, JointLoad]:
    """The link that carries a frame, and what a wrench (f; m) that acts on it at the frame's origin is at the link's
    origin.

    `axes`: those of the frame ("body") or of the root ("world")."""
    check_axes(axes)
    number, pose = links.place(tree, frame)
    f = wrench[:3]
    m = wrench[3:]
    if axes == "body":
        f = pose[:3, :3] @ f
        m = pose[:3, :3] @ m
    elif number != ROOT:
        f = _from_root(links, tree, q, number, f)
        m = _from_root(links, tree, q, number, m)
    return number, JointLoad(f, m + np.cross(pose[:3, 3], f))


def base_movement(links: Links, tree: Tree, angular_velocity: Array, acceleration: Array) -> Movement:
    """The movement of the links' root: the angular velocity (3) of the mechanism's root and the acceleration (6) of its
    origin and of its turning (a; dw), both in the root's own axes."""
    R, p = _root_axes(links, tree)
    w = R @ angular_velocity
    dw = R @ acceleration[3:]
    W = acceleration_tensor(w, dw)
    return Movement(w, dw, W, R @ acceleration[:3] - W @ p)


def base_inputs(tree: Tree, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> tuple[Array, Array]:
    """`base_turning` (..., 3) and `base_acceleration` (..., 6) of a root that moves as a floating body: `q` (..., 7)
    its position and unit quaternion (w, x, y, z) in the world, `qd` (..., 6) its twist (v; w) in its own axes and `qdd`
    the derivative of that, as a `PoseCurve` has them. Gravity keeps its direction in the world: where the root is
    turned, its change in the root's axes is part of the acceleration.

    >>> from cayley.model.catalogue import load_robot
    >>> upside_down = [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    >>> base_inputs(load_robot("panda"), upside_down, np.zeros(6), np.zeros(6))[1]
    array([  0.  ,   0.  , -19.62,   0.  ,   0.  ,   0.  ])
    """
    q, qd, qdd = (np.asarray(x, dtype=float) for x in (q, qd, qdd))
    if q.shape[-1:] != (7,) or qd.shape[-1:] != (6,) or qdd.shape[-1:] != (6,):
        raise SignatureError("a root moves by position and quaternion (..., 7), twist (..., 6) and its derivative "
                             f"(..., 6), not {q.shape}, {qd.shape} and {qdd.shape}")
    w = qd[..., 3:]
    turned = matrix_from_quaternion(q[..., 3:])
    fallen = np.asarray(tree.gravity) - np.asarray(tree.gravity) @ turned
    return w, np.concatenate([qdd[..., :3] + np.cross(w, qd[..., :3]) + fallen, qdd[..., 3:] + 0 * fallen], axis=-1)


def _root_axes(links: Links, tree: Tree) -> tuple[Array, Array]:
    pose = links.bodies[tree.bodies[0].name][1]
    return pose[:3, :3], pose[:3, 3]


def _from_root(links: Links, tree: Tree, q: Array, number: int, x: Array) -> Array:
    """Components in the axes of the mechanism's root into those of a link."""
    way = []
    while number != ROOT:
        way.append(links.links[number])
        number = way[-1].parent
    x = _root_axes(links, tree)[0] @ x
    for link in reversed(way):
        x = link.outwards(x, q)
    return x


def loaded_text(tree: Tree, external: ExternalLoads, method: str) -> Callable[[Array, Array, Array, Sequence[Any]],
                                                                              Array]:
    """The text (q, qd, qdd, inputs) of a method. A method for chains knows moving bases and the wrench of the tip, or
    neither."""
    if not external.names:
        plain = METHODS[method].text(tree, "inverse_dynamics")
        return lambda q, qd, qdd, _: plain(q, qd, qdd)
    if METHODS[method].takes("loads", "inverse_dynamics"):
        return _for_trees(tree, external, method)
    if METHODS[method].takes("tip", "inverse_dynamics"):
        return _for_chains(tree, external, method)
    at_rest = METHODS[method].text(tree.with_gravity((0.0, 0.0, 0.0)), "inverse_dynamics")
    bias = _for_trees(tree, external, "newton-euler")
    none = np.zeros(tree.nv)
    return lambda q, qd, qdd, inputs: at_rest(q, none, qdd) + bias(q, qd, none, inputs)


def _for_trees(tree: Tree, external: ExternalLoads,
               method: str) -> Callable[[Array, Array, Array, Sequence[Any]], Array]:
    own = METHODS[method].links
    links = minimal_links(tree, loaded=external.frames) if own is minimal_links else own(tree)
    return lambda q, qd, qdd, inputs: inverse_dynamics(links, q, qd, qdd, **external.at_links(links, tree, q, inputs))


def _for_chains(tree: Tree, external: ExternalLoads,
                method: str) -> Callable[[Array, Array, Array, Sequence[Any]], Array]:
    links = METHODS[method].links(tree)
    light = replace(links, gravity=np.zeros(3))
    compute = METHODS[method].text(tree, "inverse_dynamics")
    none = np.zeros(tree.nv)

    def text(q: Array, qd: Array, qdd: Array, inputs: Sequence[Any]) -> Array:
        base, tip, before = at_the_ends(links, **external.at_links(links, tree, q, inputs))
        tau = compute(q, qd, qdd, base=base, tip=tip)
        return tau + inverse_dynamics(light, q, none, none, loads=before) if before else tau

    return text


def at_the_ends(links: Links, base: Movement | None,
                loads: Sequence[tuple[int, JointLoad]]) -> tuple[Base, EndLoad, list[tuple[int, JointLoad]]]:
    """External loads of a chain for its recursions: the motion of the base, the wrench of the last link on its
    surroundings, at its origin, and the loads on earlier links."""
    last = len(links.links) - 1
    at_tip = [load for number, load in loads if number == last]
    tip = EndLoad(sum((-load.f for load in at_tip), NONE), sum((-load.n for load in at_tip), NONE))
    return (STILL if base is None else Base(base.w, base.dw, base.a), tip,
            [(number, load) for number, load in loads if number not in (ROOT, last)])
