"""The pictures of docs/start/gallery/geometry.md. Run `python docs/start/gallery/geometry.py [folder]`."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp

from cayley.geometry.inertia.gyroscope import gyroscope_accelerations, steady_precession
from cayley.geometry.motions.universal_joint import universal_joint_angle, universal_joint_rate_ratio
from cayley.geometry.rotations import homogeneous_from_axis_angle, vector_parameter_from_homogeneous
from cayley.machines import half_turns, rotating_body

INK, COLOURS = "#333333", ["#1b6ca8", "#d1495b", "#3a8d5c", "#8f5db7"]
AXIS = np.array([2.0, -1.0, 2.0]) / 3.0
plt.rcParams.update({
    "figure.dpi": 110, "font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": INK,
    "axes.prop_cycle": plt.cycler(color=COLOURS), "legend.frameon": False, "figure.constrained_layout.use": True})


def rotation_charts() -> plt.Figure:
    """The size of each chart's coordinates along a full turn, and how much it magnifies an angular velocity."""
    angle = np.linspace(0.0, 2 * np.pi, 1441)
    half = vector_parameter_from_homogeneous.unchecked(homogeneous_from_axis_angle(AXIS, angle))
    tangent = np.linalg.norm(half, axis=-1)
    figure, (size, gain) = plt.subplots(1, 2, figsize=(10, 4))
    degrees = np.degrees(angle)
    size.plot(degrees, np.where(tangent < 20, tangent, np.nan), label="vector-parameter, tan(φ/2)")
    size.plot(degrees, angle, label="rotation vector, φ")
    size.plot(degrees, np.abs(np.sin(angle / 2)), label="half-sine, sin(φ/2)")
    size.plot(degrees, np.tan(np.clip(angle, 0, 2 * np.pi - 0.1) / 4), label="modified Rodrigues, tan(φ/4)")
    size.plot(degrees, np.linalg.norm(homogeneous_from_axis_angle(AXIS, angle), axis=-1), color=INK, ls=":",
              label="homogeneous [w : v]")
    size.set(xlabel="angle of the rotation [°]", ylabel="length of the coordinates", ylim=(0, 9),
             xticks=range(0, 361, 90))
    size.legend(loc="upper left", fontsize=8)
    gain.semilogy(degrees, (1 + tangent**2) / 2, label="vector-parameter")
    gain.semilogy(degrees, 1 / np.maximum(np.abs(np.cos(angle)), 1e-9), label="roll-pitch-yaw, pitch = angle",
                  color=COLOURS[1])
    gain.semilogy(degrees, np.full_like(angle, 0.5), color=INK, ls=":", label="homogeneous [w : v]")
    gain.set(xlabel="angle [°]", ylabel="largest rate for a unit angular velocity", ylim=(0.3, 1e4),
             xticks=range(0, 361, 90))
    gain.legend(loc="upper right", fontsize=8)
    return figure


def universal_joint() -> plt.Figure:
    """The second shaft of a bent universal joint leads and lags twice in a turn."""
    theta = np.linspace(0.0, 2 * np.pi, 721)
    figure, (ratio, lead) = plt.subplots(1, 2, figsize=(10, 3.6))
    for bend in (15, 30, 45, 60):
        alpha = np.radians(bend)
        ratio.plot(np.degrees(theta), 1 / universal_joint_rate_ratio(alpha, theta), label=f"bent by {bend}°")
        lead.plot(np.degrees(theta), np.degrees(universal_joint_angle(alpha, theta) - theta))
    ratio.set(xlabel="first shaft [°]", ylabel="rate of the second shaft / rate of the first", xticks=range(0, 361, 90))
    figure.legend(ncols=4, loc="outside upper center")
    lead.set(xlabel="first shaft [°]", ylabel="second shaft − first shaft [°]", xticks=range(0, 361, 90))
    return figure


TOP = 0.02, 0.01, 70.0, 1.2
"""Moments of inertia across and along the axis, spin, weight times distance."""


