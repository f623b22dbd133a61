"""How a kernel is called: by place or by name, `out` by its name alone, shapes before values, errors with the reason.
"""

import inspect
import multiprocessing
import pickle
import re
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

import cayley as cy
import cayley.geometry.motions as motions
import cayley.geometry.rotations as rotations
from cayley.errors import GeometryError, SignatureError, TraceError, UnsupportedError
from geometry import formulas_of_motions as fm


class Energies(NamedTuple):
    kinetic: float
    potential: float

    @property
    def total(self):
        return self.kinetic + self.potential


@cy.kernel("(n),(n)->(),()")
def energies(q, qd):
    return Energies(0.5 * qd @ qd, 9.81 * np.sum(1.0 - np.cos(q)))


@cy.kernel("(n),(n)->(),()", outputs=("double", "half"))
def scaled(q, qd):
    return 2.0 * (q @ qd), 0.5 * (q @ qd)


@cy.kernel("(n),(n)->(n)")
def torque(q, qdd):
    return 2.0 * qdd + 9.81 * np.sin(q)


def check_unit(q, x):
    if not np.allclose(np.sum(np.square(q), axis=-1), 1.0):
        raise GeometryError("q must have length one")


@cy.kernel("(4),(3)->(3)", check=check_unit)
def turned(q, x):
    t = 2.0 * np.cross(q[1:], x)
    return x + q[0] * t + np.cross(q[1:], t)


Q, X = np.array([0.0, 0.0, 0.0, 1.0]), np.array([1.0, 2.0, 3.0])
MANY = np.broadcast_to(Q, (5, 4)), np.ones((5, 3))


@pytest.mark.parametrize("kernel", [turned, turned.unchecked, rotations.rotate_by_quaternion,
                                    rotations.rotate_by_quaternion.unchecked])
def test_arguments_by_name(kernel):
    """Before and after the first call, which brings the quick way in."""
    for _ in range(2):
        by_place = kernel(Q, X)
        assert (kernel(q=Q, x=X) == by_place).all() and (kernel(x=X, q=Q) == by_place).all()
        assert (kernel(Q, x=X) == by_place).all()
        out = np.empty(3)
        assert kernel(q=Q, x=X, out=out) is out and (out == by_place).all()
        assert kernel(x=X.astype(np.float32), q=Q.astype(np.float32)).dtype == np.float32
        assert kernel(Q, x=X, dtype="float32").dtype == np.float32
        assert (kernel(q=MANY[0], x=MANY[1]) == kernel(*MANY)).all()
        with pytest.raises(SignatureError, match=r"argument 'q' of \w+ is given twice, by position and by keyword"):
            kernel(Q, X, q=Q)
        with pytest.raises(SignatureError, match="no argument or option 'p'; its arguments are q, x"):
            kernel(Q, p=X)
        with pytest.raises(SignatureError, match=r"takes 2 arguments \(q, x\), not 1"):
            kernel(q=Q)
        with pytest.raises(SignatureError, match=r"takes 2 arguments \(q, x\), not 0"):
            kernel()
    assert list(inspect.signature(kernel).parameters) == ["q", "x"]


@pytest.mark.parametrize("algebra", [cy.NUMPY, cy.MPMATH], ids=lambda algebra: algebra.name)
def test_too_few_and_too_many_arguments_of_another_algebra(algebra):
    for given in ((), (X,), (X, X, X)):
        with pytest.raises(SignatureError, match=rf"torque takes 2 arguments \(q, qdd\), not {len(given)}"):
            torque.evaluate(algebra, *given)
        with pytest.raises(SignatureError, match=rf"torque takes 2 arguments \(q, qdd\), not {len(given)}"):
            torque.evaluate(algebra, *given, n=3)


def test_names_reach_families_and_derivatives_and_traces():
    arm = cy.load("planar2r")
    q = np.array([0.3, 0.4])
    assert (arm.pose(q=q, frame="tool") == arm.pose(q, "tool")).all()
    assert (arm.inverse_dynamics(qdd=q, q=q, qd=q) == arm.inverse_dynamics(q, q, q)).all()
    assert (torque.jacobian("q")(qdd=q, q=q) == torque.jacobian("q")(q, q)).all()
    inside = cy.kernel("(n)->(n)")(lambda q: torque(qdd=2.0 * q, q=q))
    assert np.allclose(inside(q), torque(q, 2.0 * q), rtol=1e-15)
    assert (torque.parallel(2)(np.ones((4, 2)), qdd=np.ones((4, 2))) == torque(np.ones((4, 2)), np.ones((4, 2)))).all()


def test_an_input_may_have_the_name_of_an_option():
    product = cy.kernel("(),()->()")(lambda axes, order: axes * order)
    assert product(axes=2.0, order=3.0) == 6.0 and product(2.0, order=3.0) == 6.0


