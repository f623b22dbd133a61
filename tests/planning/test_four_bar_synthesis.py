"""Four-bars from pairs of angles: the worked examples, mpmath in 50 digits, SciPy's least squares, and the closure of
the linkages that come out."""

import warnings

import mpmath
import numpy as np
import pytest
from scipy.optimize import least_squares

import cayley as cy
from cayley.errors import ModelError, ModelWarning, SignatureError, SingularityError, UnreachableError, UnsupportedError
from cayley.machines import FourBar, SlottedLever
from cayley.planning.synthesis.design import FourBarDesign, defects_of
from cayley.planning.synthesis.freudenstein import (
    freudenstein_parameters,
    input_output_residual,
    output_angles,
    signed_lengths,
    synthesis_equations,
)
from cayley.planning.synthesis.function_generation import exact_parameters, four_bar_family, function_generator

TWENTY_NINE = (np.radians([30.0, 75.0, 120.0]), np.radians([90.3811128178, 98.7654168311, 120.0]))
THIRTY_TWO = (np.radians(np.arange(30.0, 121.0, 15.0)), np.radians([90.0, 90.0, 94.0, 99.0, 105.0, 112.0, 120.0]))
THIRTY_THREE = (THIRTY_TWO[0], np.radians(60 + 60 * (np.arange(7) / 6) ** 1.5))


def coupler_lengths(lengths, psi, phi):
    """The distance of the ends of input and output link, with signed lengths: from the closure itself."""
    a1, a2, _, a4 = lengths
    along = a1 + a4 * np.cos(phi) - a2 * np.cos(psi)
    return np.hypot(along, a4 * np.sin(phi) - a2 * np.sin(psi))


def made(k, psi=(0.3, 0.9), phi=(0.5, 1.2), ground=1.0):
    return FourBarDesign(np.asarray(k, dtype=float), ground, np.asarray(psi), np.asarray(phi), 1.0)


@pytest.mark.spec("S2-76")
def test_parameters_lengths_and_equations_say_the_same_of_a_linkage():
    rng = np.random.default_rng(1)
    lengths = rng.uniform(0.3, 1.0, (200, 4))
    k = freudenstein_parameters(lengths)
    np.testing.assert_allclose(signed_lengths(k, lengths[:, 0]), lengths, rtol=1e-9)
    psi = rng.uniform(-3, 3, 200)
    phi = output_angles.unchecked(k, psi)
    stands = np.isfinite(phi).all(axis=1)
    assert 50 < stands.sum() < 200  # lengths at random often cannot be assembled there
    for mode in range(2):
        for row in np.flatnonzero(stands):
            assert coupler_lengths(lengths[row], psi[row], phi[row, mode]) == pytest.approx(lengths[row, 2], abs=1e-12)
        residual = input_output_residual(k[stands], psi[stands], phi[stands, mode])
        assert np.abs(residual).max() < 1e-12 * np.abs(k[stands]).max()
    T, b = synthesis_equations(psi[stands][:3], phi[stands, 0][:3])
    np.testing.assert_allclose(T @ k[0] - b, input_output_residual(k[0], psi[stands][:3], phi[stands, 0][:3]),
                               atol=1e-13)
    assert T.shape == (3, 3) and np.all(T[:, 0] == 1)
    np.testing.assert_allclose(freudenstein_parameters([4.0, 1.5, 3.5, 3.0]), [5 / 3, 8 / 3, 4 / 3], rtol=1e-15)
    assert np.isinf(made([0.4, 0.0, 0.8]).signed_lengths[[1, 2]]).all()  # k2 = 0 and k3 = 0 have lengths too
    assert np.isinf(made([0.4, 0.8, 0.0]).signed_lengths[[2, 3]]).all()


