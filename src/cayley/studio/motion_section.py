"""Section of a report about a planned or simulated motion: its course in time, and joint forces beside their limits."""

from __future__ import annotations

from html import escape

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from cayley.compiler.typing import Array
from cayley.dynamics.payload_capacity import effort_limits
from cayley.errors import CayleyError, UnsupportedError
from cayley.mechanism import Mechanism
from cayley.model.coordinate_labels import coordinate_labels, velocity_labels
from cayley.model.report import Table
from cayley.model.tree import Tree
from cayley.planning.motion import Motion, draw
from cayley.showing import plain_words
from cayley.simulation import Trajectory
from cayley.studio.pictures import picture
from cayley.studio.tables import html_table

_SAMPLES = 600
_SLACK = 1e-6  # [rad, m], of ranges and speeds
_FORCES = {"rad": "N m", "m": "N"}


def motion_section(arm: Mechanism, motion: Motion | Trajectory | tuple[Array, Array]) -> str:
    """Text and pictures about a motion of all coordinates of the mechanism."""
    if isinstance(motion, tuple):
        return (f"<p>From {motion[0][0]:.4g} to {motion[0][-1]:.4g} s, {len(motion[0])} configurations.</p>"
                '<p class="note">No joint forces: the coordinates contain rotations, whose rates are not known.'
                f"</p>{_too_far(arm.tree, motion[1], None)}")
    words, shown = _run(arm, motion) if isinstance(motion, Trajectory) else _planned(arm, motion)
    words += _too_far(arm.tree, *_states(motion))
    try:
        times, tau = _forces_of_run(motion) if isinstance(motion, Trajectory) else _forces_asked(arm, motion)
    except CayleyError as why:
        note = f'<p class="note">No joint forces: {escape(str(why))}.</p>'
        return f'<p>{words}</p>{note}<div class="pictures">{shown}</div>'
    pictures = f'<div class="pictures">{shown}</div><div class="pictures">{_force_picture(arm, times, tau)}</div>'
    return f"<p>{words}</p>{_beyond(arm.tree, tau)}{pictures}{html_table(force_table(arm.tree, tau))}"


def force_table(tree: Tree, tau: Array) -> Table:
    """The greatest forces (samples, nv) of each drive, the limit, and the share of it."""
    limits = effort_limits(tree)
    greatest = np.nanmax(np.abs(tau), axis=0)
    rows = [(f"{name} [{_FORCES[unit]}]", f"{most:.4g}", f"{limit:.4g}",
             f"{100 * most / limit:.0f}" if np.isfinite(limit) and limit > 0 else "")
            for (name, unit), most, limit in zip(velocity_labels(tree), greatest, limits, strict=True)]
    return Table("Joint forces beside their limits", ("joint", "greatest", "limit", "share [%]"), tuple(rows))


def _beyond(tree: Tree, tau: Array) -> str:
    over = np.nanmax(np.abs(tau), axis=0) > effort_limits(tree)
    names = [name for (name, _), beyond in zip(velocity_labels(tree), over, strict=True) if beyond]
    return _note("The motion needs more than the maximum force", names)


def _too_far(tree: Tree, q: Array, qd: Array | None) -> str:
    """Notes on joints that leave their ranges or are too fast."""
    far = (np.nanmax(q, axis=0) > tree.upper + _SLACK) | (np.nanmin(q, axis=0) < tree.lower - _SLACK)
    notes = _note("The motion leaves the range",
                  [name for (name, _), over in zip(coordinate_labels(tree), far, strict=True) if over])
    if qd is None:
        return notes
    speeds = np.array([limit for joint in tree.joints
                       for limit in (*joint.limits.velocity, *[np.inf] * joint.motion.nv)[:joint.motion.nv]])
    fast = np.nanmax(np.abs(qd), axis=0) > np.where(speeds > 0.0, speeds, np.inf) + _SLACK
    return notes + _note("The motion exceeds the velocity limit",
                         [name for (name, _), over in zip(velocity_labels(tree), fast, strict=True) if over])


def _note(what: str, names: list[str]) -> str:
    return f'<p class="note">{what} of {escape(", ".join(names))}.</p>' if names else ""


def _states(motion: Motion | Trajectory) -> tuple[Array, Array]:
    if isinstance(motion, Trajectory):
        return motion.q, motion.qd
    found = motion(np.linspace(motion.start, motion.end, _SAMPLES))
    return found.q, found.qd


def _planned(arm: Mechanism, motion: Motion) -> tuple[str, str]:
    figure = Figure(figsize=(8.6, 7.4), layout="constrained")
    draw(figure, motion, [name for name, _ in coordinate_labels(arm.tree)])
    plain_words(figure)
    return (f"From {motion.start:.4g} to {motion.end:.4g} s; {_ends(motion)}.",
            picture(figure, f"A motion of {arm.name}"))


def _run(arm: Mechanism, run: Trajectory) -> tuple[str, str]:
    figure = run.plot()
    try:
        drawn = picture(figure, f"A run of {arm.name}")
    finally:
        plt.close(figure)
    ended = "" if run.finished else f" The simulation stopped early: {escape(run.message)}."
    return f"A simulation from {run.t[0]:.4g} to {run.t[-1]:.4g} s.{ended}", drawn


def _ends(motion: Motion) -> str:
    return {(True, True): "it begins and ends at rest", (True, False): "it begins at rest and ends in motion",
            (False, True): "it begins in motion and ends at rest",
            (False, False): "it begins and ends in motion"}[motion.rests]


def _forces_asked(arm: Mechanism, motion: Motion) -> tuple[Array, Array]:
    t = np.linspace(motion.start, motion.end, _SAMPLES)
    return t, np.asarray(arm.inverse_dynamics(*motion(t)))


def _forces_of_run(run: Trajectory) -> tuple[Array, Array]:
    if run.tau is None:
        raise UnsupportedError("the controller was compiled into the simulation, which did not record its forces")
    return run.t, run.tau


def _force_picture(arm: Mechanism, t: Array, tau: Array) -> str:
    figure = Figure(figsize=(8.6, 3.4), layout="constrained")
    ax = figure.add_subplot()
    for k, (name, unit) in enumerate(velocity_labels(arm.tree)):
        ax.plot(t, tau[:, k], color=f"C{k % 10}", linewidth=1.4, label=f"{name} [{_FORCES[unit]}]")
    ax.set_title("required joint forces", fontsize="small", loc="left")
    ax.set_xlabel("t [s]")
    ax.grid(color="#e3e7ec", linewidth=0.6)
    ax.margins(x=0.01)
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="x-small", frameon=False)
    return picture(plain_words(figure), f"Joint forces of a motion of {arm.name}")