@pytest.mark.parametrize("call", [
    lambda other: torque(X, X, other), lambda other: turned(Q, X, other), lambda other: turned.unchecked(Q, X, other),
    lambda other: rotations.rotation_angle(np.eye(3), other), lambda other: rotations.quaternion_angle(Q, other),
    lambda other: motions.inverse_pose(np.eye(4), other),
    lambda other: rotations.rotation_vector_from_matrix(np.eye(3), other),
    lambda other: torque(X, X, other, other), lambda other: energies(X, X, other, other),
    lambda other: torque(X, X, other, out=X.copy()), lambda other: torque(X, X, other.tolist()),
    lambda other: torque.parallel(2)(np.ones((4, 3)), np.ones((4, 3)), other),
    lambda other: torque(X, X, None),
])
@pytest.mark.parametrize("shape", [(), (3,), (3, 3), (4, 4), (4, 3)])
def test_a_surplus_argument_is_refused_and_left_alone(call, shape):
    other = np.full(shape, 7.0)
    for _ in range(2):
        with pytest.raises(SignatureError, match=r"takes \d arguments? .*result is given as out="):
            call(other)
    assert (other == 7.0).all()


@pytest.mark.parametrize("call, message", [
    (lambda: turned(Q, np.ones(4)), r"'x' has shape \(4,\), which does not fit \(3\)"),
    (lambda: turned(np.ones(3), X), r"'q' has shape \(3,\), which does not fit \(4\)"),
    (lambda: turned(2.0, X), r"'q' has shape \(\), but its core shape is \(4\)"),
    (lambda: turned(np.ones((2, 4)), np.ones((3, 3))), r"leading axes .* do not broadcast: q \(2,\), x \(3,\)"),
    (lambda: turned.parallel(2)(np.ones((2, 4)), np.ones((3, 3))), "do not broadcast: q"),
    (lambda: torque(np.ones((2, 3)), np.ones((4, 3))), r"do not broadcast: q \(2,\), qdd \(4,\)"),
    (lambda: motions.transform_line(np.eye(4), X), "line"),
    (lambda: rotations.rotate_by_quaternion(Q, np.ones(2)), "'x' has shape"),
    (lambda: rotations.rotation_angle(np.ones((3, 4))), r"'\w+' has shape \(3, 4\)"),
    (lambda: motions.inverse_pose(np.eye(3)), r"'\w+' has shape \(3, 3\)"),
])
def test_shapes_are_looked_at_before_values(call, message):
    with pytest.raises(SignatureError, match=message):
        call()


def test_every_checked_kernel_of_the_geometry_looks_at_shapes_first():
    found = [getattr(module, name) for module in (rotations, motions) for name in dir(module)]
    kernels = [k for k in found if isinstance(k, cy.Kernel)]
    places = [(k, place) for k in kernels if k._check for place, core in enumerate(k.signature.inputs)
              if any(isinstance(d, int) for d in core)]
    assert len(places) > 50
    for kernel, place in places:
        for shape in ((), (7,) * len(kernel.signature.inputs[place])):
            arguments = [np.ones([3 if isinstance(d, str) else d for d in core]) for core in kernel.signature.inputs]
            arguments[place] = np.ones(shape)
            with pytest.raises(SignatureError, match=kernel.inputs[place]):
                kernel(*arguments)


def test_core_axes_elsewhere():
    q, x = np.tile(Q[:, None], 5), np.arange(15.0).reshape(3, 5)
    wanted = turned(q.T, x.T)
    assert (turned(q, x, axis=0) == wanted.T).all() and (turned(q, x, axes=[0, 0, 0]) == wanted.T).all()
    assert (turned(q=q, x=x.T, axes=[(0,), (1,), (1,)]) == wanted).all()
    assert (torque(x, x, axis=0) == torque(x.T, x.T).T).all() and (torque(x, x, axis=-1) == torque(x, x)).all()
    total = cy.kernel("(n)->()")(lambda q: np.sum(q))
    assert (total(x, axis=0) == x.sum(axis=0)).all()
    assert (total(x, axis=0, keepdims=True) == x.sum(axis=0, keepdims=True)).all()
    with pytest.raises(GeometryError, match="length one"):
        turned(2.0 * q, x, axis=0)
    product = cy.kernel("(m,n),(n)->(m)")(lambda a, b: a @ b)
    for wrong in ({"axis": 5}, {"axis": "first"}, {"axes": [0]}, {"axes": 3}, {"axis": 0, "axes": [0, 0, 0]},
                  {"axes": [(0, 1), 0, 0]}):
        with pytest.raises(SignatureError, match=r"ax[ie]s="):
            torque(x, x, **wrong)
    with pytest.raises(SignatureError, match=r"takes no axis=0"):
        product(np.ones((2, 3)), np.ones(3), axis=0)
    with pytest.raises(UnsupportedError, match="keepdims"):
        torque(x, x, keepdims=True)


