"""Linear models with inputs and outputs: python-control and SciPy, closed forms, poles at the origin, modes that
nothing reaches, models without inputs, steps."""

import numpy as np
import pytest
from scipy import signal

import cayley as cy
import control
from cayley.control import LinearModel, from_control, joint_error_model, linear_model, linear_stability
from cayley.errors import ConventionError, SignatureError, SingularityError, UnsupportedError
from systems.plants import driven_rod, driven_rods, motor, pendulum, rods

SPRING = LinearModel([[0.0, 1.0], [-4.0, -0.4]], [[0.0], [1.0]], C=[[1.0, 0.0]])
LOOP = LinearModel([[0, 1, 0], [0, 0, 1], [0, -6, -5]], [[0], [0], [1]], C=[[1, 0, 0]])  # 1 / (s (s + 2) (s + 3))


def test_both_ways_to_python_control():
    arm = rods()
    loop = cy.connect(arm, arm.control.computed_torque([100.0, 64.0], [20.0, 12.0]))
    model = linear_model(loop, {"q": [0.3, 0.4], "qd": [0.0, 0.0]}, inputs={"target": [0.3, 0.4]})
    theirs = model.to_control()
    assert theirs.input_labels[:2] == ["target[0]", "target[1]"] and theirs.output_labels[0] == "q[0]"
    assert np.allclose(np.sort_complex(theirs.poles()), np.sort_complex(model.poles))
    back = from_control(theirs)
    assert all(np.array_equal(getattr(back, name), getattr(model, name)) for name in "ABCD")
    assert back.inputs == model.inputs and back.outputs == model.outputs and back.dt is None
    tf = from_control(control.tf([1.0], [1.0, 0.4, 4.0]))
    assert tf.bode(frequencies=[1.0, 2.0]).response == pytest.approx(SPRING.bode(frequencies=[1.0, 2.0]).response)
    stepped = model.discretised(0.01)
    assert from_control(stepped.to_control()).dt == 0.01
    zoh = control.c2d(theirs, 0.01, "zoh")
    assert np.allclose(stepped.A, zoh.A) and np.allclose(stepped.B, zoh.B) and np.allclose(stepped.D, zoh.D)
    with pytest.raises(ConventionError, match="has no step"):
        from_control(control.tf([1.0], [1.0, 0.5], True))
    with pytest.raises(SignatureError, match="makes no state-space model"):
        from_control("spring")


def test_frequency_responses_and_margins():
    for model in (SPRING, LOOP, LOOP.discretised(0.1), SPRING.discretised(0.05)):
        found = model.bode()
        theirs = model.to_control()
        response = theirs(1j * found.frequency if model.dt is None else np.exp(1j * found.frequency * model.dt))
        assert np.allclose(found.response, response, rtol=1e-8, atol=0)
    _, decibels, phase = signal.bode(signal.TransferFunction([1.0], [1.0, 0.4, 4.0]), SPRING.bode().frequency)
    assert np.allclose(SPRING.bode().decibels, decibels) and np.allclose(SPRING.bode().phase, phase)
    z = 0.1  # damping ratio; the peak of a spring is 1 / (2 z sqrt(1 - z^2)) times its static gain
    assert SPRING.bode().peak == pytest.approx(0.25 / (2 * z * np.sqrt(1 - z**2)), rel=1e-4)
    light = LinearModel([[0, 1], [-4, -4e-4]], [[0], [1]], C=[[1, 0]])  # a peak that even steps would miss
    assert light.bode().peak == pytest.approx(0.25 / 2e-4, rel=1e-3)
    margins = LOOP.bode()
    gain, degrees, at, crossed = control.margin(LOOP.to_control())
    assert margins.gain_margins[0] == pytest.approx([gain, at], rel=1e-6) == [30.0, np.sqrt(6)]
    assert margins.phase_margins[0] == pytest.approx([degrees, crossed], rel=1e-6)
    assert len(LinearModel([[-1.0]], [[1.0]], C=[[0.5]]).bode().phase_margins) == 0


