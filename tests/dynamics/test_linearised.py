"""Sensitivity matrices by every route beside the complex step of inverse dynamics, and the library of partial
derivatives behind them.
"""

import pkgutil
import re
from importlib import import_module
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import cayley as cy
import cayley.dynamics
from cayley.compiler.algebras.packages import SYMPY
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import composite_bodies
from cayley.dynamics.inverse.augmented_bodies import augmented_links
from cayley.dynamics.inverse.augmented_links import passes
from cayley.dynamics.inverse.newton_euler import inverse_dynamics, movements
from cayley.dynamics.inverse.passes import FREE, STILL
from cayley.dynamics.linearised import algorithm_7_1, recursive
from cayley.dynamics.linearised.closed_form_for_trees import composite_rates
from cayley.dynamics.linearised.kernels import linearize_kernel
from cayley.dynamics.linearised.methods import METHODS
from cayley.dynamics.linearised.nominal import nominal
from cayley.dynamics.linearised.partials import partial_derivatives
from cayley.dynamics.rigid_links.links import links_of, serial_chain
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.dynamics.rigid_links.transforms import moving_transforms
from cayley.errors import ConventionError, UnsupportedError
from cayley.geometry.tensors.cross import skew
from cayley.kinematics.forward import frame_pose
from dynamics import symbol_names
from dynamics.chains import EVERY_SHORT_PATTERN, random_chain, random_state
from dynamics.structural_facts import structural_facts
from dynamics.symbol_names import SYMBOLS, counterpart
from dynamics.test_inverse_dynamics import random_tree
from dynamics.test_sensitivities import complex_step

LONG = ("RRRRRR", "RRPRRR", "PRRPRR", "RPRPPR", "PPPRRR", "PPPPPP")


def close(ours, true, tolerance=1e-13):
    np.testing.assert_allclose(ours, true, rtol=0, atol=tolerance * max(1.0, np.abs(true).max(initial=0.0)))


@pytest.mark.spec("S1-86", "S1-88", "S1-89")
@pytest.mark.parametrize("pattern", EVERY_SHORT_PATTERN + LONG)
def test_every_method_agrees_with_the_complex_step(pattern):
    for frames in ("modified", "any"):
        tree = random_chain(pattern, 7, frames=frames)
        state = random_state(tree, 7)
        exact = complex_step(links_of(tree), *state)
        for name, method in METHODS.items():
            if name in ("newton-euler-columns", "differentiation") and frames == "any":
                continue  # slow, and the same for all frames
            for ours, true in zip(method.text(tree, "sensitivities")(*state), exact, strict=True):
                close(ours, true)


# Worked examples: spec G1 to G4


def family_state(n):
    i = np.arange(1, n + 1)
    return 0.2 * i - 0.5, 0.3 - 0.1 * i, 0.05 * i**2 - 0.3


@pytest.mark.parametrize("method", METHODS)
def test_planar_arm_in_closed_form(method):
    q, qd, qdd = np.array([[0.3, -0.7], [0.5, 1.2], [-0.4, 0.8]])
    D, V, P = METHODS[method].text(cy.load("s1_g1").tree, "sensitivities")(q, qd, qdd)
    np.testing.assert_allclose(D, [[3.3078106247, 0.7489053124], [0.7489053124, 0.29]], atol=1e-9)
    np.testing.assert_allclose(V, [[0.9276734696, 1.3142040820], [-0.3865306123, 0]], atol=1e-9)
    np.testing.assert_allclose(P, [[-4.9555167055, 1.0806063382], [2.2921163628, 2.2522304460]], atol=1e-9)


def test_turning_sliding_turning_arm():
    D, V, P = linearize_kernel(cy.load("s1_g2").tree)(*family_state(3))
    np.testing.assert_allclose(
        D, [[1.5578660344, -1.6383747851, -0.1456862192], [-1.6383747851, 4.1666666667, 0.2557186530],
            [-0.1456862192, 0.2557186530, 0.1208333333]], atol=1e-9)
    np.testing.assert_allclose(V, [[-0.0643343757, -0.1286687514, 0.0173613178], [0.1286687514, 0, -0.0301566024],
                                   [-0.0022830166, 0.0301566024, 0]], atol=1e-9)
    np.testing.assert_allclose(
        P, [[4.8140089153, -6.2579647214, 0.2502849520], [-6.5481216230, -0.1180122364, 0.0343277284],
            [0.2700750992, -0.0237293107, -0.5695395511]], atol=1e-9)


