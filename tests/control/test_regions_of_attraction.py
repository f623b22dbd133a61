"""Regions of attraction: closed forms, the cycle of Van der Pol by SciPy, saturated arms by an independent simulation,
what is refused."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import sympy as sp
from matplotlib.path import Path
from scipy.integrate import solve_ivp

import cayley as cy
from cayley.control import lyapunov_stability, region_of_attraction, saturation
from cayley.errors import SignatureError, UnsupportedError
from systems.plants import free_body, rods

x, v = sp.symbols("x v")
SQUARE = {"x": (-3.0, 3.0), "v": (-3.0, 3.0)}
VAN_DER_POL = {x: -v, v: x + (x**2 - 1) * v}  # backwards


def test_a_region_that_is_known():
    region = region_of_attraction({x: -x + x**3, v: -2 * v}, slice={"x": (-2.0, 2.0), "v": (-1.0, 1.0)}, shape=(5, 81))
    expected = np.where(np.abs(region.horizontal) < 1 - 1e-9, 1, np.where(np.abs(region.horizontal) > 1 + 1e-9, -1, 0))
    assert (region.outcome == expected).all() and region.share == pytest.approx((expected == 1).mean())
    P = np.array([0.5, 0.25])  # of V = x^2 / 2 + v^2 / 4, which rises beyond |x| = 1
    assert region.levels.converging == pytest.approx(min(P[0] * 1.0, P[1]), rel=1e-6)
    steps = region_of_attraction({x: x**3, v: v / 2}, slice={"x": (-2.0, 2.0), "v": (-1.0, 1.0)}, shape=(5, 80),
                                 discrete=True, until=40, V=x**2 + v**2)
    assert (steps.converged == (np.abs(steps.horizontal) < 1)).all()


def test_the_cycle_of_van_der_pol():
    """What starts inside the cycle converges backwards in time, what starts outside leaves."""
    region = region_of_attraction(VAN_DER_POL, slice=SQUARE, shape=(121, 121))
    cycle = solve_ivp(lambda t, s: [s[1], -s[0] - (s[0] ** 2 - 1) * s[1]], (0, 40), [2.0, 0.0], rtol=1e-9, atol=1e-9,
                      t_eval=np.linspace(33.0, 40.0, 2000)).y.T
    inside = Path(cycle).contains_points(region.displacements.reshape(-1, 2)).reshape(121, 121)
    unlike = inside != region.converged
    assert unlike.sum() <= 12  # states on the cycle itself
    assert region.levels.falling == pytest.approx(2.32, abs=0.02) and region.levels.converging > region.levels.falling
    a = np.linspace(0, 2 * np.pi, 400)
    ring = np.stack([np.cos(a), np.sin(a)], axis=-1)
    V = region.candidate.value
    ring = ring * np.sqrt(region.levels.falling / V(ring))[:, None]
    assert (region.candidate.rate(0.99 * ring) < 0).all() and Path(cycle).contains_points(ring).all()
    verdict = lyapunov_stability(VAN_DER_POL, lambda s: 1.5 * s[x] ** 2 + s[v] ** 2 + s[x] * s[v],
                                 region={"x": 0.9, "v": 0.9}, samples=2000)
    assert verdict.nature == "asymptotically stable"


def test_a_rod_whose_motor_is_too_weak_to_lift_it():
    arm = rods([0.5], [1.0])
    loop = cy.connect(arm, arm.control.pd([30.0], [2.0]).renamed({"tau": "wanted_tau"}), saturation("tau", [2.0]))
    up = {"q": [np.pi / 2], "qd": [0.0]}
    region = region_of_attraction(loop, up, slice={"q[0]": (-4.0, 4.0), "qd[0]": (-6.0, 6.0)},
                                  inputs={"target": [np.pi / 2]}, shape=(25, 33), until=8.0, step=5e-3)
    assert 0.5 < region.share < 0.95 and not region.converged[12, 8]  # at rest, nearly hanging
    weight, inertia = 2.4525, 0.25 / 3

    def moved(t, s):
        return [s[1], (np.clip(30.0 * (np.pi / 2 - s[0]) - 2.0 * s[1], -2.0, 2.0) - weight * np.cos(s[0])) / inertia]

    for row, column in np.random.default_rng(1).integers(0, [25, 33], size=(25, 2)):
        start = [np.pi / 2 + region.horizontal[column], region.vertical[row]]
        end = solve_ivp(moved, (0, 8), start, rtol=1e-8, atol=1e-8).y[:, -1]
        assert region.converged[row, column] == (np.abs(end - [np.pi / 2, 0.0]).max() < 0.1), start
    figure = region.plot()
    assert "825 states" in figure.axes[0].get_title(loc="left")
    plt.close("all")


def test_turns_count_where_they_are_said_to():
    swing = {x: v, v: -sp.sin(x) - v / 2}
    given = {"slice": {"x": (-9.0, 9.0), "v": (-3.0, 3.0)}, "shape": (7, 19), "until": 60.0}
    assert region_of_attraction(swing, **given).share < 0.6
    assert region_of_attraction(swing, angles=["x"], **given).share == 1.0


def test_what_has_no_region():
    with pytest.raises(SignatureError, match="nothing is attracted: equations: unstable"):
        region_of_attraction({x: v, v: x}, slice=SQUARE)
    with pytest.raises(SignatureError, match="has no Lyapunov function"):
        region_of_attraction({x: v, v: -(x**3)}, slice=SQUARE)
    with pytest.raises(SignatureError, match="give the time `until`"):
        region_of_attraction({x: -(x**3), v: -(v**3)}, slice=SQUARE, V=x**2 + v**2)
    for wrong in ({"x": (-1.0, 1.0)}, {"x": (-1.0, 1.0), "y": (-1.0, 1.0)}, {"x": (1.0, -1.0), "v": (-1.0, 1.0)}):
        with pytest.raises(SignatureError, match="slice"):
            region_of_attraction(VAN_DER_POL, slice=wrong)
    with pytest.raises(SignatureError, match="at least 3 states"):
        region_of_attraction(VAN_DER_POL, slice=SQUARE, shape=(1, 10))
    with pytest.raises(SignatureError, match="no entry 'y'"):
        region_of_attraction(VAN_DER_POL, slice=SQUARE, shape=(3, 3), angles=["y"])
    body = cy.connect(free_body([1.0, 2.0, 3.5]), cy.System(
        "spring", inputs={"R": 4, "w": 3}, outputs={"moment": (3, "N m")},
        output=lambda t, x, u, p: -4.0 * u.R[1:] * u.R[0] - 2.0 * u.w))
    with pytest.raises(UnsupportedError, match=r"R of .* is on a curved manifold"):
        region_of_attraction(body, {"R": [1.0, 0.0, 0.0, 0.0], "w": np.zeros(3)},
                             slice={"R[0]": (-1.0, 1.0), "w[0]": (-1.0, 1.0)})


def test_what_swings_far_on_its_way_to_rest_has_not_left():
    """A stable linear system attracts everything, however much faster it moves than the slice is wide."""
    region = region_of_attraction({x: v, v: -2500 * x - 6 * v}, slice={"x": (-3.0, 3.0), "v": (-3.0, 3.0)},
                                  shape=(21, 21), progress=False)
    assert region.share == 1.0


def test_passing_by_is_not_arriving():
    """x'' = -x - x' + x^3 has saddles at 1 and -1: in a slice as wide as this, all of the basin is near."""
    region = region_of_attraction({x: v, v: -x - v + x**3}, slice={"x": (-100.0, 100.0), "v": (-100.0, 100.0)},
                                  shape=(101, 101), step=0.02, progress=False)
    row, column = np.argmin(np.abs(region.vertical - 2.0)), np.argmin(np.abs(region.horizontal))
    assert region.outcome[50, 50] == 1 and region.outcome[row, column] == -1
