"""Iterative learning control: an arm repeats a motion, and after each trial the forces that go ahead are corrected by
the errors of that trial.

    u_next(i) = filter of ( u(i) + kp e(i + 1) + kd e'(i + 1) )        over the periods i of the motion
A law holds the arm meanwhile; u is added to its forces and held for a period. With the linear model of the closed loop,
(e; e') = (e; e')_0 - G u, and the gains L, the next u is filter (1 - L G) u + ...: each trial is nearer than the
one before, in the mean square of u, if the norm of that matrix is less than one. It is found with the model, by a batch
of trials with a small push in each period. kd near the inertia over the period converges fast; a filter that forgets
high frequencies makes the matrix smaller, and leaves an error there. Source: Arimoto, Kawamura & Miyazaki, Bettering
operation of robots by learning, 1984, (5), (9); in lifted form Bristow, Tharayil & Alleyne, A survey of iterative
learning control, 2006, (7), (15); spec S3-48, S3-53."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.solving.lookup import interval, lookup
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.control.arms import ArmLike, gains_of, limits_of, tree_for
from cayley.control.signals import within
from cayley.control.targets import motion_target
from cayley.dynamics.open_tree import TreeMechanics, tree_system
from cayley.errors import SignatureError, SingularityError, shown
from cayley.extras import optional_imports
from cayley.model.tree import Tree
from cayley.planning.motion import Motion
from cayley.showing import Pictured, shown_briefly, shown_once
from cayley.systems import HasSystem, System, connect
from cayley.systems.rollouts.rollout import Rollout

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_STEP = 1e-3  # [s], the longest of the integrator
_PUSH = 1e-4  # [N m, N]
_AT_ONCE = 512  # trials of the batch that finds G


@dataclass(frozen=True, eq=False)
class IterativeLearning:
    """A motion that is learned by repeating it; made by `iterative_learning`."""

    tree: Tree
    law: System
    move: Motion
    kp: Array
    kd: Array
    limits: Array
    smoothing: Array  # (N, N)

    def __repr__(self) -> str:
        return f"<{self.tree.name} learns {self.move} in {len(self.smoothing)} periods, held by {self.law.name}>"

    @property
    def period(self) -> float:
        """[s]"""
        return self.move.duration / len(self.smoothing)

    @property
    def driven_law(self) -> System:
        """The law with the input `feedforward`, forces (nv) that go ahead, in its output `tau`."""
        n = self.tree.nv
        both = System("sum", inputs={"law_tau": n, "feedforward": n}, outputs={"tau": n},
                      output=lambda t, x, u, p: within(u.law_tau + u.feedforward, self.limits))
        return connect(self.law.renamed({"tau": "law_tau"}), both)

    def run(self, real: HasSystem | System | None = None, trials: int = 10, *, start: ArrayLike | None = None,
            anyway: bool = False) -> LearnedMotion:
        """Repeat the motion with an arm that need not be as the model is; with the model itself if none is given. The
        first trial is without anything learned, then there are `trials` more. Each starts at `start` (nq), which is on
        the motion if it is not given. What does not converge for the model is refused, unless `anyway`."""
        if not anyway and not self.converges:
            raise SingularityError(
                "learning may not converge with these gains: by the model, a trial multiplies the force error by up to "
                f"{self.contraction:.4g}, and not less than 1 (its spectral radius is {self.spectral_radius:.4g}); "
                "take smaller gains or a lower cutoff, or pass `anyway=True`")
        if not isinstance(trials, (int, np.integer)) or trials < 0:
            raise SignatureError(f"a motion must be repeated a number of times, not {shown(trials)}")
        roll = self._model if real is None else self._rollout(real)
        forces = np.zeros((len(self.smoothing), self.tree.nv))
        found = []
        for _ in range(trials + 1):
            found.append(self._trial(roll, forces, start))
            forces = self.corrected(found[-1])
        return LearnedMotion(self, tuple(found))

    def corrected(self, trial: LearningTrial) -> Array:
        """The forces (N, nv) of the next trial. What is not finite of the last one's errors is not learned."""
        change = self.kp * trial.error + self.kd * trial.rate
        return self.smoothing @ (trial.forces + np.where(np.isfinite(change), change, 0.0))

    def _rollout(self, real: HasSystem | System) -> Rollout:
        return connect(real, self.driven_law, motion_target(self.move)).rollout(changing=["feedforward"])

    def _trial(self, roll: Rollout, forces: Array, start: ArrayLike | None = None) -> LearningTrial:
        steps = int(np.ceil(self.period / _STEP - 1e-9))
        begin = self.move(self.move.start)
        run = roll({"q": begin.q if start is None else start, "qd": begin.qd}, start=self.move.start,
                   step=self.period / steps, steps=steps * forces.shape[-2], every=steps,
                   inputs={"feedforward": np.repeat(forces, steps, axis=-2)}, progress=False)
        return LearningTrial(forces, (run["target"] - run["q"])[..., 1:, :], (run["target_qd"] - run["qd"])[..., 1:, :])

    @cached_property
    def _model(self) -> Rollout:
        return self._rollout(tree_system(TreeMechanics(self.tree)))

    @cached_property
    def correction(self) -> Array:
        """The map from errors of the forces to those after one more trial of the model, filter (1 - L G)."""
        shape = (len(self.smoothing), self.tree.nv)
        size = shape[0] * shape[1]
        alone = self._trial(self._model, np.zeros(shape))
        answers = []
        for first in range(0, size, _AT_ONCE):
            pushes = _PUSH * np.eye(size)[first:first + _AT_ONCE].reshape(-1, *shape)
            pushed = self._trial(self._model, pushes)
            change = self.kp * (pushed.error - alone.error) + self.kd * (pushed.rate - alone.rate)
            answers.append(change.reshape(len(pushes), size) / _PUSH)
        return np.kron(self.smoothing, np.eye(shape[1])) @ (np.eye(size) + np.concatenate(answers).T)

    @cached_property
    def spectral_radius(self) -> float:
        """The spectral radius of the correction. Less than one: trials converge, though errors may grow before."""
        return float(np.abs(np.linalg.eigvals(self.correction)).max())

    @cached_property
    def contraction(self) -> float:
        """The norm of the correction. Less than one: each trial of the model is nearer than the one before."""
        return float(np.linalg.norm(self.correction, 2))

    @property
    def converges(self) -> bool:
        """True if each trial of the model is nearer than the one before."""
        return self.contraction < 1