def top_motion(precession: float, time: np.ndarray) -> np.ndarray:
    """Angles (psi, theta, phi) of a top at `time`, let go at 60° from the vertical with a precession."""
    across, along, spin, weight = TOP

    def rate(_, state):
        moment = [weight * np.sin(state[1]), 0.0, 0.0]
        return np.concatenate([
            state[3:], gyroscope_accelerations.unchecked(across, along, state[1], state[3:], moment)])

    start = [0.0, np.pi / 3, 0.0, precession, 0.0, spin]
    return solve_ivp(rate, (time[0], time[-1]), start, t_eval=time, rtol=1e-10, atol=1e-12, method="DOP853").y[:3]


def gyroscope() -> plt.Figure:
    """The path of the axis of a top on the sphere, for three ways of letting it go."""
    slow = steady_precession(TOP[0], TOP[1], np.pi / 3, TOP[2], TOP[3]).slow or 1.0
    time = np.linspace(0.0, 3.0, 3000)
    figure = plt.figure(figsize=(10, 3.2))
    starts = {"let go at rest: cusps": 0.0, "thrown back: loops": -1.5 * slow, "steady precession": slow}
    for place, (title, start) in enumerate(starts.items(), 1):
        psi, theta, _ = top_motion(start, time)
        axes = figure.add_subplot(1, 3, place, projection="3d")
        draw_cap(axes)
        tip = np.array([np.sin(psi) * np.sin(theta), -np.cos(psi) * np.sin(theta), np.cos(theta)])
        axes.plot(*tip, lw=1.2, color=COLOURS[place - 1])
        axes.set_title(title, fontsize=10)
    return figure


def draw_cap(axes) -> None:
    """The upper half of the unit sphere, as a net."""
    along, down = np.meshgrid(np.linspace(0, 2 * np.pi, 37), np.linspace(0, np.pi / 2, 10))
    axes.plot_wireframe(
        np.cos(along) * np.sin(down),
        np.sin(along) * np.sin(down), np.cos(down), lw=0.3, color="#bbbbbb")
    axes.set_box_aspect((1, 1, 0.5), zoom=1.6)
    axes.view_init(35, -60)
    axes.set_axis_off()


def tumbling_body():
    """Torque-free motion of a body with moments of inertia 1, 2, 3: half a turn from its start at t = 2.9034749."""
    body = rotating_body(np.diag([1.0, 2.0, 3.0]))
    return body.simulate({"orientation": [1.0, 0.0, 0.0, 0.0], "angular_velocity": [0.4, 1.0, -0.3]},
                         times=np.linspace(0.0, 6.0, 1201), inputs={"torque": np.zeros(3)}, rtol=1e-12, atol=1e-13)


def half_turn() -> plt.Figure:
    """The vector-parameter goes to infinity and comes back from the other side; the homogeneous form does not notice.
    """
    motion = tumbling_body()
    figure, (finite, homogeneous) = plt.subplots(1, 2, figsize=(10, 3.8), sharex=True)
    h = motion.orientation
    with np.errstate(divide="ignore", invalid="ignore"):
        c = h[:, 1:] / h[:, :1]
    half = half_turns(motion)[0]
    finite.plot(motion.t, np.where(np.abs(c) < 60, c, np.nan), label=["c₁", "c₂", "c₃"])
    finite.set(ylim=(-15, 15), xlabel="time [s]", title="vector-parameter c = v / w")
    homogeneous.plot(motion.t, h[:, 1:], label=["v₁", "v₂", "v₃"])
    homogeneous.plot(motion.t, h[:, 0], color=INK, label="w")
    homogeneous.set(xlabel="time [s]", title="homogeneous form [w : v]")
    for axes in (finite, homogeneous):
        axes.axvline(half, color=INK, lw=0.8, ls="--")
        axes.axhline(0, color=INK, lw=0.5)
        axes.legend(fontsize=9, ncols=2, loc="lower right" if axes is finite else "upper right")
    finite.annotate(f"half-turn\nt = {half:.7f}", (half, -13), (3.5, 11), fontsize=9)
    return figure


PICTURES = {
    "rotation_charts": rotation_charts, "universal_joint": universal_joint, "gyroscope": gyroscope,
    "half_turn": half_turn}


def main(folder: Path) -> list[Path]:
    """Draw every picture into `folder`."""
    paths = []
    for name, draw in PICTURES.items():
        figure = draw()
        paths.append(folder / f"{name}.png")
        figure.savefig(paths[-1])
        plt.close(figure)
    return paths


if __name__ == "__main__":
    for drawn in main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent):
        print(drawn.name)