@pytest.mark.parametrize(("numerator", "denominator", "dt", "margins", "stable"), [
    ([-0.5], [1, 1], None, [[2, 0]], [(0, 2)]),
    ([1], [1, 1], None, [], [(0, np.inf)]),
    ([1], [1, 1, 0], None, [], [(0, np.inf)]),
    ([1], [1, 0, 0], None, [], []),
    ([1, 2], [1, -1], None, [[0.5, 0]], [(0.5, np.inf)]),
    ([-1, 2], [1, 1], None, [], [(0, 1)]),  # through infinity at 1 + k D = 0
    ([1, 2, 2], [1, 1, 0, 0, 0], None, None, None),  # stable for great gains alone, or nowhere: by brute force below
    ([1], [1, 6, 11, 6], None, [[60, np.sqrt(11)]], [(0, 60)]),
    ([0.5], [1, -0.5], 0.1, [[3, 10 * np.pi]], [(0, 3)]),
    ([-0.5], [1, -0.5], 0.1, [[1, 0]], [(0, 1)]),
    ([3], [1], None, [], [(0, np.inf)]),  # no state
    ([-2], [1], None, [[0.5, 0]], [(0, 0.5), (0.5, np.inf)])])
def test_margins_at_the_ends_of_the_boundary_and_gains_without_a_limit(numerator, denominator, dt, margins, stable):
    model = from_control(control.tf(numerator, denominator, *([] if dt is None else [dt])))
    if margins is not None:
        assert model.bode().gain_margins == pytest.approx(np.reshape(margins, (-1, 2)), abs=1e-9)
        assert np.reshape(model.root_locus().stable_gains, (-1, 2)) == pytest.approx(np.reshape(stable, (-1, 2)))
    check_by_poles(model)


@pytest.mark.parametrize("seed", range(18))
def test_random_models_have_the_margins_of_python_control_and_the_stable_gains_of_their_poles(seed):
    np.random.seed(seed)
    made = control.rss(1 + seed % 6) if seed % 3 else control.drss(1 + seed % 6)
    sign, through = (-1.0 if seed % 4 == 0 else 1.0), float(seed % 2)
    theirs = control.ss(made.A, sign * made.B, made.C, sign * through * made.D, 0 if seed % 3 else 0.1)
    model = from_control(theirs)
    check_by_poles(model)
    ours = model.bode().gain_margins[:, 0]
    for factor in control.stability_margins(theirs, returnall=True)[0]:
        if 0 < factor < 1e9:
            assert np.abs(ours / factor - 1).min() < 1e-4


def check_by_poles(model):
    """Wherever the intervals say so, and nowhere else, are all poles of the closed loop stable."""
    found = model.root_locus().stable_gains
    ends = np.array([end for interval in found for end in interval if 0 < end < np.inf])
    for k in np.geomspace(1e-5, 1e6, 600):
        if np.abs(ends / k - 1).min(initial=1.0) < 1e-6:
            continue
        poles = np.linalg.eigvals(model.A - k / (1 + k * model.D[0, 0]) * model.B @ model.C)
        worst = poles.real.max(initial=-1.0) if model.dt is None else np.abs(poles).max(initial=0.0) - 1
        if abs(worst) > 1e-9:
            assert any(low < k < high for low, high in found) == (worst < 0)


def test_root_loci():
    locus = LOOP.root_locus()
    (low, high), = locus.stable_gains
    assert low == 0.0 and high == pytest.approx(30.0, rel=1e-9)  # by Routh: 5 * 6 > k
    for factor in (0.999, 1.001):
        closed = LinearModel(LOOP.A - factor * 30.0 * LOOP.B @ LOOP.C, None)
        assert linear_stability(closed).is_stable is (factor < 1)
    given = np.linspace(0.0, 40.0, 9)
    theirs = control.root_locus_map(LOOP.to_control(), gains=given).loci
    ours = LOOP.root_locus(gains=given).poles
    assert np.allclose(np.sort_complex(ours), np.sort_complex(theirs), atol=1e-6)
    assert np.abs(np.diff(locus.poles, axis=0)).max() < 5.0  # branches do not jump
    through = LinearModel([[-1.0]], [[1.0]], C=[[1.0]], D=[[-0.5]])
    with pytest.raises(SingularityError, match="algebraic"):
        through.root_locus(gains=[0.0, 2.0])
    stepped = LOOP.discretised(0.2).root_locus()
    limit = stepped.stable_gains[0][1]
    assert linear_stability(LinearModel(stepped.model.A - 0.999 * limit * stepped.model.B @ stepped.model.C, None, 0.2)
                            ).is_stable and limit < 30.0
    hidden = LinearModel(np.diag([-1.0, -2.0]), [[1.0], [0.0]], C=[[1.0, 1.0]])  # a mode that the input does not reach
    assert not hidden.controllable and np.allclose(
        hidden.root_locus(gains=np.linspace(0.0, 0.9, 20)).poles.T, [-1 - np.linspace(0.0, 0.9, 20), np.full(20, -2.0)])
    assert hidden.bode(frequencies=[1.0]).response == pytest.approx(1 / (1j + 1))