def test_the_equation_is_one_text_for_all_numbers():
    with mpmath.workdps(50):
        psi, phi = [[mpmath.mpf(x) for x in row] for row in ([0.7, 1.1, 1.5], [1.2, 1.4, 1.7])]
        pairs = list(zip(psi, phi, strict=True))
        exact = mpmath.lu_solve(mpmath.matrix([[1, mpmath.cos(f), -mpmath.cos(p)] for p, f in pairs]),
                                mpmath.matrix([mpmath.cos(f - p) for p, f in pairs]))
    found = exact_parameters([0.7, 1.1, 1.5], [1.2, 1.4, 1.7])
    np.testing.assert_allclose(found, [float(x) for x in exact], rtol=1e-11)
    np.testing.assert_allclose(exact_parameters(np.float32([0.7, 1.1, 1.5]), np.float32([1.2, 1.4, 1.7])), found,
                               rtol=1e-3)
    assert output_angles(np.zeros((0, 3)), np.zeros(0)).shape == (0, 2)


@pytest.mark.spec("S2-77")
def test_three_pairs_give_the_linkage_they_came_from_numerically_and_in_closed_form():
    psi, phi = TWENTY_NINE
    found = function_generator(psi, phi, ground=4.0)
    np.testing.assert_allclose(found.parameters, [5 / 3, 8 / 3, 4 / 3], atol=1e-8)  # WE-29
    np.testing.assert_allclose(found.signed_lengths, [4.0, 1.5, 3.5, 3.0], atol=1e-7)
    both = np.degrees(output_angles([5 / 3, 8 / 3, 4 / 3], psi))
    np.testing.assert_allclose(both, np.transpose([[-121.4188105968, -142.4825221969, -150.5906886028],
                                                   [90.3811128178, 98.7654168311, 120.0]]), atol=1e-9)
    T, b = synthesis_equations(psi, phi)
    assert np.linalg.det(T) == pytest.approx(0.1004828715, abs=1e-9)
    np.testing.assert_allclose(exact_parameters(psi, phi), np.linalg.solve(T, b), atol=1e-9)
    thirty = function_generator(*np.radians([[40.0, 60.0, 80.0], [70.0, 80.0, 95.0]]))  # WE-30
    np.testing.assert_allclose(thirty.parameters, [1.2468946365, 1.1818457897, 1.0248547668], atol=1e-8)
    np.testing.assert_allclose(thirty.signed_lengths, [1, 0.8461340800, 0.7804617923, 0.9757480107], atol=1e-8)
    assert thirty.feasible and thirty.condition == pytest.approx(123.1, abs=0.05)
    rng = np.random.default_rng(3)
    for _ in range(30):  # both routes, and the closure of what they give
        psi, phi = rng.uniform(0.2, 2.8, (2, 3))
        design = function_generator(psi, phi)
        np.testing.assert_allclose(exact_parameters(psi, phi), design.parameters, rtol=1e-10 * design.condition)
        if design.kind == "RRRR" and np.isfinite(design.signed_lengths).all():
            lengths = coupler_lengths(design.signed_lengths, psi, phi)
            np.testing.assert_allclose(lengths, design.signed_lengths[2], rtol=1e-9 * design.condition)