def test_results_into_symbols():
    def law(x, y):
        torque(x, y, out=y)
        return 2.0 * y

    assert np.allclose(cy.kernel("(n),(n)->(n)")(law)(X, X), 2.0 * torque(X, X), rtol=1e-15)
    for inside in (lambda x: torque(x, x, axis=0), lambda x: torque(x, x, dtype=np.float32),
                   lambda x: torque(x, x, out=np.zeros(3)), lambda x: torque(x, x[:2])):
        with pytest.raises(TraceError):
            cy.kernel("(n)->(n)")(inside)(X)


def test_names_of_arguments_and_results():
    with pytest.raises(SignatureError, match="the name 'a' is given to two inputs"):
        cy.kernel("(),()->()", inputs=["a", "a"])
    with pytest.raises(SignatureError, match="3 input names"):
        cy.kernel("(),()->()", inputs=["a", "b", "c"])
    for outputs in (("a", "a"), ("lambda", "b"), ("2b", "c"), ("_a", "b"), ("a b", "c"), ("", "c")):
        with pytest.raises(SignatureError, match="name"):
            cy.kernel("()->(),()", outputs=outputs)
    for outputs in (("lambda", "b"), ("2b", "c"), ("_a", "b")):
        with pytest.raises(SignatureError, match="name"):
            cy.kernel("()->(),()")(lambda x, outputs=outputs: dict.fromkeys(outputs, x))(1.0)
    for signature in ("(²)->(2)", "(2)->(²)", "(2²)->()"):
        with pytest.raises(SignatureError, match="neither a number nor a name"):
            cy.kernel(signature)


def test_more_operands_than_numpy_has():
    names = [f"x{k}" for k in range(64)]
    total = cy.kernel(",".join(["()"] * 64) + "->()", inputs=names, name="total")(lambda *x: sum(x))
    with pytest.raises(SignatureError, match="total has 65 arguments and results; NumPy calls functions of at most 64"):
        total(*range(64))
    assert total.evaluate(cy.NUMPY, *range(64)) == sum(range(64))
    fewer = cy.kernel(",".join(["()"] * 63) + "->()", inputs=names[:63])(lambda *x: sum(x))
    assert fewer(*range(63)) == sum(range(63))


class Strange:
    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return NotImplemented


class Measured(np.ndarray):
    """An array of somebody else."""


def test_arguments_of_other_kinds():
    with pytest.raises(UnsupportedError, match="'qdd' of torque is object"):
        torque(X, Strange())
    with pytest.raises(UnsupportedError, match="return arrays must be of ArrayType"):
        torque(X, X, out=[1.0, 2.0, 3.0])
    with pytest.raises(SignatureError, match="out"):
        torque(X, X, out=(np.empty(3), np.empty(3)))
    with pytest.raises(UnsupportedError, match="cast"):
        torque(X, X, out=np.empty(3, dtype=int))
    assert isinstance(torque(X.view(Measured), X), Measured)


def test_inside_jax_the_way_is_named():
    jax = pytest.importorskip("jax")
    for transform in (jax.jit, jax.vmap, jax.jacfwd):
        with pytest.raises(UnsupportedError, match=r"torque\.evaluate\(cy\.JAX, \.\.\.\)"):
            transform(lambda q: torque(q, q))(np.ones((3, 3)))
    assert np.allclose(jax.jit(lambda q: torque.evaluate(cy.JAX, q, q))(X), torque(X, X), rtol=1e-5)


@pytest.mark.parametrize("inside", [
    lambda x: motions.compose_all_poses(x[:0].reshape(0, 4, 4))[0, :1] + x[:1],
    lambda x: x[:1] + np.sum(torque(x[:0], x[:0])),
    lambda x: torque(np.zeros_like(x[:1]), np.ones_like(x[:1])),
    lambda x: np.sum(turned(np.zeros((0, 4)), x[:0].reshape(0, 3))) + x[:1],
])
def test_a_kernel_on_nothing_inside_a_trace(inside):
    law = cy.kernel("(3)->(1)")(inside)
    assert np.allclose(law(X), law.reference(X), rtol=1e-15)


def test_products_of_nothing_are_identities():
    for batch in ((), (2,)):
        for kernel, core, identity in (
                (rotations.compose_all_vector_parameters, (3,), np.zeros(3)),
                (rotations.compose_all_homogeneous, (4,), [1.0, 0.0, 0.0, 0.0]),
                (motions.compose_all_poses, (4, 4), np.eye(4)), (motions.pose_of_chain, (4,), np.eye(4)),
                (fm.chain_closure, (4,), np.zeros(6))):
            expected = np.broadcast_to(identity, (*batch, *np.shape(identity)))
            assert np.array_equal(kernel(np.zeros((*batch, 0, *core))), expected)
        assert motions.joint_lines(np.zeros((*batch, 0, 4))).moments.shape == (*batch, 0, 3)
    assert motions.dual_angular_velocity(np.zeros((0, 4)), [], []).angular.tolist() == [0.0] * 3