@pytest.mark.parametrize("name, norms, sums, traces, corners",
                         [("s1_g3", (18.1228516970, 1.6522335294, 45.8895792299),
                           (17.0565756700, 0.1345127251, 70.9119548276), (25.3820873817, 1.1075077290, 74.3388795602),
                           (-0.1370575908, 0.1316505538, -0.0396980429, -0.3441751525, -0.0088983283)),
                          ("s1_g4", (17.7331544738, 1.8026028502, 51.2866959617),
                           (9.3152522378, -0.1036912501, 27.1143903971), (23.4702469179, 0.0186303744, 61.8074609898),
                           (-0.1824870403, -0.0531251077, 0.0922039013, -0.8993539549, -0.7893466168))])
def test_six_joints(name, norms, sums, traces, corners):
    D, V, P = linearize_kernel(cy.load(name).tree)(*family_state(6))
    np.testing.assert_allclose([np.linalg.norm(x) for x in (D, V, P)], norms, atol=1e-8)
    np.testing.assert_allclose([x.sum() for x in (D, V, P)], sums, atol=1e-8)
    np.testing.assert_allclose([np.trace(x) for x in (D, V, P)], traces, atol=1e-8)
    np.testing.assert_allclose([D[0, 5], V[0, 5], V[5, 0], P[0, 5], P[5, 0]], corners, atol=1e-9)


# The rate tensor and structural facts


@pytest.mark.spec("S1-87")
@pytest.mark.parametrize("pattern", ["R", "RR", "RPR", "PRPR", "RRPRRP"])
def test_rate_tensor(pattern):
    """By its definition, by the recursion of the source, and as the symmetric and skew parts of its double."""
    tree = random_chain(pattern, 3)
    chain, (q, qd, qdd) = serial_chain(tree), random_state(tree, 3)
    motion = nominal(chain, q, qd, qdd)
    augmented, states, _ = passes(chain, q, qd, qdd, STILL, FREE, None)
    moved = movements(chain, q, qd, qdd)
    rates = composite_rates(chain, q, qd, moved, composite_bodies(chain, q))
    body = algorithm_7_1.OuterLinks(np.zeros(3), np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3)))
    for i in reversed(range(len(pattern))):
        definition = np.zeros((3, 3))
        for link in motion.links[i:]:
            m, r = link.own.mass, link.s - motion.links[i].s + link.own.center
            rate = link.ds - motion.links[i].ds + np.cross(link.w, link.own.center)
            central = link.own.inertia_about_center
            definition += skew(link.w) @ (np.trace(central) / 2 * np.eye(3) - central) + m * skew(r) @ skew(rate)
        R = motion.links[i].R
        body = algorithm_7_1._body(augmented.links, states, i, body, q, qd)
        twice = rates[i].dJ - np.trace(rates[i].dJ) * np.eye(3) + skew(rates[i].h)
        close(motion.carried[i].L, definition)
        close(R @ body.L @ R.T, definition)
        close(R @ twice @ R.T / 2, definition)


@pytest.mark.spec("S1-90")
def test_structural_facts():
    for pattern in ("RRPRR", "RRRRRR", "PRRP"):
        tree = random_chain(pattern, 5)
        links, (q, v, a) = links_of(tree), random_state(tree, 5)
        D, V, P = METHODS["algorithm-7.1"].text(tree, "sensitivities")(q, v, a)
        np.testing.assert_allclose(D, D.T, atol=1e-14)
        assert (np.linalg.eigvalsh(D) > 0).all()
        assert abs(V[-1, -1]) < 1e-13
        still = 0 * v
        close(V @ v, 2 * (inverse_dynamics(links, q, v, still) - inverse_dynamics(links, q, still, still)))
        _, V_rest, P_rest = METHODS["algorithm-7.1"].text(tree, "sensitivities")(q, still, still)
        close(V_rest, np.zeros_like(V))
        close(P_rest, P_rest.T)
        first = nominal(serial_chain(tree), q, v, a).links[0]
        np.testing.assert_allclose([first.dz, first.ddz], 0, atol=1e-14)
        jerk = np.random.default_rng(0).normal(size=len(v))  # along a motion, dtau/dt = D jerk + V qdd + P qd
        h = 1e-5
        values = [
            inverse_dynamics(links, q + s * v + s * s / 2 * a, v + s * a + s * s / 2 * jerk, a + s * jerk)
            for s in (-h, h)]
        np.testing.assert_allclose(D @ jerk + V @ a + P @ v, (values[1] - values[0]) / (2 * h), rtol=1e-6, atol=1e-6)
        facts = structural_facts(tree, q, v, a)
        assert all(
            facts[:6]) and facts.first_column_of_P_is_zero == facts.first_column_of_V_is_zero == (pattern[0] == "P")
        assert not facts.P_is_symmetric and structural_facts(tree, q, still, still).P_is_symmetric
        assert not any(
            structural_facts(tree, q, v, a, [1.01 * D + np.triu(D), V + np.eye(len(v)), P])[k] for k in (0, 2, 3, 4, 5))
    assert np.abs(P[:, 0]).max() < 1e-13  # joint 1 slides: nothing depends on where it is
    assert np.abs(V[:, 0]).max() < 1e-13


