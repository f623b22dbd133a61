"""Text in JavaScript beside the kernels it was written of, in a real browser: to the last bits, whatever the values."""

import itertools

import numpy as np
import pytest

import cayley as cy
from cayley.compiler.backends import backend_named
from cayley.compiler.backends.javascript import javascript_text
from cayley.compiler.iterate import iterate
from cayley.compiler.operations import CALLS, MARKS, OPERATIONS, OWN
from cayley.compiler.signature import Signature
from cayley.compiler.solving.lookup import lookup
from cayley.compiler.tracing.trace import trace
from cayley.errors import UnsupportedError
from cayley.kinematics.forward import body_poses
from cayley.model.joint_kinds import Curvilinear, Cylindrical
from cayley.model.parts import Body, Joint
from compiler import javascript
from compiler.mechanisms import solved_equations
from fuzz.random_functions import SPECIAL
from model.random_trees import KINDS, random_configuration, random_parts

pytestmark = pytest.mark.skipif(not javascript.is_there(), reason="no Chromium")
VALUES = np.array([*SPECIAL, 0.3, 2.5, -2.5, 1.5, -0.5, 98 * np.pi, 1e17, -1e300, 7.0, 4.9e-323, 4503599627370497.5])
ORDINARY = [name for name, operation in OWN.items()
            if operation.arity and not operation.is_truth and name not in {*CALLS, *MARKS, "where"}]


def traced(function, signature, inputs, name="f"):
    return trace(function, Signature.parse(signature), {}, name=name, inputs=inputs, strict=True)


@pytest.mark.parametrize("arity", [1, 2])
def test_every_operation_takes_every_value_as_numpy_does(arity):
    """NaN, infinities, zeros of both signs, numbers that are hardly there: each operation by itself."""
    chosen = [OPERATIONS[name] for name in ORDINARY if OPERATIONS[name].arity == arity]
    letters = "ab"[:arity]
    program = traced(lambda *operands: np.stack([operation(*operands) for operation in chosen]),
                     f"{','.join('()' for _ in letters)}->({len(chosen)})", list(letters))
    states = np.array(list(itertools.product(VALUES, repeat=arity))).T
    found = javascript.run(program, states)[0]
    with np.errstate(all="ignore"):
        for k, operation in enumerate(chosen):
            right = (operation.ufunc or operation)(*states)
            np.testing.assert_allclose(found[:, k], right, rtol=1e-15, atol=0, err_msg=operation.name)
            zero = right == 0
            assert (np.signbit(found[zero, k]) == np.signbit(right[zero])).all(), operation.name


def test_comparisons_and_choices_of_every_value():
    def text(a, b):
        return np.stack([cy.where(a < b, a, b), cy.where((a <= b) & ~(a == 0.0), 1.0, -0.0), (a == b) * 1.0])

    a, b = np.array(list(itertools.product(VALUES, repeat=2))).T
    found = javascript.run(traced(text, "(),()->(3)", ["a", "b"]), [a, b])[0]
    right = np.stack([np.where(a < b, a, b), np.where((a <= b) & (a != 0), 1.0, -0.0), 1.0 * (a == b)], axis=1)
    assert ((found == right) | (np.isnan(found) & np.isnan(right))).all()


@pytest.mark.parametrize("kind", [*KINDS, "cylindrical", "curvilinear"])
def test_poses_of_every_kind_of_joint(kind):
    rng = np.random.default_rng(4)
    bodies, joints, _ = random_parts(rng, [kind] if kind in KINDS else ["fixed"])
    if kind not in KINDS:
        motion = Cylindrical((0.6, 0.0, 0.8)) if kind == "cylindrical" else Curvilinear((0.0, 0.9), (), (0.0, 0.0, 0.4))
        bodies.append(Body("more", 1.0, [0.1, 0.0, 0.0], 0.1 * np.eye(3)))
        joints.append(Joint("joint", bodies[1].name, "more", motion))
    tree = cy.Mechanism.of(kind, bodies, joints).tree
    made = cy.kernel(f"({tree.nq})->(4,4)", name="pose", inputs=("q",))(
        lambda q: body_poses(tree, q)[-1].matrix)
    states = np.array([random_configuration(rng, tree) for _ in range(5)])
    found, = javascript.run(made.program(), [states])
    np.testing.assert_allclose(found, [body_poses(tree, q)[-1].matrix for q in states], rtol=0, atol=2e-15)