@pytest.mark.spec("S2-77")
def test_fewer_pairs_leave_families_and_singular_ones_are_refused():
    one = four_bar_family([0.7], [1.3])
    two = four_bar_family([0.7, 1.5], [1.3, 1.9], ground=2.0)
    assert (one.freedom, two.freedom) == (2, 1)
    for z in ([0.3, -0.2], [1.0, 2.0]):
        assert np.abs(one.member(z).design_errors).max() < 1e-14
    design = two.with_lengths(output_link=1.7)
    assert design.signed_lengths[3] == pytest.approx(1.7) and design.structural_error().largest < 1e-12
    assert two.with_lengths(output_link=-1.7).signed_lengths[3] == pytest.approx(-1.7)
    assert two.with_lengths(input_link=np.inf).kind == "PRRR"
    both = one.with_lengths(input_link=0.6, output_link=0.8)
    np.testing.assert_allclose(both.signed_lengths[[1, 3]], [0.6, 0.8])
    with pytest.raises(SignatureError, match="three or more, or choose from four_bar_family"):
        function_generator([0.7, 1.5], [1.3, 1.9])
    with pytest.raises(SingularityError, match="leave a family"):
        function_generator([0.7, 1.5, 1.5], [1.3, 1.9, 1.9])
    with pytest.raises(SingularityError, match="contradict each other"):  # cos psi and cos phi the same, phi - psi not
        function_generator([0.7, 1.5, -1.5], [1.3, 1.9, 1.9])
    assert four_bar_family([0.7, 1.5, 1.5], [1.3, 1.9, 1.9]).freedom == 1
    with pytest.raises(UnreachableError, match="no four-bar meets all"):
        four_bar_family([0.7, 1.5, -1.5], [1.3, 1.9, 1.9])
    with pytest.raises(SignatureError, match="determine one four-bar"):
        four_bar_family(*TWENTY_NINE)
    with pytest.raises(SignatureError, match="has 1 free numbers"):
        two.with_lengths(input_link=1.0, output_link=1.0)
    with pytest.raises(SignatureError, match="has 2 free numbers"):
        one.member([1.0])
    with pytest.raises(SingularityError, match="choose the other link"):
        four_bar_family([np.pi / 2, np.pi / 2], [1.0, 2.0]).with_lengths(input_link=3.0)


@pytest.mark.spec("S2-78")
def test_negative_parameters_are_links_turned_by_half_a_turn():
    psi, phi = np.radians([[55.0, 65.0, 80.0], [0.0, 15.0, 60.0]])
    found = function_generator(psi, phi)  # WE-31
    np.testing.assert_allclose(found.parameters, [1.2248462171, -0.4460452089, 0.3577981222], atol=1e-8)
    np.testing.assert_allclose(found.signed_lengths, [1, -2.2419252128, 5.4025043023, 2.7948721304], atol=1e-8)
    assert (found.input_shift, found.output_shift) == (np.pi, 0.0) and found.feasible
    positive = np.abs(found.signed_lengths)
    np.testing.assert_allclose(coupler_lengths(positive, psi + np.pi, phi), 5.4025043023, atol=1e-8)
    k = found.parameters
    np.testing.assert_allclose(freudenstein_parameters(positive), k * [-1, -1, 1], atol=1e-12)  # E-19: psi + pi
    turned = function_generator(psi, phi + np.pi)
    np.testing.assert_allclose(turned.parameters, k * [-1, 1, -1], atol=1e-12)  # phi + pi
    assert turned.output_shift == np.pi and turned.input_shift == np.pi
    for design in (found, turned):  # the linkage with positive lengths does it, at the shifted angles
        for p, f in zip(design.inputs, design.outputs, strict=True):
            both = design.linkage.position(p + design.input_shift)[:, 1]
            assert np.abs(np.sin((both - f - design.output_shift) / 2)).min() < 1e-9
        machine = cy.Mechanism(design.tree())
        q = design.configuration(psi[1], int(design.structural_error().modes[1]))
        assert np.abs(machine.loops.residual(q)).max() < 1e-12


@pytest.mark.spec("S2-78")
def test_what_cannot_be_built_is_said():
    too_far = made([1.9, 1.0, 1.0])
    assert not too_far.feasible and "square would be -0.8 m^2" in too_far.infeasible
    assert np.isnan(too_far.signed_lengths[2]) and too_far.linkage_class == "infeasible"
    with pytest.raises(UnreachableError, match=r"cannot be built: the coupler has no length: its square would be -0"):
        _ = too_far.linkage
    long = made(freudenstein_parameters([1.0, 0.4, 2.5, 0.5]))
    assert "coupler of 2.5 m is not shorter" in long.infeasible
    assert not np.isfinite(long.output_angles(np.linspace(-3, 3, 50))).any()
    exactly = made(freudenstein_parameters([1.0, 0.5, 2.0, 0.5]))  # as long as the others together: no linkage
    assert not exactly.feasible
    with pytest.raises(ModelError, match="ground link has the length 0"):
        function_generator(*TWENTY_NINE, ground=0.0)
    with pytest.raises(SignatureError, match="pair 2 is"):
        function_generator([0.1, np.nan, 0.3], [0.1, 0.2, 0.3])
    with pytest.raises(SignatureError, match="as many input as output"):
        function_generator([0.1, 0.2, 0.3], [0.1, 0.2])


