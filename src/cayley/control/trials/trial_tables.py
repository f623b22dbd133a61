"""What was found in the trial of a law, in words and tables."""

from __future__ import annotations

import numpy as np

from cayley.control.trials.law_trial import Trial
from cayley.model.coordinate_labels import velocity_labels
from cayley.model.report import Table

FORCE_UNITS = {"rad": "N m", "m": "N"}
_RESPONSES = ("error", "step", "overshoot [%]", "settled [s]", "left at the end", "greatest while tracking")
_FORCES = ("joint", "greatest in the step", "greatest while tracking", "limit", "share [%]")


def verdict_in_words(trial: Trial) -> str:
    """What is known of the loop, in a few words."""
    if trial.verdict is None:
        return "not known"
    known = {"proved": ", proved", "sampled": ", sampled only", "nothing": ""}[trial.verdict.basis]
    return f"{trial.verdict.nature}{known}"


def response_table(trial: Trial) -> Table:
    """Each error: its step, what became of it, and the greatest error of the motion."""
    greatest = np.nanmax(np.abs(trial.tracking_error), axis=0)
    rows = [(f"{name} [{unit}]", f"{found.size:.4g}", f"{100 * found.overshoot:.1f}",
             "never" if np.isnan(found.settling) else f"{found.settling:.3g}",
             f"{found.left:.2g}" if np.isfinite(found.left) else "lost", f"{most:.2g}")
            for (name, unit), found, most in zip(trial.labels, trial.responses, greatest, strict=True)]
    return Table("Each error", _RESPONSES, tuple(rows))


def force_table(trial: Trial) -> Table:
    """Each drive: the greatest forces of the step and of the motion, the limit, and the share of it."""
    runs = [np.nanmax(np.abs(run["tau"]), axis=0) for run in (trial.step, trial.tracking)]
    rows = [(f"{name} [{FORCE_UNITS[unit]}]", f"{runs[0][k]:.4g}", f"{runs[1][k]:.4g}", f"{trial.limits[k]:.4g}",
             f"{100 * trial.shares[:, k].max():.0f}" if np.isfinite(trial.limits[k]) else "")
            for k, (name, unit) in enumerate(velocity_labels(trial.aim.tree))]
    return Table("Each drive", _FORCES, tuple(rows))