def test_first_joint_along_gravity_and_sliding_arms():
    tree = random_chain("RRR", 6)
    upright = tree.with_gravity(-9.81 * tree.joints[0].placement[:3, 2])
    P = METHODS["algorithm-7.1"].text(upright, "sensitivities")(*random_state(tree, 6)).P
    assert np.abs(P[:, 0]).max() < 1e-13
    sliding = random_chain("PPPP", 6)
    _, V, P = METHODS["algorithm-7.1"].text(sliding, "sensitivities")(*random_state(sliding, 6))
    assert max(np.abs(V).max(), np.abs(P).max()) < 1e-13


# Models


@pytest.mark.spec("S1-82")
def test_what_first_order_leaves_is_of_second_order():
    tree = random_chain("RPRR", 8)
    state, direction = np.array(random_state(tree, 8)), np.random.default_rng(8).normal(size=(3, 4))
    links = links_of(tree)
    D, V, P = METHODS["algorithm-7.1"].text(tree, "sensitivities")(*state)
    tau = inverse_dynamics(links, *state)
    steps = np.array([1e-2, 1e-3])
    left = [
        np.linalg.norm(
            inverse_dynamics(links, *(state + h * direction)) - tau
            - h * (P @ direction[0] + V @ direction[1] + D @ direction[2])) for h in steps]
    assert np.log10(left[0] / left[1]) == pytest.approx(2.0, abs=0.05)


@pytest.mark.spec("S1-84")
@pytest.mark.parametrize("pattern", ["R", "P", "RPRP", "RRPRRR"])
def test_recursive_model(pattern):
    tree = random_chain(pattern, 9)
    chain, state = serial_chain(tree), random_state(tree, 9)
    perturbation = np.random.default_rng(9).normal(size=(3, len(pattern)))
    D, V, P = complex_step(links_of(tree), *state)
    ours = recursive.perturbed_forces(chain, *state, *perturbation)
    close(ours, P @ perturbation[0] + V @ perturbation[1] + D @ perturbation[2])


def test_recursive_model_takes_operations_in_proportion_to_the_joints():
    counts = []
    for n in (4, 6, 8):
        chain = serial_chain(random_chain("R" * n, 1))
        signature = ",".join([f"({n})"] * 6) + f"->({n})"
        text = cy.kernel(signature)(
            lambda q, a, b, c, d, e, chain=chain: recursive.perturbed_forces(chain, q, a, b, c, d, e))
        counts.append(text.operations().multiplications)
    assert counts[2] - counts[1] == pytest.approx(counts[1] - counts[0], rel=0.05)


# Appendix C


