"""Parts that all laws share: the mechanism that a law is made for, with the checks that say why it cannot drive one,
ports, gains, limits, and integral action.

    dz/dt = e        the law adds ki z
The integral stands still as long as ki z is at its limit and the error would drive it further; without a limit a drive
that saturates winds it up. An error that is not finite is not integrated. Source: Yamamoto (6.28), spec S3-43, S3-51.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Text
from cayley.errors import SignatureError, UnsupportedError, shown
from cayley.model.constraints import check_independent
from cayley.model.tree import Tree
from cayley.systems import Block, Port, Record


class HasTree(Protocol):
    """A mechanism."""

    @property
    def tree(self) -> Tree: ...


ArmLike: TypeAlias = Tree | HasTree


def tree_of(arm: ArmLike) -> Tree:
    """The tree of a mechanism. A tree is returned unchanged."""
    found = arm if isinstance(arm, Tree) else getattr(arm, "tree", None)
    if not isinstance(found, Tree):
        raise SignatureError(f"a law is made for a mechanism, as cy.load gives it, not for {shown(arm)}")
    return found


def check_single_coordinates(tree: Tree, what: str) -> None:
    """Refuse a mechanism with joints that move in another way than by one coordinate, which is an angle or a length."""
    driven = set(tree.actuated_joints)
    for joint in tree.joints:
        if tree.is_constrained and joint.name not in driven:
            continue
        if joint.motion.nv and (joint.motion.nv, joint.motion.nq) != (1, 1):
            raise UnsupportedError(f"{what} is for joints of one coordinate each; joint {joint.name!r} of {tree.name} "
                                   f"is {joint.motion.word}, with {joint.motion.nv} velocities")


def check_driven(tree: Tree, what: str) -> None:
    """Refuse an open chain in which a joint has no drive, as a floating base has none: `what` would push it."""
    if tree.is_constrained or tree.motors:  # what is driven there is known to those who ask
        return
    driven = set(tree.actuated_joints)
    for joint in tree.joints:
        if joint.motion.nv and joint.mimic is None and joint.name not in driven:
            raise UnsupportedError(
                f"{what} gives forces to all joints, but {joint.name!r} of {tree.name} ({joint.motion.word}) has no "
                "drive: `lqr` supports joints without drives, and `with_actuated` names those that have one")


def check_rigid_drives(tree: Tree, what: str) -> None:
    """Refuse a mechanism whose motors drive through springs: `what` would take them for rigid."""
    soft = [tree.joints[number].name for number in tree.motors if tree.joints[number].spring is not None]
    if soft:
        raise UnsupportedError(
            f"{what} would take the springs of {tree.name} for rigid, but joint {soft[0]!r} is driven through one: "
            "`cayley.control.through_springs` drives it by a law of the rigid arm, `including(\"armature\")`, "
            "and `FeedbackLinearisation` knows the springs")


def tree_for(arm: ArmLike, what: str, *, independent: bool = False, rigid: bool = True, single: bool = False,
             driven: bool = True) -> Tree:
    """The tree of an arm for a law `what`. An error names constraints on joints that are to be `independent`, and a
    joint whose drive is not `rigid`, that has not a `single` coordinate, or is not `driven`, where that is asked for.
    """
    tree = tree_of(arm)
    for asked, check in ((independent, check_independent), (rigid, check_rigid_drives),
                         (single, check_single_coordinates), (driven, check_driven)):
        if asked:
            check(tree, what)
    return tree


def numbers_of(values: ArrayLike, what: str, dtype: type = float) -> Array:
    """An array of numbers, complex ones where `dtype` is; an error says `what` is none."""
    try:
        given = np.asarray(values)
        if given.dtype.kind in ("US" if dtype is complex else "USc"):
            raise TypeError("neither texts nor complex numbers count")
        return given.astype(dtype)
    except (TypeError, ValueError) as error:
        raise SignatureError(f"{what} must be numbers, not {shown(values)}") from error


def finite_or(value: Array, instead: ArrayLike) -> Array:
    """Each entry if it is a finite number, else what is given for it; a text.

    >>> finite_or(np.array([1.0, np.nan, np.inf]), 0.0)
    array([1., 0., 0.])
    """
    return where(np.isfinite(value), value, instead)


# Of each port its shape, by a name, and whether it is zero where nothing drives it
_TABLE = {
    "q": ("configuration", False), "qd": ("velocity", False), "posture": ("configuration", False),
    "task_tau": ("velocity", False), "null_tau": ("velocity", True),
    "target": ("place", False), "target_qd": ("velocity", True), "target_qdd": ("velocity", True),
    "target_rate": ("rows", True), "target_acceleration": ("rows", True),
    "nominal": ("place", False), "nominal_rate": ("rows", True), "nominal_acceleration": ("rows", True),
    "target_force": ("pressed", False)}


def law_ports(tree: Tree, names: str, *, place: tuple[int, ...] | None = None, rows: int = 0,
              pressed: int = 0) -> dict[str, Port]:
    """The ports of a law by their names, with blanks between them.

    `place` is the shape of a target, a configuration (nq) if it is not given, `rows` the number of rows of the task of
    a frame, `pressed` the number of axes along which the force is controlled.

    >>> from cayley.model.catalogue import load_robot
    >>> law_ports(load_robot("panda"), "target target_qd")["target_qd"]
    Port(shape=(7,), unit='', default=0.0)
    """
    shapes = {"configuration": (tree.nq,), "velocity": (tree.nv,), "place": place or (tree.nq,), "rows": (rows,),
              "pressed": (pressed,)}
    return {name: Port(shapes[_TABLE[name][0]], default=0.0 if _TABLE[name][1] else None) for name in names.split()}


class IntegralAction(NamedTuple):
    """The parts of a system that integral action adds to a law; empty and none without a gain."""

    state: dict[str, Block]
    gains: dict[str, Array]
    derivative: Text | None

    def added(self, wanted: Array, x: Record, p: Record) -> Array:
        """The sum of what a law wants and ki z; a text."""
        return wanted + p.ki * x.integral if self.state else wanted


def integral_action(ki: ArrayLike | None, wind_up: ArrayLike | None, count: int,
                    error: Callable[[Record, Record], Array], *, signed: bool = False,
                    acting: Array | None = None) -> IntegralAction:
    """Integral action on an `error(u, p)` (count), a text of inputs and parameters. `acting` (count) are the gains by
    which it acts, if they are not the parameter `ki`."""
    if ki is None:
        if wind_up is not None:
            raise SignatureError("wind_up limits integral action, and so needs a gain ki")
        return IntegralAction({}, {}, None)

    def rate(x: Record, u: Record, p: Record) -> Array:
        e = error(u, p)
        is_full = abs((p.ki if acting is None else acting) * x.integral) >= p.wind_up
        return finite_or(where(is_full, where(e * x.integral > 0, 0.0, e), e), 0.0)

    gains = {"ki": gains_of(ki, count, "ki", signed=signed), "wind_up": limits_of(wind_up, count, "the limits wind_up")}
    return IntegralAction({"integral": Block((count,), default=0.0)}, gains, lambda t, x, u, p: rate(x, u, p))


def limits_of(limits: ArrayLike | None, count: int, what: str = "the limits of forces") -> Array:
    """Limits (count), given one by one or as one for all; infinite if there are none."""
    most = numbers_of(np.inf if limits is None else limits, what)
    if most.shape not in ((), (count,)) or not (most > 0).all():
        raise SignatureError(f"{what} must be positive, ({count}) or one for all, not {shown(limits)}")
    return np.array(np.broadcast_to(most, (count,)))


def gains_of(values: ArrayLike, count: int, name: str, *, signed: bool = False) -> Array:
    """Gains (count), one by one or one for all; not negative, unless `signed`, as volts behind negative gears are."""
    given = numbers_of(values, f"the gains {name}")
    if given.shape not in ((), (count,)) or not np.isfinite(given).all():
        raise SignatureError(f"the gains {name} must be finite numbers, ({count}) or one for all, not {shown(values)}")
    if not signed and (given < 0).any():
        raise SignatureError(f"the gains {name} are not negative, or the law would drive away from its target; given "
                             f"were {shown(values)}")
    return np.array(np.broadcast_to(given, (count,)))


def positive_gains_of(values: ArrayLike, count: int, name: str, *, zero: bool = False) -> Array:
    """Gains (count) on which a proof of stability rests: more than zero, or at least zero."""
    given = gains_of(values, count, name, signed=True)
    if not ((given >= 0) if zero else (given > 0)).all():
        wanted = "not be negative" if zero else "be positive"
        raise SignatureError(f"the gains {name} must {wanted}, not {shown(values)}")
    return given


def matrix_of(values: ArrayLike, count: int, name: str, *, definite: bool = False) -> Array:
    """A symmetric matrix (count, count) without negative eigenvalues, given as one, by its diagonal, or as one number
    for all; an error says which of them `name` is not."""
    given = numbers_of(values, f"the {name}")
    if given.shape not in ((), (count,), (count, count)) or not np.isfinite(given).all():
        raise SignatureError(f"the {name} must be finite numbers, one for all, ({count}) or ({count}, {count}), not "
                             f"{shown(values)}")
    matrix: Array = given if given.ndim == 2 else np.diag(np.broadcast_to(given, (count,)))
    if not np.allclose(matrix, matrix.T, rtol=1e-12, atol=0.0):
        raise SignatureError(f"the {name} must be a symmetric matrix, not {shown(values)}")
    least = float(np.linalg.eigvalsh(matrix).min())
    if least < -1e-12 * np.abs(matrix).max() or (definite and least <= 0):
        raise SignatureError(f"the {name} is {'positive' if definite else 'not negative'} in every direction; of "
                             f"{shown(values)} an eigenvalue is {least:.3g}")
    return np.array(matrix)
