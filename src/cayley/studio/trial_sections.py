"""Sections of a page about the trial of a controller: step response, tracking, joint forces beside their limits, and
stability of the loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from cayley.compiler.typing import Array
from cayley.control.law_trial import FORCE_UNITS, Trial, force_table, response_table, verdict_in_words
from cayley.model.coordinate_labels import velocity_labels
from cayley.model.report import Table
from cayley.studio.pictures import picture
from cayley.studio.tables import html_table

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
        sections.append(("settings", "Settings", html_table(Table("Controller", ("setting", "value"), rows))))
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


def _panels(count: int) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(8.6, 2.9 * count), layout="constrained")
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
             html_table(Table("Stability results", ("", "claim", "where", "how"), rows))]
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