def quantities(chain, q, qd, qdd):
    """What the library differentiates, in the axes of link i, straight from the recursions."""
    _, states, sums = passes(chain, q, qd, qdd, STILL, FREE, None)
    n = len(states)
    found = {"angular_velocity": [skew(s.w) for s in states], "acceleration_tensor": [s.Om for s in states],
             "angular_acceleration": [s.wd for s in states], "augmented_torque": [s.mu for s in states],
             "origin": [s.sdd for s in states], "first_moment": [s.Udd for s in sums], "moment": [s.eta for s in sums]}
    ways = []
    for i in range(n):
        way = np.zeros(3) * q[0]
        if i + 1 < n:
            link, w = chain.links[i + 1], states[i].w
            way = states[i].Om @ link.offset(q)
            if link.is_prismatic:
                z = link.placement[:3, 2]
                way = way + 2 * np.cross(w, z) * qd[i + 1] + z * qdd[i + 1]
        ways.append(way)
    found["way_to_next"] = ways
    moving = moving_transforms(chain, q, qd, qdd)
    for k, name in enumerate(("W", "dW", "ddW")):
        found[f"rotation {k}"] = [getattr(m, name)[:3, :3] for m in moving]
    for i, link in enumerate(chain.links):
        A, Q = link.rotation(q), skew(np.array([0.0, 0.0, float(link.is_revolute)]))
        for k, value in enumerate((A, A @ Q * qd[i], A @ Q @ Q * qd[i] ** 2 + A @ Q * qdd[i])):
            found.setdefault(f"link_rotation {k}", []).append(value)
    return found


@pytest.mark.spec("S1-100")
@pytest.mark.parametrize("pattern", ["RRR", "RPR", "PRP", "RRPR", "PPP", "RPPR"])
def test_library_of_partial_derivatives(pattern):
    tree = random_chain(pattern, 4)
    chain, state = serial_chain(tree), random_state(tree, 4)
    library, n = partial_derivatives(chain, *state), len(pattern)
    for place, j in product(range(3), range(n)):
        moved = [np.asarray(x, dtype=complex) for x in state]
        moved[place][j] += 1e-30j
        for name, values in quantities(chain, *moved).items():
            method, _, rate = name.partition(" ")
            for i in range(n):
                ours = getattr(library, method)(i, j)
                ours = ours[int(rate)] if rate else ours
                close(ours[place], values[i].imag / 1e-30)


@pytest.mark.spec("S1-101")
def test_symbols_are_what_they_are_said_to_be():
    """Inertia tensor I, Euler tensor J, Jacobian J, and the tensors of augmented and generalized links: by their
    definitions.
    """
    tree = random_chain("RRPR", 6)
    chain, q = serial_chain(tree), random_state(tree, 6)[0]
    moments = chain.links[2].moments
    I_c, J_c, c = (counterpart(s) for s in ("I_ci", "J_ci", "c_i"))
    own = moments.second - moments.mass * np.outer(moments.center, moments.center)
    assert counterpart("m_i").__get__(moments) == moments.mass == tree.bodies[3].mass
    close(J_c.__get__(moments), own)  # about the centre of mass, as I_ci is
    close(I_c.__get__(moments), np.trace(own) * np.eye(3) - own)  # I = tr(J) 1 - J
    close(np.linalg.eigvalsh(I_c.__get__(moments)), np.linalg.eigvalsh(tree.bodies[3].inertia))
    close(moments.mass * c.__get__(moments), moments.first)
    found = zip(counterpart("E_oi")(chain, q), counterpart("U_oi")(chain, q), augmented_links(chain, q).links,
                strict=True)
    for first, (E, U, augmented) in enumerate(found):
        R, p = np.eye(3), np.zeros(3)  # of link i, in the axes of the first one
        mass, moment, inertia = 0.0, np.zeros(3), np.zeros((3, 3))
        for i, link in enumerate(chain.links[first:]):
            R, p = (R, p) if i == 0 else (R @ link.rotation(q), p + R @ link.offset(q))
            m, r = link.moments.mass, p + R @ link.moments.center
            mass, moment = mass + m, moment + m * r
            inertia = inertia + R @ link.moments.inertia_about_center @ R.T + m * (r @ r * np.eye(3) - np.outer(r, r))
        close(E.inertia, inertia)
        close(U.first, moment)
        close(augmented.moments.mass, mass)
    D, J, v = counterpart("D")(tree), counterpart("J"), random_state(tree, 6)[1]
    step = 1e-6
    moved = (frame_pose(tree, q + step * v, "tool").p - frame_pose(tree, q - step * v, "tool").p) / (2 * step)
    assert np.abs(J(tree, q, "tool", axes="world")[:3] @ v - moved).max() < 1e-8
    close(D(q), counterpart("IDP")(tree).jacobian("qdd")(q, v, v))
    assert np.abs(counterpart("FDP")(tree)(q, v, counterpart("IDP")(tree)(q, v, v)) - v).max() < 1e-9