def test_solutions_of_equations_and_programs_that_are_called():
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(4, 3, 3)), rng.normal(size=(4, 3))
    solving = cy.kernel("(3,3),(3)->(3),(3)", name="solved_equations")(solved_equations)
    for found, right in zip(javascript.run(solving.program(), [A, b]), solving(A, b), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-13)
    panda = cy.load("panda")
    pull = cy.kernel("(7),(7)->(7)", name="pull", shared=True)(lambda q, qd: panda.bias_forces(q, qd))
    mean = cy.kernel("(7),(7)->(7)", name="mean")(lambda q, qd: 0.5 * (pull(q, qd) + pull(q, -2.0 * qd)))
    assert {node.op for node in mean.program().nodes} >= CALLS
    q, qd = rng.uniform(-1, 1, size=(2, 2, 7))
    found, = javascript.run(mean.program(), [q, qd])
    np.testing.assert_allclose(found, mean(q, qd), rtol=1e-12)


def test_a_table_is_looked_up():
    squares = lookup([0.0, 1.0, 4.0, 9.0])
    made = cy.kernel("()->()", name="square")(lambda place: squares(place))
    found, = javascript.run(made.program(), [np.array([3.0, 1.0, 0.0, 4.0, -1.0])])
    np.testing.assert_array_equal(found, [9.0, 1.0, 0.0, np.nan, np.nan])


def test_an_iteration_with_stages_samples_and_an_end():
    @cy.kernel("(2),(),(),()->(2),()", outputs=("after", "again"))
    def step(x, inflow, weight, loss):
        moved = x + weight * np.stack([inflow - loss * x[0], x[0]])
        return moved, cy.where(moved[0] < 0.5, 1.0, 0.0)

    made = iterate(step, {"x": "after"}, changing=["inflow"], cycling=["weight"], keeping=["after"],
                   repeating=("again", 7))
    x, inflow, weight = np.array([0.1, -0.2]), np.linspace(0.1, 0.6, 6), np.array([0.5, 0.25])
    right, = made(x, inflow, weight, 0.3, steps=6, every=2)
    text, = made.source("javascript", "fill").files.values()
    found = javascript.call(text.replace("export { fill };", ""), "fill(3, 2, 2, given[0], given[1], given[2], 0.3)",
                            x, inflow, weight)
    np.testing.assert_allclose(found.reshape(3, 2), right, rtol=1e-15)


def test_names_are_no_words_of_the_language_and_words_do_no_harm():
    @cy.kernel("(2),(),()->(2),()", outputs=("let", "NaN"))
    def yield_(arguments, Math, typeof):
        """*/ alert(1) /* </script>"""
        return arguments * Math, np.maximum(typeof, 1.0)

    program = yield_.program()
    let, nan = javascript.run(program, [np.array([[1.0, 2.0]]), np.array([3.0]), np.array([4.0])])
    assert let.tolist() == [[3.0, 6.0]] and nan.tolist() == [4.0]
    text = str(yield_.source("javascript", "class"))
    assert "function class_(arguments_, Math_, typeof_)" in text and "export { class_ };" in text
    assert text.count("*/") == 1 and "</" not in javascript_text(program, "f")


def test_precision_is_double_and_files_are_written(tmp_path):
    made = cy.kernel("()->()", name="third")(lambda x: x / 3)
    with pytest.raises(UnsupportedError, match="double precision only"):
        made.source("javascript", dtype=np.float32)
    source = made.source("javascript")
    assert source.write(tmp_path / "new") == (tmp_path / "new" / "third.mjs",)
    assert (tmp_path / "new" / "third.mjs").read_text() == str(source)
    assert repr(source) == "<JavaScript of third.mjs, 16 lines: print it, or write(folder)>"
    assert "<details>" in source._repr_html_()
    with pytest.raises(UnsupportedError, match="only, to be compiled elsewhere"):
        backend_named("javascript").function(made.program())
