"""Sections of a page about motions: one that is planned or simulated, with joint forces beside their limits, and the
trial of a controller, with its step response, tracking, forces and stability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array
from cayley.control.law_trial import FORCE_UNITS, Trial, force_table, response_table, verdict_in_words
from cayley.dynamics.payload_capacity import effort_limits
from cayley.errors import CayleyError, UnsupportedError
from cayley.extras import optional_imports
from cayley.mechanism import Mechanism
from cayley.model.coordinate_labels import coordinate_labels, velocity_labels
from cayley.model.report import TextTable
from cayley.model.tree import Tree
from cayley.planning.motion import Motion, draw
from cayley.showing import plain_words
from cayley.simulation import Trajectory
from cayley.studio.pictures import html_table, picture

with optional_imports():
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GRID = "#e3e7ec"
_GREY = "#8793a1"
_LITTLE = 1e-3
_FORGOTTEN = 0.5  # a factor of a period: less is gone at once


def control_sections(trial: Trial, settings: Mapping[str, str] | None = None) -> list[tuple[str, str, str]]:
    """The place, the title and the text of each section about a trial."""
    sections = [("step", "Step response", _step_section(trial)), ("tracking", "Tracking", _tracking_section(trial)),
                ("forces", "Joint forces", _force_section(trial)), ("stability", "Stability", _stability(trial))]
    if settings:
        rows = tuple(settings.items())
        sections.append(("settings", "Settings", html_table(TextTable("Controller", ("setting", "value"), rows))))
    return sections


def trial_facts(trial: Trial) -> list[tuple[str, str]]:
    settled = [found.settling for found in trial.responses if found.size]
    facts = [("stability", verdict_in_words(trial)),
             ("settled to 2 %", "never" if np.isnan(settled).any() else f"{max(settled, default=0.0):.3g} s"),
             ("overshoot", f"{100 * max(found.overshoot for found in trial.responses):.1f} %")]
    if np.isfinite(trial.limits).any():
        facts.append(("largest share of a limit", f"{100 * trial.shares.max():.0f} %"))
    if trial.period is not None:
        delay = f", delay {trial.late} period{'s' if trial.late > 1 else ''}" if trial.late else ""
        facts.append(("sampling", f"{1 / trial.period:.6g} Hz{delay}"))
    return facts


def _panels(count: int, height: float = 2.9) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(8.6, height * count), layout="constrained")
    axes = [figure.add_subplot(count, 1, k + 1) for k in range(count)]
    for ax in axes:
        ax.grid(color=_GRID, linewidth=0.6)
        ax.margins(x=0.01)
    axes[-1].set_xlabel("t [s]")
    return figure, axes


def _lines(ax: Axes, t: Array, values: Array, labels: Sequence[str], **style: str) -> None:
    for k, label in enumerate(labels):
        ax.plot(t, values[:, k], color=f"C{k % 10}", linewidth=1.4, label=label, **style)  # type: ignore[arg-type]
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="x-small", frameon=False)


def _by_unit(trial: Trial) -> dict[str, list[int]]:
    """Numbers of the errors by unit: metres and radians have separate axes."""
    found: dict[str, list[int]] = {}
    for k, (_, unit) in enumerate(trial.labels):
        found.setdefault(unit, []).append(k)
    return found


def _step_section(trial: Trial) -> str:
    errors = trial.step_error
    groups = _by_unit(trial)
    figure, axes = _panels(len(groups))
    for ax, (unit, members) in zip(axes, groups.items(), strict=True):
        done = errors[0, members] - errors[:, members]
        _lines(ax, trial.step.t, done, [trial.labels[k][0] for k in members])
        for k, member in enumerate(members):
            ax.axhline(errors[0, member], color=f"C{k % 10}", linewidth=0.8, linestyle=":")
        ax.set_title(f"step response [{unit}], target dotted", fontsize="small", loc="left")
    words = "" if trial.step.finished else f'<p class="note">{escape(trial.step.message or trial.step.status)}.</p>'
    table = html_table(response_table(trial))
    return (f"<p>The target steps at t = 0, with the arm at rest. Settling means staying within 2 % of the step."
            f'</p>{words}<div class="pictures">{picture(figure, "The step response")}</div>{table}')


def _tracking_section(trial: Trial) -> str:
    groups = _by_unit(trial)
    figure, axes = _panels(len(groups))
    for ax, (unit, members) in zip(axes, groups.items(), strict=True):
        _lines(ax, trial.tracking.t, trial.tracking_error[:, members], [trial.labels[k][0] for k in members])
        ax.axvline(trial.move.end, color=_GREY, linewidth=0.8, linestyle=":")
        ax.set_title(f"tracking error [{unit}], end of the motion dotted", fontsize="small", loc="left")
    how = "along the motion that was given" if trial.is_given else (
        "from rest to rest along a polynomial of degree five, all joints synchronised")
    return (f"<p>The target moves for {trial.move.duration:.3g} s {how}. The view above plays the response.</p>"
            f'<div class="pictures">{picture(figure, "The tracking error")}</div>')


def _force_section(trial: Trial) -> str:
    labels = velocity_labels(trial.aim.tree)
    limited = np.isfinite(trial.limits).any()
    figure, axes = _panels(2)
    for ax, run, word in zip(axes, (trial.step, trial.tracking), ("step", "motion"), strict=True):
        tau = run["tau"] / np.where(np.isfinite(trial.limits), trial.limits, np.inf) if limited else run["tau"]
        chosen = [k for k in range(len(labels)) if not limited or np.isfinite(trial.limits[k])]
        _lines(ax, run.t, tau[:, chosen], [labels[k][0] for k in chosen])
        if limited:
            for side in (-1.0, 1.0):
                ax.axhline(side, color="#b5472f", linewidth=1.0, linestyle="--")
        unit = "shares of their limits" if limited else " and ".join(dict.fromkeys(FORCE_UNITS[u] for _, u in labels))
        ax.set_title(f"joint forces of the {word} [{unit}]", fontsize="small", loc="left")
    table = html_table(force_table(trial))
    words = "<p>The drives saturate at their limits, dashed.</p>" if limited else (
        "<p>The drives have no force limits: neither the model nor the trial defines any.</p>")
    return f'{words}<div class="pictures">{picture(figure, "Joint forces")}</div>{table}'


def _stability(trial: Trial) -> str:
    if trial.verdict is None:
        return f'<p class="note">No verdict: {escape(trial.doubt)}.</p>'
    rows = tuple((finding.outcome, finding.claim, finding.scope, finding.how) for finding in trial.verdict.findings)
    offset = trial.offset
    assert offset is not None
    words = [f"{name} {value:.3g} {unit}" for (name, unit), value in zip(trial.labels, offset, strict=True)
             if abs(value) > 1e-9]
    where = f"Steady-state errors: {', '.join(words)}." if words else "There is no steady-state error."
    saturated = " This holds while no drive saturates." if np.isfinite(trial.limits).any() else ""
    parts = [f"<p><b>{escape(trial.verdict.sentence)}.</b> {escape(where)}{saturated}</p>",
             html_table(TextTable("Stability results", ("", "claim", "where", "how"), rows))]
    if trial.verdict.poles is not None and len(trial.verdict.poles):
        parts.insert(1, f'<div class="pictures">{_poles(trial)}</div>')
    return "".join(parts)


def _poles(trial: Trial) -> str:
    assert trial.verdict is not None and trial.verdict.poles is not None
    poles = trial.verdict.poles.astype(complex)
    figure = Figure(figsize=(8.6, 3.6), layout="constrained")
    if trial.period is None:
        _plane(figure.add_subplot(), poles, "poles [1/s], stable to the left of the line")
        return picture(figure, "Poles of the loop")
    turn = np.linspace(0, 2 * np.pi, 200)
    ax, rates = figure.subplots(1, 2, width_ratios=[1.0, 1.3])
    ax.plot(np.cos(turn), np.sin(turn), color=_GREY, linewidth=1.0)
    ax.set_aspect("equal")
    _plane(ax, poles, "poles z per period, stable inside the circle", line=False)
    slow = poles[np.abs(poles) > _FORGOTTEN]
    _plane(rates, np.log(slow) / trial.period, "slow poles as rates ln z / T [1/s]")
    return picture(figure, "Poles of the loop")


def _plane(ax: Axes, poles: Array, title: str, *, line: bool = True) -> None:
    ax.grid(color=_GRID, linewidth=0.6)
    if line:
        ax.axvline(0.0, color=_GREY, linewidth=1.0)
    ax.plot(poles.real, poles.imag, "x", color="#b5472f", markersize=7)
    far = float(np.abs(poles).max(initial=0.0))
    if np.abs(poles.imag).max(initial=0.0) < _LITTLE * far:  # what rounding leaves of real poles
        ax.set_ylim(-far / 10, far / 10)
    ax.set_title(title, fontsize="small", loc="left")
    ax.set_xlabel("real part")
    ax.set_ylabel("imaginary part")


_SAMPLES = 600
_SLACK = 1e-6  # [rad, m], of ranges and speeds


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
    return f"<p>{words}</p>{_beyond(arm.tree, tau)}{pictures}{html_table(motion_forces(arm.tree, tau))}"


def motion_forces(tree: Tree, tau: Array) -> TextTable:
    """The greatest forces (samples, nv) of each drive, the limit, and the share of it."""
    limits = effort_limits(tree)
    greatest = np.nanmax(np.abs(tau), axis=0)
    rows = [(f"{name} [{FORCE_UNITS[unit]}]", f"{most:.4g}", f"{limit:.4g}",
             f"{100 * most / limit:.0f}" if np.isfinite(limit) and limit > 0 else "")
            for (name, unit), most, limit in zip(velocity_labels(tree), greatest, limits, strict=True)]
    return TextTable("Joint forces beside their limits", ("joint", "greatest", "limit", "share [%]"), tuple(rows))


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
    figure, (ax,) = _panels(1, 3.4)
    _lines(ax, t, tau, [f"{name} [{FORCE_UNITS[unit]}]" for name, unit in velocity_labels(arm.tree)])
    ax.set_title("required joint forces", fontsize="small", loc="left")
    return picture(plain_words(figure), f"Joint forces of a motion of {arm.name}")
