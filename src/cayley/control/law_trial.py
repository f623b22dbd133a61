"""Trials of a law on an arm: a step to a target, a motion to it, the forces of both, and the stability of the loop at
rest; and their tables.

The arm that is driven may differ from the model of the law: heavier, loaded. Drives have limits. A digital law samples
once a period and acts late. A proof of stability is one of the loop within its limits, at rest.

Gains for a wanted natural frequency w and damping ratio zeta of each error by itself, whatever a law makes of kp:

    K1 = -d^2 tau / d q d kp        D1 = -d^2 tau / d qd d kd        what one more of kp, and of kd, does
    kp_i = w^2 / (J M^-1 K1 J^+)_ii        kd_i = 2 zeta w / (J M^-1 D1 J^+)_ii        J = 1 for targets of joints
Of computed torque and resolved acceleration these are w^2 and 2 zeta w exactly; of laws of forces they are a first
guess, as if no other joint moved. ki is kp w / 5, a tenth of Routh's limit of a joint by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple, Protocol

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.control.arms import HasTree, tree_for
from cayley.control.signals import digital, saturation
from cayley.control.stability.error_dynamics import displaced, find_equilibrium
from cayley.control.stability.linear_model import digital_matrix, entries
from cayley.control.stability.linear_stability import Verdict, linear_stability, of_error_dynamics, of_matrix
from cayley.control.targets import Aim, JointAim, check_gives_forces
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.errors import SignatureError, UnreachableError, UnsupportedError
from cayley.kinematics.constraints.rows import check_closed
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.loops.following_inputs import follow_inputs
from cayley.model.coordinate_labels import coordinate_labels, velocity_labels
from cayley.model.report import TextTable
from cayley.model.tree import Tree
from cayley.planning.driven import check_keeps_constraints, coordinates, driven, driving_tree
from cayley.planning.motion import Motion
from cayley.planning.profiles.two_points import point_to_point
from cayley.showing import brief, shown_briefly
from cayley.systems import HasSystem, System, connect
from cayley.systems.trajectory import Trajectory

SAMPLES = 600
MOST_STEPS = 5_000_000
_SMALLEST_STEP = 0.1  # of the time of the fastest pole
_COARSEST = 1e-3  # s
_SETTLED = 0.02  # of the step
_SHORTEST = 0.5  # s
_LONGEST = 20.0
_TURN = 0.3  # of a step to be tried: rad
_SLIDE = 0.1  # m
_SMALLER_STEPS = 6


class ControlledMechanism(HasTree, HasSystem, Protocol):
    """A mechanism."""


@shown_briefly
class Response(NamedTuple):
    """The response to a step of one coordinate: its size, how far it went beyond [share of the step], when it was
    within 2 % for good [s], NaN if it never was, and what is left of the error at the end."""

    size: float
    overshoot: float
    settling: float
    left: float


@dataclass(frozen=True, eq=False)
class Trial:
    """The result of `try_law`. Errors are target less measurement, (samples, m), in the order of `labels`."""

    aim: Aim
    law: System
    target: Array
    step: Trajectory
    tracking: Trajectory
    move: Motion
    limits: Array
    period: float | None
    late: int
    rest: Mapping[str, Array] | None
    verdict: Verdict | None
    doubt: str
    """Why there is no verdict."""
    is_given: bool = False
    """Whether the motion was given."""

    __repr__ = brief

    @property
    def labels(self) -> list[tuple[str, str]]:
        return self.aim.labels

    @cached_property
    def step_error(self) -> Array:
        return self.aim.error(self.step["q"], self.target)

    @cached_property
    def tracking_error(self) -> Array:
        return self.aim.error(self.tracking["q"], self.move.position(self.tracking.t))

    @property
    def offset(self) -> Array | None:
        """The error (m) where the loop rests."""
        return None if self.rest is None else self.aim.error(self.rest["q"], self.target)

    @property
    def responses(self) -> list[Response]:
        return [_response(self.step.t, error) for error in self.step_error.T]

    @property
    def shares(self) -> Array:
        """The greatest force (2, nv) of the step and of the motion, as a share of its limit; 0 where there is none."""
        with np.errstate(invalid="ignore"):
            greatest = np.array([np.nanmax(np.abs(run["tau"]), axis=0) for run in (self.step, self.tracking)])
            return np.where(np.isfinite(self.limits), greatest / self.limits, 0.0)

    @property
    def finished(self) -> bool:
        """True if both runs stayed finite."""
        return self.step.finished and self.tracking.finished


def try_law(plant: ControlledMechanism, law: System, aim: Aim, *, start: ArrayLike | None = None,
            target: ArrayLike | None = None,
            move: Motion | None = None, limits: ArrayLike | None = None, period: float | None = None, late: int = 0,
            duration: float | None = None) -> Trial:
    """Try a law with the output `tau` on an arm, from rest at the configuration `start` to the configuration `target`.

    A motion of the joints to be tracked may be given as `move`: the step is then from its beginning to where it is
    farthest from there. Without one it is of degree five, from rest to rest. `limits` (nv) are what the drives can
    give, infinite where there is no limit. With a `period` [s] the law is digital, and acts `late` periods later.
    `duration` [s] is as long as the slowest pole needs if it is not given, and the motion takes.

    >>> import cayley as cy
    >>> from cayley.control.targets import JointAim
    >>> arm = cy.load("planar2r")
    >>> found = try_law(arm, arm.control.computed_torque(100.0, 20.0), JointAim(arm.tree), start=[0.0, 0.0],
    ...                 target=[0.5, -0.3])
    >>> round(found.responses[0].settling, 2), found.verdict.nature
    (0.58, 'asymptotically stable')
    """
    tree = tree_for(plant, "the trial of a law", single=True, driven=False)
    if move is not None:
        if move.nq != tree.nq or start is not None or target is not None:
            raise SignatureError(f"a motion to be tracked must have the {tree.nq} coordinates of {tree.name}, and "
                                 f"defines start and end itself; this one has {move.nq}")
        check_keeps_constraints(tree, move)
        move = move.shifted(0.0)
        start, target = _farthest(move)
    ends = [_configuration(q, tree, word) for q, word in ((start, "start"), (target, "target"))]
    check_gives_forces(law)
    if late and period is None:
        raise SignatureError(f"`late={late}` counts periods of a digital law: give the period, in seconds")
    most = np.full(tree.nv, np.inf) if limits is None else np.array(np.broadcast_to(limits, (tree.nv,)), dtype=float)
    if not (ends[0] != ends[1]).any():
        raise SignatureError("the start and the target are the same configuration: there is nothing to try")
    smooth = connect(plant, law)
    inputs = aim.still(law, ends[1])
    memory = {name: np.full(block.shape, block.default or 0.0) for name, block in law.blocks.items()}
    begin = {"q": ends[1], "qd": np.zeros(tree.nv), **memory}
    rest, doubt = _rest(smooth, begin, inputs)
    if rest is not None and (doubt := _too_heavy(plant, rest, most)):
        rest = None
    near = rest or begin
    poles = np.linalg.eigvals(smooth.linearize(near, inputs).A)
    if tree.is_constrained and period is not None:
        rest, doubt = None, "a digital law on a mechanism with constraints has no linear model of its steps"
    verdict = None if rest is None else _verdict(plant.system(), law, smooth, rest, inputs, period, late)
    seconds = _duration(poles) if duration is None else float(duration)
    h, every, steps = _steps(seconds, poles, period)
    chain = [law if period is None else digital(law, period, late=late)]
    if np.isfinite(most).any():
        chain = [chain[0].renamed({"tau": "wanted_tau"}), saturation("tau", most)]
    x = begin | {"q": ends[0]}
    along = _ordinary_motion(tree, ends[0], ends[1], seconds / 2) if move is None else move
    step = connect(plant, *chain).rollout()(x, step=h, steps=steps, every=every, inputs=inputs)
    if move is not None:  # to its end, and beyond, if it comes to rest
        h, every, steps = _steps(max(seconds, move.duration) if move.rests[1] else move.duration, poles, period,
                                 beyond=move.rests[1])
    tracked = connect(plant, *chain, aim.moving(law, along)).rollout()(x | {"qd": along.velocity(0.0)}, step=h,
                                                                       steps=steps, every=every)
    assert isinstance(step, Trajectory) and isinstance(tracked, Trajectory)  # none is on a GPU
    return Trial(aim, law, ends[1], step, tracked, along, most, period, late, rest, verdict, doubt, move is not None)


def _ordinary_motion(tree: Tree, start: Array, target: Array, duration: float) -> Motion:
    """From rest to rest; where constraints tie joints together, of the actuated joints, and the others follow."""
    if not tree.is_constrained:
        return point_to_point(start, target, duration=duration)
    places = list(coordinates(driving_tree(tree)))
    return driven(tree, point_to_point(start[places], target[places], duration=duration), start)


def ordinary_step(tree: Tree, start: ArrayLike) -> Array:
    """A target (nq) to be tried from a configuration: 0.3 rad or 0.1 m further in each joint, the other way where the
    way there ends; in each actuated joint, and a smaller step if it must be, where the others follow from them."""
    begin = np.asarray(start, dtype=float)
    step = np.array([_TURN if unit == "rad" else _SLIDE for _, unit in coordinate_labels(tree)])
    step = np.where(begin + step <= tree.upper, step, -step)
    if not tree.is_constrained:
        return begin + step
    names = driving_tree(tree).actuated_joints
    places = {name: tree.q_slices[tree.joint_number(name)] for name in names}
    for limits, share in product((True, False), 0.5 ** np.arange(_SMALLER_STEPS)):
        ways = {name: np.linspace(begin[at], begin[at] + share * step[at], 9)[:, 0] for name, at in places.items()}
        found = follow_inputs(tree, ways, begin, limits=limits)
        if found.status == "followed":
            return np.asarray(found.end)
    raise UnreachableError(f"no step of {', '.join(names)} from this configuration keeps {tree.name} closed: begin "
                           "elsewhere, or give a motion")


def _farthest(move: Motion) -> tuple[Array, Array]:
    """The start of a motion, and its place that is farthest from there."""
    q = move.position(np.linspace(0.0, move.duration, SAMPLES))
    return q[0], q[np.argmax(np.abs(q - q[0]).max(axis=1))]


def _configuration(q: ArrayLike | None, tree: Tree, word: str) -> Array:
    found = np.asarray(q, dtype=float)
    if found.shape != (tree.nq,) or not np.isfinite(found).all():
        raise SignatureError(f"the {word} must be a configuration of {tree.nq} finite numbers, not {q!r}")
    if tree.is_constrained:
        check_closed(tree, found, ())
    return found


def _rest(smooth: System, near: Mapping[str, Array], inputs: Mapping[str, Array]
          ) -> tuple[dict[str, Array] | None, str]:
    """The state in which the loop rests, or why that is not known."""
    try:
        return find_equilibrium(smooth, near, inputs=inputs).state, ""
    except (UnreachableError, UnsupportedError) as why:
        return None, str(why)


def _verdict(plant: System, law: System, smooth: System, rest: Mapping[str, Array], inputs: Mapping[str, Array],
             period: float | None, late: int) -> Verdict | None:
    if period is None:
        return linear_stability(smooth, rest, inputs=inputs)
    about = displaced(smooth, rest, inputs=inputs)
    if not about.is_smooth:
        return of_error_dynamics(about)
    forces = _holding(plant, rest)
    matrix = digital_matrix(plant, law, period, late=late, at=rest, inputs={**inputs, **rest, "tau": forces})
    return of_matrix(matrix, f"{smooth.name}, digital", discrete=True, linear=False)


def _too_heavy(plant: ControlledMechanism, rest: Mapping[str, Array], limits: Array) -> str:
    """A sentence about a drive that cannot hold the arm where the law would have it rest; empty if all can."""
    forces = _holding(plant.system(), rest) if not plant.tree.is_constrained else inverse_dynamics_kernel(plant.tree)(
        rest["q"], *np.zeros((2, plant.tree.nv)))
    for joint, place in zip(plant.tree.joints, plant.tree.v_slices, strict=True):
        for k in range(plant.tree.nv)[place]:
            if not abs(forces[k]) < limits[k]:
                return (f"the drive of {joint.name!r} gives {limits[k]:.4g} at most and would have to hold "
                        f"{abs(forces[k]):.4g} where the law comes to rest: the arm does not stay there")
    return ""


def _holding(plant: System, rest: Mapping[str, Array]) -> Array:
    """The forces that hold the arm where it rests."""
    n = len(rest["qd"])
    B = plant.linearize({"q": rest["q"], "qd": rest["qd"]}, {"tau": np.zeros(n)}).B
    x = plant.layout.state(plant.layout.vectors(plant.layout.given({"q": rest["q"], "qd": rest["qd"]})))
    rates = plant.tangents(0.0, x, plant.input_record({"tau": np.zeros(n)}), plant.parameter_record({}))
    return -np.linalg.lstsq(B[-n:], np.asarray(rates["qd"], dtype=float))[0]  # of passive joints none


def _duration(poles: Array) -> float:
    """Until what the slowest pole leaves is a thousandth; within bounds, and in tenths of a second."""
    damped = -poles.real[poles.real < -1e-6]
    wanted = 9.0 / damped.min() if len(damped) else 3.0
    return float(np.ceil(10 * min(max(wanted, _SHORTEST), _LONGEST)) / 10)


def _steps(seconds: float, poles: Array, period: float | None, *, beyond: bool = True) -> tuple[float, int, int]:
    """The length of a step, how many make a sample, and how many there are; not beyond the time, unless they may be."""
    if not 0 < seconds < np.inf:
        raise SignatureError(f"{seconds} s is not a valid duration of a trial")
    wanted = min(_COARSEST, _SMALLEST_STEP / max(float(np.abs(poles).max(initial=0.0)), 1e-9), seconds / SAMPLES)
    h = wanted if period is None else period / np.ceil(period / wanted)
    steps = int(np.ceil(seconds / h) if beyond else np.floor(seconds / h * (1 + 1e-12)))
    if steps > MOST_STEPS:
        raise UnsupportedError(f"the fastest pole of the loop, {float(np.abs(poles).max()):.3g} 1/s, asks for "
                               f"{steps} steps of {h:.2g} s: choose smaller gains or a shorter time")
    every = max(steps // SAMPLES, 1)
    return float(h), every, steps - steps % every


def _response(t: Array, error: Array) -> Response:
    size = float(error[0])
    scale = abs(size) or 1.0
    beyond = float(np.nanmax(-np.sign(size) * error, initial=0.0)) / scale if size else 0.0
    outside = np.flatnonzero(~(np.abs(error) <= _SETTLED * scale))
    settled = 0.0 if not len(outside) else np.nan if outside[-1] == len(t) - 1 else float(t[outside[-1] + 1])
    return Response(size, beyond, settled, float(error[-1]))


FORCE_UNITS = {"rad": "N m", "m": "N"}
_RESPONSES = ("error", "step", "overshoot [%]", "settled [s]", "left at the end", "greatest while tracking")
_FORCES = ("joint", "greatest in the step", "greatest while tracking", "limit", "share [%]")


def verdict_in_words(trial: Trial) -> str:
    """The verdict on the loop in a few words."""
    if trial.verdict is None:
        return "not known"
    known = {"proved": ", proved", "sampled": ", sampled only", "nothing": ""}[trial.verdict.basis]
    return f"{trial.verdict.nature}{known}"


def response_table(trial: Trial) -> TextTable:
    """Each error: its step, what became of it, and the greatest error of the motion."""
    greatest = np.nanmax(np.abs(trial.tracking_error), axis=0)
    rows = [(f"{name} [{unit}]", f"{found.size:.4g}", f"{100 * found.overshoot:.1f}",
             "never" if np.isnan(found.settling) else f"{found.settling:.3g}",
             f"{found.left:.2g}" if np.isfinite(found.left) else "lost", f"{most:.2g}")
            for (name, unit), found, most in zip(trial.labels, trial.responses, greatest, strict=True)]
    return TextTable("Each error", _RESPONSES, tuple(rows))


def force_table(trial: Trial) -> TextTable:
    """Each drive: the greatest forces of the step and of the motion, the limit, and the share of it."""
    runs = [np.nanmax(np.abs(run["tau"]), axis=0) for run in (trial.step, trial.tracking)]
    rows = [(f"{name} [{FORCE_UNITS[unit]}]", f"{runs[0][k]:.4g}", f"{runs[1][k]:.4g}", f"{trial.limits[k]:.4g}",
             f"{100 * trial.shares[:, k].max():.0f}" if np.isfinite(trial.limits[k]) else "")
            for k, (name, unit) in enumerate(velocity_labels(trial.aim.tree))]
    return TextTable("Each drive", _FORCES, tuple(rows))


def gains_for(make: Callable[[dict[str, ArrayLike]], System], plant: System, aim: Aim, at: Array, *,
              frequency: float = 10.0, damping_ratio: float = 1.0) -> dict[str, Array]:
    """`kp`, `kd` and `ki` of the law that `make` makes of them, at a configuration `at` that is also the target."""
    if not (0 < frequency < np.inf and 0 < damping_ratio < np.inf):
        raise SignatureError(f"a frequency and a damping ratio must be positive, not {frequency} and {damping_ratio}")
    rest = {"q": at, "qd": np.zeros(aim.tree.nv)}
    inverse = plant.linearize(rest, {"tau": np.zeros(aim.tree.nv)}).B[-aim.tree.nv:]

    law = make({"kp": 1.0, "kd": 1.0})
    check_gives_forces(law)
    inputs = {name: np.zeros(port.shape) for name, port in law.ports.items()} | rest | aim.still(law, at)
    x = {name: np.full(block.shape, block.default or 0.0) for name, block in law.blocks.items()}

    def slope(of: System, by: str) -> Array:
        return of.linearize(x, inputs).D[np.ix_(entries(of.output_ports, ["tau"]), entries(of.ports, [by]))]

    stiffness = slope(law, "q") - slope(make({"kp": 2.0, "kd": 1.0}), "q")
    damping = slope(law, "qd") - slope(make({"kp": 1.0, "kd": 2.0}), "qd")
    J = kernel(sized(aim.tree, f"(q)->({len(aim.labels)},v)"), name="rows")(aim.jacobian)(at)
    of_joints = np.allclose(damping, np.eye(len(damping)))  # whatever the target is
    kp = _diagonal(J @ inverse @ stiffness @ np.linalg.pinv(J), law, "kp")
    kd = _diagonal(inverse @ damping if of_joints else J @ inverse @ damping @ np.linalg.pinv(J), law, "kd")
    found = {"kp": frequency**2 / kp, "kd": 2 * damping_ratio * frequency / kd, "ki": frequency**3 / 5 / kp}
    return {gain: _of_all(aim, values) for gain, values in found.items()}


def _of_all(aim: Aim, gains: Array) -> Array:
    """Gains (nv) of all joints, of a mechanism with constraints zero where it has no drive."""
    if not isinstance(aim, JointAim) or aim.drives.is_open or len(gains) != aim.drives.count:
        return gains
    return np.asarray(aim.drives.spread(gains))


def _diagonal(matrix: Array, law: System, gain: str) -> Array:
    found = np.diag(matrix)
    if not (np.isfinite(found) & (found > 1e-12)).all():
        raise SignatureError(f"no {gain} of {law.name} can be chosen by frequency and damping ratio at this target: "
                             f"its error number {int(np.argmin(found > 1e-12)) + 1} does not feel it there. Ask for "
                             "fewer rows of a frame, choose another target, or give the gains")
    return found