@pytest.mark.spec("S2-78", "S2-108")
@pytest.mark.parametrize(("k", "kind"), [((0.3, 0.0, 0.8), "PRRR"), ((-0.2, 0.0, -0.6), "PRRR"),
                                         ((0.3, 0.8, 0.0), "RRRP"), ((-0.4, -1.6, 0.0), "RRRP")])
def test_infinite_links_are_slots(k, kind):
    psi = np.linspace(0.4, 1.6, 5)
    phi = output_angles(k, psi)[:, 1]
    found = function_generator(psi, phi, ground=0.5)
    assert found.kind == kind and found.feasible and isinstance(found.linkage, SlottedLever)
    np.testing.assert_allclose(found.parameters, k, atol=1e-9)
    assert found.structural_error().largest < 1e-9 and found.defects().none
    machine = cy.Mechanism(found.tree(masses={"crank": 0.2, "lever": 0.3, "block": 0.1}))
    for mode in range(2):
        q = found.configuration(psi, mode)
        assert np.abs(machine.loops.residual(q)).max() < 1e-12
    # and it is the limit of four-bars with long links, whose pin is far away
    row = k.index(0.0)
    errors = []
    for tiny in (1e-3, 1e-4, 1e-5):
        near = np.array(k)
        near[row] = tiny
        assert made(near).kind == "RRRR"
        errors.append(np.abs(np.sin(output_angles(near, psi)[:, 1] - phi)).max())
    assert errors[2] < 1e-4 and errors[0] / errors[1] == pytest.approx(10, rel=0.1)
    inputs = found.configuration(psi, 1)[:, 0]
    path = machine.loops.follow_inputs({"input": inputs}, start=found.configuration(psi[0], 1))
    np.testing.assert_allclose(np.sin(path.configuration - found.configuration(psi, 1)), 0.0, atol=1e-8)


def test_input_and_output_that_turn_alike_are_no_four_bar():
    both = made([0.3, 0.0, 0.0])
    assert both.kind == "PRRP" and both.feasible and both.linkage_class == "coupling"
    np.testing.assert_allclose(np.cos(both.output_angles(0.7) - 0.7), 0.3, atol=1e-14)
    with pytest.raises(UnsupportedError, match="turn alike"):
        _ = both.linkage
    assert "slot is never met" in made([2.0, 0.0, 0.5]).infeasible
    assert not made([1.2, 0.0, 0.0]).feasible


@pytest.mark.spec("S2-79")
def test_more_pairs_are_met_in_the_sense_of_least_squares():
    psi, phi = THIRTY_TWO
    found = function_generator(psi, phi)
    np.testing.assert_allclose(found.parameters, [1.698213292, 2.7983062316, 1.3824062179], atol=1e-8)  # WE-32
    assert found.design_error == pytest.approx(0.0118999575, abs=1e-8)
    np.testing.assert_allclose(found.signed_lengths, [1, 0.3573590298, 0.8791958439, 0.7233763759], atol=1e-8)
    T, b = synthesis_equations(psi, phi)
    oracle = least_squares(lambda k: T @ k - b, np.zeros(3), xtol=1e-15, ftol=1e-15, gtol=1e-15)
    np.testing.assert_allclose(found.parameters, oracle.x, atol=1e-8)
    np.testing.assert_allclose(found.parameters, np.linalg.solve(T.T @ T, T.T @ b), atol=1e-10)
    np.testing.assert_allclose(found.design_errors, T @ found.parameters - b, atol=1e-14)
    assert found.condition == pytest.approx(43.5, abs=0.05)
    assert np.abs(T.T @ found.design_errors).max() < 1e-13  # the errors are at right angles to what could be changed