def test_results_are_of_the_class_that_the_function_returns():
    one, many = energies([0.1, 0.2], [1.0, 2.0]), energies(np.ones((4, 2)), np.ones((4, 2)))
    quick = energies(np.array([0.1, 0.2]), np.array([1.0, 2.0]))
    on_threads = energies.parallel(2)(np.ones((4, 2)), np.ones((4, 2)))
    for result in (one, many, quick, on_threads, energies.evaluate(cy.NUMPY, X, X)):
        assert type(result) is Energies
    assert one.total == one.kinetic + one.potential == quick.total
    inside = cy.kernel("(n)->()")(lambda q: energies(q, q).total)
    assert np.isclose(inside(X), energies(X, X).total, rtol=1e-15)
    assert isinstance(rotations.axis_angle_from_matrix(np.eye(3)), rotations.AxisAngle)
    renamed = cy.kernel("()->(),()", outputs=("a", "b"))(lambda x: Energies(x, 2.0 * x))
    assert renamed(1.0)._fields == ("a", "b")
    copy = pickle.loads(pickle.dumps(cy.kernel("()->(),()", name="local")(lambda x: Energies(x, 2.0 * x))))
    assert type(copy(1.0)) is Energies


def test_results_are_shown_with_their_names():
    assert repr(scaled(X, X)) == f"scaled_results(double={2.0 * X @ X!r}, half={0.5 * X @ X!r})"
    unnamed = cy.kernel("()->(),()", name="<>", outputs=("a", "b"))(lambda x: (x, x + 1.0))
    assert repr(unnamed(1.0)).startswith("kernel_results(a=")


def test_a_family_says_which_kernel_has_what_is_asked_of_it():
    arm = cy.load("planar2r")
    for family, name, choice in ((arm.pose, "pose", "frame=..."), (arm.jacobian, "jacobian", "frame=..., axes=...")):
        with pytest.raises(AttributeError, match=re.escape(f"the choice says of which: {name}.c_source({choice})")):
            family.c_source("f")
        assert f"{name}.operations({choice})" in repr(family.operations)
    assert arm.pose.of("tool").operations() == arm.pose.of(frame="tool").operations()


def test_results_and_families_are_pickled():
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        for result in (scaled(X, X), scaled(np.ones((4, 2)), np.ones((4, 2))), energies(X, X)):
            again = pickle.loads(pickle.dumps(result, protocol))
            assert type(again) is type(result) and again._fields == result._fields
            assert all((a == b).all() for a, b in zip(again, result, strict=True))
    arm = cy.load("planar2r")
    pose, jacobian = pickle.loads(pickle.dumps((arm.pose, arm.jacobian)))
    q = np.array([0.3, 0.4])
    assert (pose(q, "tool") == arm.pose(q, "tool")).all()
    assert (jacobian(q, "tool", axes="world") == arm.jacobian(q, "tool", axes="world")).all()
    assert (jacobian.of("tool", axes="body")(q) == arm.jacobian(q, "tool", axes="body")).all()
    assert list(inspect.signature(arm.pose).parameters) == list(inspect.signature(pose).parameters)


FORKED = """
import multiprocessing, numpy as np, cayley as cy
from cayley.geometry.rotations import AxisAngle, axis_angle_from_matrix
arm, q = cy.load("planar2r"), np.array([0.3, 0.4])
with multiprocessing.get_context("fork").Pool(1) as pool:
    assert (pool.apply(arm.pose, (q, "tool")) == arm.pose(q, "tool")).all()
    assert isinstance(pool.apply(axis_angle_from_matrix, (np.eye(3),)), AxisAngle)
    assert np.array_equal(pool.apply(arm.linearize, (q, q, q))[0], arm.linearize(q, q, q)[0])
"""


def test_results_come_back_from_a_fork():
    """In a process of its own, as this one has threads."""
    subprocess.run([sys.executable, "-c", FORKED], check=True)


@pytest.mark.parametrize("start", ["forkserver", "spawn"])
def test_results_come_back_from_other_processes(start):
    arm, q = cy.load("planar2r"), np.array([0.3, 0.4])
    with multiprocessing.get_context(start).Pool(1) as pool:
        def there(function, *arguments):
            # a worker that cannot find this module dies without an answer
            return pool.apply_async(function, arguments).get(60)

        assert (there(arm.pose, q, "tool") == arm.pose(q, "tool")).all()
        assert there(scaled, X, X) == scaled(X, X) and there(energies, X, X) == energies(X, X)
        assert type(there(energies, X, X)) is Energies