@pytest.mark.spec("S1-101")
@pytest.mark.parametrize("symbol", SYMBOLS)
def test_symbols_are_used_and_documented_under_their_names(symbol):
    """The name stands in the text of other modules or of their tests, and the documentation of what it names says what
    the symbol means.
    """
    module, _, path = SYMBOLS[symbol].place.partition(":")
    root, last = Path(cayley.__file__).parent, path.split(".")[-1]
    own = (root.joinpath(*module.split(".")[1:]).with_suffix(".py"), Path(symbol_names.__file__))
    files = [file for folder in (root, Path(__file__).parents[1]) for file in folder.rglob("*.py") if file not in own]
    used = any(re.search(rf"\b{last}\b", file.read_text(encoding="utf-8")) for file in files)
    assert used, f"{last} is used nowhere"
    owner = getattr(import_module(module), path.split(".")[0])
    said = " ".join(str(part.__doc__) for part in (counterpart(symbol), owner, import_module(module))).lower()
    words = [
        word for word in re.findall(r"[a-z]{4,}", SYMBOLS[symbol].meaning.lower())
        if word not in ("from", "that", "here", "needs")]
    assert any(word.rstrip("s") in said for word in words), (symbol, words)


@pytest.mark.spec("S1-101")
def test_the_letter_j_is_never_both_tensor_and_jacobian_in_one_module():
    places = [SYMBOLS[symbol].place for symbol in ("I_ci", "J_ci", "J", "D", "E_oi", "K_oi", "K̂_oi")]
    assert len(set(places)) == len(places)
    tensors = 0
    for found in pkgutil.walk_packages(cayley.dynamics.__path__, "cayley.dynamics."):
        module = import_module(found.name)
        lines = [line for line in (module.__doc__ or "").splitlines() if re.search(r"(^|[\s,(])J([\s,.;)]|$)", line)]
        if any(re.search(r"moments|Euler tensor|pseudo-inertia", line) for line in lines):
            tensors += 1
            assert not [name for name in vars(module) if "jacobian" in name.lower()], found.name
    assert tensors >= 5
    page = (Path(__file__).parents[2] / "docs" / "robots" / "linearised.md").read_text(encoding="utf-8")
    assert "letter J" in page
    for symbol, (meaning, place) in SYMBOLS.items():
        assert f"| {symbol} | {meaning} | `{place.replace(':', '.')}` |" in page, symbol


# Baselines


@pytest.mark.spec("S1-102")
@pytest.mark.parametrize("pattern", ["R", "PR", "RPR", "PRP", "planar3r"])
def test_baselines(pattern):
    """4x4 matrices, Newton-Euler line by line, and equations generated as symbols."""
    tree = cy.load(pattern).tree if pattern == "planar3r" else random_chain(pattern, 11, twists="special")
    state = random_state(tree, 11)
    exact = METHODS["algorithm-7.1"].text(tree, "sensitivities")(*state)
    for name in ("lagrange-4x4", "newton-euler-columns"):
        for ours, true in zip(METHODS[name].text(tree, "sensitivities")(*state), exact, strict=True):
            close(ours, true)
    import sympy
    n, links = tree.nv, minimal_links(tree)
    symbols = [sympy.symbols([f"{letter}{k}" for k in range(n)]) for letter in ("q", "v", "a")]
    tau = cy.kernel(f"({n}),({n}),({n})->({n})")(lambda q, v, a: inverse_dynamics(links, q, v, a)).evaluate(
        SYMPY, *symbols)
    matrices = linearize_kernel(tree).evaluate(SYMPY, *symbols)
    values = {
        symbol: value
        for group, numbers in zip(symbols, state, strict=True)
        for symbol, value in zip(group, numbers, strict=True)}
    for variables, own, true in zip(reversed(symbols), matrices, exact, strict=True):
        for generated in (tau.jacobian(variables), own):
            close(np.array(generated.evalf(subs=values).tolist(), dtype=float), true)


def test_methods_by_name():
    arm = cy.load("planar2r").tree
    linearize = linearize_kernel(arm)
    state = np.random.default_rng(0).normal(size=(3, 5, 2))
    for name in METHODS:
        for ours, default in zip(linearize.using(name)(*state), linearize(*state), strict=True):
            close(ours, default)
    with pytest.raises(ConventionError, match="did you mean"):
        linearize.using("algorithm-7.2")
    with pytest.raises(UnsupportedError, match="joint 'joint"):
        METHODS["direct"].text(random_tree(0), "sensitivities")