def test_zeros_and_steady_gains():
    theirs = control.tf([1.0, 3.0], [1.0, 2.0, 5.0])
    model = from_control(theirs)
    assert model.zeros == pytest.approx([-3.0]) and model.steady_gain == pytest.approx(np.array([[0.6]]))
    assert model.discretised(0.1).steady_gain == pytest.approx(np.array([[0.6]]))
    assert len(SPRING.zeros) == 0
    with pytest.raises(SingularityError, match="no steady value: it has the pole 0"):
        LOOP.steady_gain  # noqa: B018
    with pytest.raises(SignatureError, match="as many inputs as outputs"):
        LinearModel(-np.eye(2), [[1.0], [0.0]]).zeros  # noqa: B018


def test_error_models_of_joints_are_linear_models():
    """(6.26), (6.27): the error under the load of gravity, by its response, its final value and its poles."""
    pd = joint_error_model(driven_rods(), [20.0, 15.0], 1.0, target=[0.8, -0.5], links=True)
    pid = joint_error_model(driven_rod(), 20.0, 1.0, 40.0, target=[0.5])
    s = 0.7 + 2.0j
    for model in (pd, pid):
        assert np.allclose(model.linear_model().transfer(s) @ (model.load / s), model.laplace(s), rtol=1e-10)
        assert np.allclose(model.linear_model().steady_gain @ model.load, model.offset, atol=1e-12)
    I, D, K = (getattr(pid, name)[0, 0] for name in ("inertia", "damping", "stiffness"))
    assert np.allclose(pid.poles, np.sort_complex(np.roots([I, D, K, pid.integral[0, 0]])))
    assert pd.linear_model().between("load[1]", "e[0]").bode().decibels.max() < 0


def test_models_without_inputs_and_wrong_ones():
    alone = linear_model(cy.System("decay", state={"x": ""}, derivative=lambda t, x, u, p: -x.x), {"x": 0.0})
    assert alone.B.shape == (1, 0) and linear_stability(alone).is_stable
    run = alone.system().simulate({"x": [1.0]}, until=1.0)
    assert run.end["x"][0] == pytest.approx(np.exp(-1.0))
    with pytest.raises(UnsupportedError, match="no inputs: python-control"):
        alone.to_control()
    with pytest.raises(SignatureError, match="inputs none and the outputs x: say which"):
        alone.bode()
    current = linear_model(motor(), {"current": 0.0}, inputs={"voltage": 0.0, "speed": 0.0})
    assert abs(current.bode("voltage", "torque").response[0]) == pytest.approx(0.3 / 1.2, rel=2e-2)
    with pytest.raises(SignatureError, match="did you mean 'voltage'"):
        current.between("voltge", "torque")
    with pytest.raises(SignatureError, match="say which one of each"):
        current.root_locus()
    swing = linear_model(pendulum(), {"angle": 0.0, "speed": 0.0}, inputs={"torque": 0.0})
    known = swing.system().simulate({"x": [0.1, 0.0]}, until=1.0, inputs={"u": [0.0]}).end["x"][0]
    assert known == pytest.approx(0.1 * np.cos(np.sqrt(9.81)), rel=1e-6)
    with pytest.raises(UnsupportedError, match=r"steps of 0\.1 s"):
        swing.discretised(0.1).system()
    for bad in ({"A": [[np.nan]], "B": [[1.0]]}, {"A": [[1.0]], "B": [[1.0], [2.0]]},
                {"A": [[1.0]], "B": None, "dt": -1.0}, {"A": [[-1.0]], "B": [[1.0]], "inputs": ["a", "b"]}):
        with pytest.raises(SignatureError):
            LinearModel(**bad)
    for frequencies in ([0.0, 1.0], [2.0, 1.0], [np.inf]):
        with pytest.raises(SignatureError, match="positive and rise"):
            SPRING.bode(frequencies=frequencies)
    with pytest.raises(SignatureError, match="frequencies up to"):
        SPRING.discretised(0.1).bode(frequencies=[100.0])


def test_pictures_are_drawn():
    import matplotlib.pyplot as plt
    figure = LOOP.bode().plot()
    assert len(figure.axes) == 2 and "x 30" in figure.axes[0].texts[0].get_text()
    assert "0 to 30" in LOOP.root_locus().plot().axes[0].get_title(loc="left")
    assert len(SPRING.discretised(0.05).root_locus().plot().axes[0].lines) >= 3
    plt.close("all")