@pytest.mark.spec("S2-79")
def test_pairs_that_hardly_or_do_not_determine_a_linkage():
    psi = np.array([0.7, 0.7, 0.7, 0.7])
    with pytest.raises(SingularityError, match="singular and their equations contradict"):
        function_generator(psi, [1.0, 1.2, 1.4, 1.6])
    close = np.array([0.7, 0.7 + 1e-4, 0.7 + 2e-4, 0.7 + 3e-4])
    found = function_generator(close, output_angles([5 / 3, 8 / 3, 4 / 3], close)[:, 1])
    assert found.condition > 1e7  # told, and still as good as its condition lets it be
    assert np.abs(found.parameters - [5 / 3, 8 / 3, 4 / 3]).max() < 1e-14 * found.condition
    with mpmath.workdps(50):
        T, b = synthesis_equations(close, output_angles([5 / 3, 8 / 3, 4 / 3], close)[:, 1])
        exact = mpmath.qr_solve(mpmath.matrix(T.tolist()), mpmath.matrix(b.tolist()))[0]
    assert max(abs(float(x) - k) for x, k in zip(exact, found.parameters, strict=True)) < 1e-15 * found.condition * 50


@pytest.mark.spec("S2-80")
def test_structural_errors_are_those_of_the_nearest_branch():
    found = function_generator(*THIRTY_TWO)
    error = found.structural_error()
    np.testing.assert_allclose(np.degrees(error.error), [0.0300805954, 0.3729700181, -0.4413945447, -0.2640396658,
                                                         0.1885141433, 0.3530205117, -0.2297466651], atol=1e-8)
    assert np.degrees(error.rms) == pytest.approx(0.2970094178, abs=1e-8) and error.status == "assembled"
    assert set(error.modes) == {1} and error.largest == np.abs(error.error).max()
    turned = found.structural_error(THIRTY_TWO[0], THIRTY_TWO[1] + 2 * np.pi)  # a turn more is the same angle
    np.testing.assert_allclose(turned.error, error.error, atol=1e-13)
    other = found.structural_error(THIRTY_TWO[0], found.output_angles(THIRTY_TWO[0])[:, 0])
    assert set(other.modes) == {0} and other.largest < 1e-15
    with pytest.raises(SignatureError, match="needs the outputs"):
        found.structural_error([0.1])


@pytest.mark.spec("S2-80")
def test_inputs_at_which_a_linkage_cannot_be_assembled_are_reported():
    found = function_generator(*THIRTY_THREE)  # WE-33: a small design error
    np.testing.assert_allclose(found.parameters, [1.0433665708, 0.7014718312, 0.5936094755], atol=1e-8)
    assert found.design_error == pytest.approx(0.0111081186, abs=1e-8)
    error = found.structural_error()
    assert error.unassembled == (0,) and np.isnan(error.error[0]) and np.isfinite(error.error[1:]).all()
    assert np.isnan(error.largest) and np.isnan(error.rms) and error.modes[0] == -1
    assert error.status == "cannot be assembled at the inputs 0.523599 rad"
    assert found.defects().unassembled == (0,) and "position 1 cannot be assembled" in str(found.defects())
    with pytest.raises(UnreachableError, match=r"at the input 0\.523599 rad: d = .* = 1\.00551654\d* is above 1"):
        output_angles(found.parameters, np.radians(30.0))


