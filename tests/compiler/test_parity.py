"""Every way to evaluate the shared mechanisms gives the same values, and the harness that says so can say otherwise."""


import numpy as np
import pytest

import cayley as cy
from cayley.compiler.tracing.trace import trace
from compiler import mechanisms
from compiler.mechanisms import program_of
from compiler.parity import (
    ABSENT,
    BACK_ENDS,
    EVERY_BACK_END,
    IN_SINGLE,
    agree,
    check_parity,
    check_program_parity,
    in_c,
    in_cuda,
    numeric_jacobians,
    states_of,
)
from programs import needs

CASES = {
    "pendulum_torque": ("(n),(n)->(n)", {"n": 2}),
    "every_operation": ("(3),(3)->(26)", {}),
    "choices": ("(n),(),()->(n),(n),()", {"n": 4}),
    "moved_points": ("(3,3),(3),(k,3)->(k,3),(3,3),()", {"k": 2}),
    "kinetic_energy": ("(),()->()", {}),
    "inverse_dynamics": ("(n),(n),(n)->(n)", {"n": 7}),
}


def random_states(program, count=3):
    random = np.random.default_rng(7)
    return [random.uniform(-0.9, 0.9, size=(count, *v.shape)) for v in program.inputs]


@pytest.mark.parametrize("name", CASES)
def test_kernels_and_their_programs(name):
    signature, dimensions = CASES[name]
    function = getattr(mechanisms, name)
    kernel, program = cy.kernel(signature)(function), program_of(function, signature, **dimensions)
    assert kernel.program(**dimensions).key == program.key
    check_parity(kernel, *random_states(program), everywhere=True)
    # its Jacobians, without being compiled
    check_program_parity(program, function, *random_states(program), without=BACK_ENDS)


@pytest.fixture(params=EVERY_BACK_END)
def back_end(request):
    """Each by name; where it cannot run, it is said why."""
    if request.param in ABSENT:
        pytest.skip(ABSENT[request.param])
    return request.param


def test_a_wrong_program_is_caught(back_end):
    program = program_of(lambda q: 2.0 * q, "(n)->(n)", name="double", n=2)
    others = [name for name in BACK_ENDS if name != back_end]
    check_program_parity(program, lambda q: 2.0 * q, np.ones((2, 2)), everywhere=True, without=others, jacobians=False)
    with pytest.raises(AssertionError, match=back_end):
        check_program_parity(program, lambda q: 2.0 * q + 1e-12, np.ones((2, 2)), everywhere=True, without=others)
    if back_end in IN_SINGLE:
        with pytest.raises(AssertionError, match=f"{back_end} float"):
            check_program_parity(program, lambda q: 2.0 * q + 1e-3, np.ones((2, 2)), everywhere=True, without=others,
                                 tolerance=1)


@needs("g++")
@pytest.mark.parametrize("precision, tolerance", [("double", 1e-13), ("float", 2e-5)])
def test_the_text_for_gpus_in_the_harness(cupy, precision, tolerance):
    """Where there is no GPU, through the stand-in for one; more states than are in a block."""
    program = program_of(mechanisms.moved_points, CASES["moved_points"][0], k=2)
    arguments = [a.astype("float32" if precision == "float" else "float64") for a in random_states(program, 70)]
    agree("stand-in", in_cuda(program, arguments, precision), states_of(mechanisms.moved_points, arguments), tolerance)


def test_a_wrong_jacobian_is_caught():
    program = program_of(np.sin, "()->()", inputs=["x"])
    right = numeric_jacobians(program, [np.array([0.3, 0.4])], "x")
    agree("right", [np.cos([0.3, 0.4])], right, 1e-15)
    with pytest.raises(AssertionError):
        agree("wrong", [np.cos([0.3, 0.4]) + 1e-12], right, 1e-13)


def test_nan_must_meet_nan():
    agree("same", [np.array([np.nan, 1.0])], [np.array([np.nan, 1.0])], 1e-13)
    with pytest.raises(AssertionError):
        agree("different", [np.array([0.0, 1.0])], [np.array([np.nan, 1.0])], 1e-13)


@needs("cc")
def test_edge_values_in_c_are_those_of_numpy():
    """NaN, infinities and zeros through every operation, without simplification."""
    from cayley.compiler.signature import Signature
    values = np.array([np.nan, np.inf, -np.inf, 0.0, 1.0, -1.0, 0.5, -2.5])
    pairs = np.array(np.meshgrid(values, values)).reshape(2, -1)

    def everything(a, b):
        return np.stack([
            a + b, a - b, a * b, a / b,
            np.sqrt(a),
            np.sin(a),
            np.cos(a),
            np.tan(a),
            np.arcsin(a),
            np.arccos(a),
            np.arctan(a),
            np.arctan2(a, b),
            np.hypot(a, b),
            np.exp(a),
            np.log(a),
            np.abs(a),
            np.sign(a),
            np.floor(a),
            np.minimum(a, b),
            np.maximum(a, b),
            cy.where(a < b, 1.0, 0.0),
            cy.where(a <= b, 1.0, 0.0),
            cy.where(a == b, a, b)])

    program = trace(everything, Signature.parse("(),()->(23)"), {}, name="everything", inputs=["a", "b"])
    with np.errstate(all="ignore"):
        agree("double", in_c(program, pairs), states_of(everything, pairs), 1e-15)
        agree("float", in_c(program, pairs, "float"), states_of(everything, pairs), 1e-6)
