"""The picture of docs/robots/identification.md. Run `python docs/start/gallery/identification.py [folder]`."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import cayley as cy
from cayley.dynamics.identification import (
    base_parameters,
    exciting_trajectory,
    linear_model,
    physical_estimate,
    random_trajectory,
    simulate_measurements,
)

plt.rcParams.update({
    "figure.dpi": 110, "font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False,
    "figure.constrained_layout.use": True})


def identification() -> plt.Figure:
    """PUMA 560: the movement, forces predicted on another movement, and what is known of the parameters by two
    movements.
    """
    model = linear_model(cy.load("puma560").tree, joint_terms=["viscous", "coulomb"])
    base = base_parameters(model)
    drive = exciting_trajectory(base, velocity=2.0, acceleration=6.0, seed=1)
    truth = np.array([{"viscous": 0.8, "coulomb": 0.5}.get(word, value)
                      for (_, word), value in zip(model.columns, model.values, strict=True)])

    def estimate(trajectory):
        return physical_estimate(
            base, simulate_measurements(model, *trajectory.sampled(1000), noise=0.2, parameters=truth, seed=2))

    found, plain = estimate(drive.trajectory), estimate(random_trajectory(drive.limits, seed=3))
    times = np.linspace(0.0, 10.0, 500, endpoint=False)
    other = simulate_measurements(model,
                                  *random_trajectory(drive.limits, seed=4).at(times), noise=0.2, parameters=truth,
                                  seed=5)
    figure, (movement, forces, spread) = plt.subplots(1, 3, figsize=(13, 3.6))
    movement.plot(times, drive.trajectory.at(times)[0], label=[f"q{k}" for k in range(1, 7)])
    movement.set(xlabel="time [s]", ylabel="angle [rad]", title=f"exciting: condition number {drive.condition:.0f}")
    movement.legend(ncols=3, fontsize=8)
    for k, colour in ((1, "#1b6ca8"), (2, "#d1495b")):
        forces.plot(times[::4], other.tau[::4, k], ".", color=colour, ms=4, alpha=0.6, label=f"measured, joint {k + 1}")
        forces.plot(times,
                    found.forces(other.q, other.v, other.vd)[:, k], color="#222222", lw=0.7,
                    label=None if k == 1 else "predicted")
    forces.set(xlabel="time [s]", ylabel="torque [N m]", title="another movement, predicted")
    forces.legend(fontsize=8)
    spread.semilogy(np.sort(plain.standard_deviations)[::-1], label="random movement", color="#999999")
    spread.semilogy(np.sort(found.standard_deviations)[::-1], label="exciting movement", color="#3a8d5c")
    spread.set(xlabel="base parameter, by size of its deviation", ylabel="standard deviation",
               title="what is known afterwards")
    spread.legend(fontsize=8)
    return figure


def main(folder: Path) -> list[Path]:
    """Draw the picture into `folder`."""
    path = folder / "identification.png"
    figure = identification()
    figure.savefig(path)
    plt.close(figure)
    return [path]


if __name__ == "__main__":
    for drawn in main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent):
        print(drawn.name)