def iterative_learning(arm: ArmLike, law: System, move: Motion, periods: int, kp: ArrayLike, kd: ArrayLike, *,
                       cutoff: float | None = None, limits: ArrayLike | None = None) -> IterativeLearning:
    """Learn a motion of an arm that a controller stabilises, sampled in a number of `periods`.

    kp [N m/rad, N/m] and kd [N m s/rad, N s/m] (nv) are the learning gains of errors and rates. `cutoff` [Hz] is the -3
    dB frequency of a Gaussian filter without phase. Forces stay within `limits` (nv). The arm is the model by which
    convergence is judged.

    >>> import cayley as cy
    >>> from cayley.planning import point_to_point
    >>> arm = cy.load("planar2r")
    >>> move = point_to_point([0.0, 0.0], [0.8, -0.6], duration=1.0)
    >>> learning = iterative_learning(arm, arm.control.pd_with_gravity(60.0, 8.0), move, 40, kp=20.0, kd=2.0)
    >>> learned = learning.run(arm.with_payload("tool", 0.5), trials=8)
    >>> bool(learned.errors[-1] < 0.1 * learned.errors[0])
    True
    """
    tree = tree_for(arm, "iterative learning", independent=True, single=True)
    if not isinstance(law, System) or not isinstance(move, Motion):
        raise SignatureError(f"iterative learning needs a motion and a control law, not {shown(move)} and {shown(law)}")
    if "tau" not in law.outputs or law.output_ports["tau"].shape != (tree.nv,):
        raise SignatureError(f"iterative learning needs a law with the output `tau` ({tree.nv}); {law.name} gives out "
                             f"{', '.join(law.outputs)}")
    if move.nq != tree.nq:
        raise SignatureError(f"a motion of {move.nq} coordinates does not fit {tree.name}, which has {tree.nq}")
    if not isinstance(periods, (int, np.integer)) or periods < 2:
        raise SignatureError(f"a motion is learned in two periods or more, not in {shown(periods)}")
    if cutoff is not None and not 0 < cutoff < np.inf:
        raise SignatureError(f"the cutoff of the filter must be more than 0 Hz, not {shown(cutoff)}")
    return IterativeLearning(
        tree, law, move, gains_of(kp, tree.nv, "kp"), gains_of(kd, tree.nv, "kd"), limits_of(limits, tree.nv),
        _gaussian(int(periods), move.duration / periods, cutoff))