@pytest.mark.spec("S2-80")
def test_output_angles_where_formulas_break_down():
    np.testing.assert_allclose(np.degrees(output_angles([0.5, 2.0, 1.0], np.radians(60.0))), [-120, 60], atol=1e-12)
    # C = 0 above; d = 1: the modes meet, in one angle and not in none
    linkage = FourBar(crank=0.3, coupler=0.2, rocker=0.25, ground=0.4)
    k = freudenstein_parameters([0.4, 0.3, 0.2, 0.25])
    for theta in linkage.dead_centres().crank:
        phi = output_angles(k, theta)
        assert abs(np.sin((phi[0] - phi[1]) / 2)) < 1e-6 and np.isfinite(phi).all()
    # S = 0: the end of the input link is on the output's pivot
    with pytest.raises(SingularityError, match="every output angle closes"):
        output_angles([0.7, 1.0, 0.7], 0.0)
    with pytest.raises(UnreachableError, match="cannot be assembled at the input 0 rad"):
        output_angles([0.7, 1.0, 0.2], 0.0)
    assert np.isnan(output_angles([0.7, 1.0, 0.7], [0.0, 2.0])[0]).all()
    assert np.isnan(output_angles([np.nan, 1.0, 0.7], 0.3)).all()
    for psi in np.linspace(-3, 3, 13):  # in the order of the modes of the linkage
        np.testing.assert_allclose(output_angles(freudenstein_parameters([4.0, 1.5, 3.5, 3.0]), psi),
                                   FOUR.position(psi)[:, 1], atol=1e-12)


FOUR = FourBar(crank=1.5, coupler=3.5, rocker=3.0, ground=4.0)


def test_a_linkage_is_a_mechanism_that_moves_as_it_was_asked_to():
    found = function_generator(*THIRTY_TWO, ground=0.4)
    machine = cy.Mechanism(found.tree(masses={"crank": 0.2, "coupler": 0.5, "rocker": 0.4}))
    assert machine.loops.mobility == 1 and found.linkage.kind == found.linkage_class == "crank-rocker"
    psi = found.inputs
    path = machine.loops.follow_inputs({"crank": psi}, start=found.configuration(psi[0], 1))
    np.testing.assert_allclose(path.configuration[:, 2], found.structural_error().generated, atol=1e-9)
    run = machine.simulate(found.configuration(psi[0], 1), np.zeros(3), until=0.1)
    assert np.abs(machine.loops.residual(run.q[-1])).max() < 1e-9
    gap = found.transmission_angles()
    expected = found.linkage.transmission_angle(found.linkage.position(psi)[:, 1])
    np.testing.assert_allclose(gap, expected, atol=1e-12)


def test_branch_circuit_and_order_defects():
    crank_rocker = FourBar(crank=0.12, coupler=0.41, rocker=0.29, ground=0.37)
    assert defects_of(crank_rocker, [0.1, 2.0, 4.0], [1, 1, 1]).none
    assert defects_of(crank_rocker, [0.1, 2.0, 4.0], [1, 0, 1]).branch == (1,)
    assert not defects_of(crank_rocker, [0.0, 2.0, 1.0, 3.0], [0, 0, 0, 0]).in_order
    assert defects_of(crank_rocker, [3.0, 1.0, -1.0, -2.5], [0, 0, 0, 0]).in_order  # the other way round
    rocker = FourBar(crank=0.29, coupler=0.41, rocker=0.12, ground=0.37)  # two ranges, on both sides of the ground
    low, high = rocker.crank_limits()
    found = defects_of(rocker, [low + 0.1, high - 0.1, -low - 0.1], [0, 0, 0])
    assert found.circuit == (2,) and "circuit defect" in str(found)
    assert not defects_of(rocker, [low + 0.1, high - 0.1, low + 0.2], [0, 0, 0]).in_order
    # a search along the input agrees: what has no defect is passed without a stop
    assert np.isfinite(rocker.position(np.linspace(low + 0.1, high - 0.1, 200))).all()
    assert np.isnan(rocker.position(np.linspace(low + 0.1, -low - 0.1, 200))).any()
    pairs = np.array([0.3, 1.0, 1.8])
    outputs = np.array([FOUR.position(p)[m, 1] for p, m in zip(pairs, (0, 1, 0), strict=True)])
    assert function_generator(pairs, outputs).defects().branch == (1,)


def test_angles_in_degrees_are_doubted():
    psi, phi = [40.0, 60.0, 80.0], [70.0, 80.0, 95.0]
    with pytest.warns(ModelWarning, match=r"95 rad is more than a turn: if it is in degrees, write np\.radians"):
        function_generator(psi, phi)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        function_generator(np.radians(psi), np.radians(phi))