def _gaussian(count: int, period: float, cutoff: float | None) -> Array:
    """The filter (count, count): rows add up to one, so that what is constant passes."""
    if cutoff is None:
        return np.eye(count)
    width = np.sqrt(np.log(2.0)) / (2 * np.pi * cutoff * period)
    apart = np.subtract.outer(np.arange(count), np.arange(count)) / width
    weights = np.exp(-apart**2 / 2)
    return weights / weights.sum(axis=1, keepdims=True)

_GRID = "#e3e7ec"
_GREY = "#8793a1"


@shown_briefly
class LearningTrial(NamedTuple):
    """One trial, or a batch: the forces (..., N, nv), and the errors and rates at the ends of the N periods."""

    forces: Array
    error: Array
    rate: Array


@dataclass(frozen=True, eq=False)
class LearnedMotion(Pictured):
    """LearningTrial after trial, the first without anything learned; made by `IterativeLearning.run`."""

    learning: IterativeLearning
    trials: tuple[LearningTrial, ...]

    def __repr__(self) -> str:
        first, last = self.errors[[0, -1]]
        return (f"<a motion of {self.learning.tree.name} after {len(self.trials)} trials: errors from {first:.3g} to "
                f"{last:.3g}>")

    @property
    def errors(self) -> Array:
        """The root mean square (trials) of the errors of each trial [rad, m]."""
        return np.array([np.sqrt(np.mean(trial.error**2)) for trial in self.trials])

    @property
    def best(self) -> LearningTrial:
        return self.trials[int(np.nanargmin(self.errors))]

    @property
    def forces(self) -> Array:
        """The learned forces (N, nv) [N m, N]: those of the best trial."""
        return self.best.forces

    @property
    def law(self) -> System:
        """The law with what has been learned as a function of the time: to be connected, rolled out, written as C."""
        learning = self.learning
        tables = [lookup(column) for column in self.forces.T]
        breaks = learning.move.start + learning.period * np.arange(len(self.forces) + 1)

        def ahead(t: Scalar) -> Array:
            place = interval(breaks, t)
            return np.stack([table(place) for table in tables])

        known = System("learned forces", outputs={"feedforward": len(tables)}, timed=True,
                       output=lambda t, x, u, p: ahead(t))
        return connect(learning.driven_law, known, name=f"{learning.law.name} with what was learned")

    def plot(self) -> Figure:
        """Errors by trials; errors and forces of the first and the best trial in time."""
        with optional_imports():
            import matplotlib.pyplot as plt
            from matplotlib.ticker import MaxNLocator
        learning = self.learning
        figure, (trials, errors, forces) = plt.subplots(1, 3, figsize=(12.0, 3.4), layout="constrained")
        trials.semilogy(self.errors, "o-", color="C0", markersize=4)
        trials.set_xlabel("trial")
        trials.set_title("root mean square error [rad, m]", fontsize="small", loc="left")
        trials.xaxis.set_major_locator(MaxNLocator(integer=True))
        t = learning.move.start + learning.period * np.arange(1, len(self.forces) + 1)
        for k, name in enumerate(learning.tree.joint_names):
            errors.plot(t, self.trials[0].error[:, k], color=_GREY, linewidth=1.0, linestyle=("-", "--", ":")[k % 3])
            errors.plot(t, self.best.error[:, k], color=f"C{k % 10}", linewidth=1.4, label=name)
            forces.step(t - learning.period, self.forces[:, k], color=f"C{k % 10}", linewidth=1.2, where="post",
                        label=name)
        errors.set_title("errors [rad, m]: first trial grey, best coloured", fontsize="small", loc="left")
        forces.set_title("forces that were learned [N m, N]", fontsize="small", loc="left")
        for ax in (errors, forces):
            ax.set_xlabel("t [s]")
            ax.legend(fontsize="small", frameon=False)
        for ax in (trials, errors, forces):
            ax.grid(color=_GRID, linewidth=0.6)
        return shown_once(figure)
