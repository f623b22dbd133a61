"""A kernel is everything that NumPy promises of a generalized ufunc."""

import pickle
import subprocess
import sys
import threading
from typing import NamedTuple

import numpy as np
import pytest

import cayley as cy
from cayley.compiler.native.llvm import Core
from cayley.compiler.native.loop import batch_loop
from cayley.errors import SignatureError, TraceError, UnsupportedError


@cy.kernel("(n),(n)->(n)")
def pendulum_torque(q, qdd):
    return 2.0 * qdd + 9.81 * np.sin(q)


def expected(q, qdd):
    return 2.0 * np.asarray(qdd, float) + 9.81 * np.sin(np.asarray(q, float))


class Energies(NamedTuple):
    kinetic: float
    potential: float


@cy.kernel("(n),(n)->(),()")
def energies(q, qd):
    return Energies(0.5 * qd @ qd, 9.81 * np.sum(1.0 - np.cos(q)))


@cy.kernel("(m,n),(n,p)->(m,p)")
def product(a, b):
    return a @ b


@pytest.fixture
def random():
    return np.random.default_rng(12345)


@pytest.mark.parametrize("batch", [(), (0,), (1,), (2,), (7,), (8,), (9,), (17,), (100,), (3, 5), (2, 0, 4), (1, 1, 1)])
@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 30])
def test_leading_axes_are_a_batch(random, batch, n):
    q, qdd = random.normal(size=(2, *batch, n))
    result = pendulum_torque(q, qdd)
    assert result.shape == (*batch, n) and result.dtype == np.float64
    np.testing.assert_allclose(result, expected(q, qdd), rtol=1e-14, atol=1e-14)


def test_broadcasting(random):
    q, qdd = random.normal(size=(5, 1, 3)), random.normal(size=(4, 3))
    np.testing.assert_allclose(pendulum_torque(q, qdd), expected(q, qdd), rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(pendulum_torque(np.zeros(3), qdd), expected(np.zeros(3), qdd), rtol=1e-14)
    np.testing.assert_allclose(pendulum_torque(np.broadcast_to(q[0], (6, 3)), 0.0 * q[0]),
                               expected(np.broadcast_to(q[0], (6, 3)), 0.0))


@pytest.mark.parametrize("view", [
    lambda a: a[::-1], lambda a: a[:, ::-1], lambda a: a[::2], lambda a: np.asfortranarray(a), lambda a: a.T.copy().T,
    lambda a: np.repeat(a, 3, axis=1)[:, ::3], lambda a: a[:, :, None][..., 0],
    lambda a: np.lib.stride_tricks.as_strided(a, a.shape, (0, 8)),
])
def test_any_strides(random, view):
    q, qdd = (view(a) for a in random.normal(size=(2, 21, 6)))
    np.testing.assert_allclose(pendulum_torque(q, qdd), expected(q, qdd), rtol=1e-14, atol=1e-14)


def test_results_into_strided_and_fortran_arrays(random):
    q, qdd = random.normal(size=(2, 21, 6))
    for out in (np.empty((21, 6), order="F"), np.empty((42, 12))[::2, ::2], np.empty((21, 6))[::-1]):
        assert pendulum_torque(q, qdd, out=out) is out
        np.testing.assert_allclose(out, expected(q, qdd), rtol=1e-14, atol=1e-14)


def test_out_forms_and_untouched_surroundings(random):
    q, qdd = random.normal(size=(2, 11, 3))
    whole = np.full((13, 5), 99.0)
    pendulum_torque(q, qdd, out=whole[1:-1, 1:-1])
    np.testing.assert_allclose(whole[1:-1, 1:-1], expected(q, qdd), rtol=1e-14, atol=1e-14)
    assert (whole[0] == 99).all() and (whole[-1] == 99).all() and (whole[:, 0] == 99).all() and (whole[:, -1]
                                                                                                 == 99).all()
    one = np.empty(3)
    assert pendulum_torque(q[0], qdd[0], out=(one,)) is one
    assert pendulum_torque(q[0], qdd[0], out=None).shape == (3,)
    with pytest.raises(ValueError):
        pendulum_torque(q[0], qdd[0], out=np.empty(4))
    locked = np.empty(3)
    locked.flags.writeable = False
    with pytest.raises(ValueError):
        pendulum_torque(q[0], qdd[0], out=locked)


def test_overlapping_arrays(random):
    memory = random.normal(size=200)
    q, qdd = memory[:60].reshape(10, 6).copy(), memory[60:120].reshape(10, 6).copy()
    right = expected(q, qdd)
    assert (pendulum_torque(q, qdd, out=q) is q) and np.allclose(q, right, rtol=1e-14)
    q, qdd, shifted = memory[:60].reshape(10, 6), memory[60:120].reshape(10, 6), memory[3:63].reshape(10, 6)
    right = expected(q, qdd)
    np.testing.assert_allclose(pendulum_torque(q, qdd, out=shifted), right, rtol=1e-14)
    one, other = random.normal(size=(2, 6))
    right = expected(one, other)
    np.testing.assert_allclose(pendulum_torque(one, other, out=one), right, rtol=1e-14)


def test_read_only_inputs(random):
    q = random.normal(size=(4, 3))
    q.flags.writeable = False
    np.testing.assert_allclose(pendulum_torque(q, q), expected(q, q), rtol=1e-14)


@pytest.mark.parametrize("batch", [1, 5, 8, 64, 1001])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_one_state_does_not_depend_on_its_batch(random, batch, dtype):
    """Bit for bit: alone, at every position, in every layout, on threads."""
    q, qdd = random.normal(scale=30.0, size=(2, batch, 7)).astype(dtype)
    together = pendulum_torque(q, qdd)
    for k in (0, batch // 2, batch - 1):
        assert (pendulum_torque(q[k], qdd[k]) == together[k]).all()
        assert (pendulum_torque(q[k:], qdd[k:])[0] == together[k]).all()
    assert (pendulum_torque(np.asfortranarray(q), qdd) == together).all()
    assert (pendulum_torque.parallel(3)(q, qdd) == together).all()


def test_integers_and_lists_are_taken_as_float64():
    assert pendulum_torque([0, 1], [1, 2]).dtype == np.float64
    for dtype in (np.int8, np.int32, np.uint64, np.bool_, np.int64):
        result = pendulum_torque(np.array([0, 1], dtype), np.array([1, 1], dtype))
        assert result.dtype == np.float64
        np.testing.assert_allclose(result, expected([0, 1], [1, 1]), rtol=1e-15)


def test_float32(random):
    q, qdd = random.normal(size=(2, 33, 3)).astype(np.float32)
    result = pendulum_torque(q, qdd)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, expected(q, qdd), rtol=1e-6, atol=1e-6)
    assert pendulum_torque(q, qdd.astype(float)).dtype == np.float64
    assert pendulum_torque(q.astype(float), qdd.astype(float), dtype=np.float32).dtype == np.float32
    assert pendulum_torque(q, qdd, dtype="float64").dtype == np.float64
    assert pendulum_torque(q[0].astype(np.float16), qdd[0]).dtype == np.float32
    single = np.empty((33, 3), np.float32)
    assert pendulum_torque(q.astype(float), qdd.astype(float), out=single) is single
    np.testing.assert_allclose(single, result, rtol=1e-5, atol=1e-5)


def test_big_endian_and_unaligned(random):
    q, qdd = random.normal(size=(2, 9, 3))
    unaligned = np.frombuffer(b"x" + q.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(9, 3)
    assert not unaligned.flags.aligned
    for other in (q.astype(">f8"), unaligned):
        np.testing.assert_array_equal(pendulum_torque(other, qdd), pendulum_torque(q, qdd))
        np.testing.assert_array_equal(pendulum_torque(other[2], qdd[2]), pendulum_torque(q[2], qdd[2]))


def test_not_a_number_stays_in_its_state(random):
    q, qdd = random.normal(size=(2, 20, 4))
    q[7, 2], q[8, 1] = np.nan, np.inf
    result = pendulum_torque(q, qdd)
    bad = np.isnan(result)
    assert bad[7, 2] and bad[8, 1] and bad.sum() == 2


def test_scalar_outputs_and_named_results(random):
    q, qd = random.normal(size=(2, 4, 3))
    one = energies(q[0], qd[0])
    assert one._fields == ("kinetic", "potential") and isinstance(one.kinetic, np.float64) and type(
        energies(q[0], qd[0])) is type(one)
    many = energies(q, qd)
    assert many.kinetic.shape == (4,) and many.potential[0] == one.potential == energies(q[0], qd[0]).potential
    np.testing.assert_allclose(many.kinetic, 0.5 * np.sum(qd**2, axis=-1), rtol=1e-14)
    kinetic, potential = np.empty(4), np.empty(4)
    assert energies(q, qd, out=(kinetic, potential)).kinetic is kinetic and (potential == many.potential).all()


def test_matrices(random):
    a, b = random.normal(size=(5, 2, 3)), random.normal(size=(3, 4))
    np.testing.assert_allclose(product(a, b), a @ b, rtol=1e-13)
    np.testing.assert_allclose(product(a[0], b), a[0] @ b, rtol=1e-13)
    np.testing.assert_allclose(product(a.transpose(0, 2, 1), a), a.transpose(0, 2, 1) @ a, rtol=1e-13)
    np.testing.assert_allclose(product(a.T, b.T.copy(), axes=[(1, 0), (1, 0), (-2, -1)]), a @ b, rtol=1e-13)
    assert product(np.zeros((2, 0)), np.zeros((0, 3))).tolist() == [[0.0] * 3] * 2


def test_dictionaries_outputs_and_plain_tuples():
    @cy.kernel("()->(),()")
    def both(x):
        return {"double": 2 * x, "square": x * x}

    @cy.kernel("()->(),()", outputs=("half", "third"))
    def parts(x):
        return x / 2, x / 3

    @cy.kernel("()->(),()")
    def plain(x):
        return x, 1.0

    assert both(3.0).square == 9.0 and parts(3.0).third == 1.0
    assert plain(3.0) == (3.0, 1.0) and type(plain(np.array(3.0))) is tuple
    assert [type(x) for x in plain(np.array(3.0))] == [np.float64, np.float64]


@pytest.mark.parametrize(
    "text", ["", "n->n", "(n)", "(n),->(n)", "(n)->(n)->(n)", "(n-1)->(n)", "(2n)->()", "[n]->[n]", None, "(n)(n)->()"])
def test_wrong_signatures(text):
    with pytest.raises(SignatureError):
        cy.kernel(text)


def test_wrong_functions():
    with pytest.raises(SignatureError, match="takes 1 arguments; its signature has 2"):
        cy.kernel("(n),(n)->(n)")(lambda x: x)
    with pytest.raises(SignatureError, match=r"shape \(3,\); its signature says \(n\) with n = 2"):
        cy.kernel("(n)->(n)", name="grows")(lambda x: np.stack([x[0], x[1], x[0]]))([1.0, 2.0])
    with pytest.raises(SignatureError, match="returned None"):
        cy.kernel("(n)->(n)")(lambda x: None)([1.0])
    with pytest.raises(SignatureError, match="2 outputs"):
        cy.kernel("(n)->(),()")(lambda x: x[0])([1.0])
    with pytest.raises(SignatureError, match="3 values; its signature has 2"):
        cy.kernel("(n)->(),()")(lambda x: (x[0], x[0], x[0]))([1.0])
    with pytest.raises(SignatureError, match="output names"):
        cy.kernel("(n)->(),()", outputs=("a",))


def test_wrong_arguments(random):
    q = random.normal(size=3)
    with pytest.raises(SignatureError, match=r"'qdd' has shape \(4,\), which does not fit \(n\) with n = 3"):
        pendulum_torque(q, np.zeros(4))
    with pytest.raises(SignatureError, match="at least 1 axes"):
        pendulum_torque(1.0, q)
    with pytest.raises(SignatureError, match=r"takes 2 arguments \(q, qdd\), not 1"):
        pendulum_torque(q)
    with pytest.raises(ValueError, match="broadcast"):
        pendulum_torque(np.zeros((2, 3)), np.zeros((4, 3)))
    with pytest.raises(UnsupportedError, match="'q' of pendulum_torque is complex128"):
        pendulum_torque(q + 1j, q)
    with pytest.raises(UnsupportedError, match="object"):
        pendulum_torque(np.array([object()] * 3), q)
    with pytest.raises(UnsupportedError, match=r"'q'.* is text: kernels take real numbers"):
        pendulum_torque(["a"] * 3, q)
    with pytest.raises(SignatureError, match="'q' of pendulum_torque is not an array"):
        pendulum_torque([[1.0], [1.0, 2.0]], q)
    with pytest.raises(UnsupportedError, match="float16"):
        pendulum_torque(q, q, dtype=np.float16)
    with pytest.raises(SignatureError,
                       match="no argument or option 'colour'; its arguments are q, qdd, its options out, dtype, axes"):
        pendulum_torque(q, q, colour="red")
    with pytest.raises(SignatureError, match="needs n="):
        pendulum_torque.operations()
    with pytest.raises(SignatureError, match="no dimension m"):
        pendulum_torque.operations(n=1, m=2)
    with pytest.raises(SignatureError, match="no input 'x'"):
        pendulum_torque.jacobian("x")
    with pytest.raises(SignatureError, match="say which output"):
        energies.jacobian("q")


def test_untraceable_code_names_the_line():
    @cy.kernel("(n)->()")
    def branches(x):
        if x[0] > 0:
            return x[0]
        return -x[0]

    @cy.kernel("(n)->()")
    def unknown(x):
        return np.fmin(x[0], 0.0)

    @cy.kernel("(n)->(n)")
    def filled(x):
        y = np.zeros(2)
        y[0] = x[0]
        return y

    with pytest.raises(TraceError,
                       match=r"(?s)branches cannot be traced, line \d+ of .*test_kernel.py.*if x\[0\] > 0.*cy.where"):
        branches([1.0])
    with pytest.raises(TraceError, match=r"(?s)np.fmin\(x\[0\], 0.0\).*np.minimum"):
        unknown([1.0])
    with pytest.raises(TraceError, match=r"(?s)y\[0\] = x\[0\].*dtype=object"):
        filled([1.0, 2.0])


def test_kernels_call_kernels(random):
    @cy.kernel("(k,n),(n)->(k,n)")
    def several(q, qdd):
        return pendulum_torque(q, qdd) + energies(q[0], qdd).kinetic

    q, qdd = random.normal(size=(3, 2)), random.normal(size=2)
    np.testing.assert_allclose(several(q, qdd), expected(q, qdd) + 0.5 * qdd @ qdd, rtol=1e-14)


def test_derivatives_are_kernels(random):
    q, qdd = random.normal(size=(2, 6, 3))
    by_q = pendulum_torque.jacobian("q")
    assert by_q.signature == cy.kernel("(n),(n)->(n,n)")(lambda a, b: None).signature and pendulum_torque.jacobian(
        "q") is by_q
    np.testing.assert_allclose(by_q(q, qdd), 9.81 * np.cos(q)[..., None] * np.eye(3), rtol=1e-14, atol=0)
    second = by_q.jacobian("q")(q, qdd)
    assert second.shape == (6, 3, 3, 3)
    np.testing.assert_allclose(np.einsum("biii->bi", second), -9.81 * np.sin(q), rtol=1e-14)
    np.testing.assert_allclose(energies.jacobian("q", of="potential")(q, qdd) if energies.outputs else
                               energies.jacobian("q", of=1)(q, qdd), 9.81 * np.sin(q), rtol=1e-14)


def test_pickling(random):
    q = random.normal(size=(5, 3))
    assert pickle.loads(pickle.dumps(pendulum_torque)) is pendulum_torque
    local = cy.kernel("(n)->(n)", name="local")(lambda q: 3 * np.cos(q))
    with pytest.raises(TypeError, match="call it once"):
        pickle.dumps(local)
    value = local(q)
    copy = pickle.loads(pickle.dumps(local))
    assert (copy(q) == value).all() and copy.operations(n=3) == local.operations(n=3)
    with pytest.raises(UnsupportedError, match="without its Python text"):
        copy(q[:, :2])
    derivative = pickle.loads(pickle.dumps(pendulum_torque.jacobian("q")))
    assert derivative is pendulum_torque.jacobian("q")
    fixed = cy.kernel("(3)->(3)")(lambda q: 3 * q)
    assert (pickle.loads(pickle.dumps(fixed))(q) == 3 * q).all()


def test_another_process_rebuilds_the_kernel(random, tmp_path):
    local = cy.kernel("(n)->(n)", name="local")(lambda q: 3 * np.cos(q))
    q = random.normal(size=4)
    value = local(q)
    (tmp_path / "kernel").write_bytes(pickle.dumps((local, q)))
    script = "import pickle, sys; k, q = pickle.load(open(sys.argv[1], 'rb')); print(repr(k(q).tolist()))"
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "kernel")], capture_output=True, text=True,
                          check=True)
    assert eval(done.stdout) == value.tolist()


@pytest.mark.parametrize("number, dtype", [(2.0, np.float32), (2, np.float32), (True, np.float32),
                                           (np.float32(2), np.float32), (np.float64(2), np.float64),
                                           (np.int8(2), np.float64), (np.array(2.0), np.float64)])
def test_numbers_of_python_adapt_to_float32_as_in_numpy(number, dtype):
    scaled = cy.kernel("(n),()->(n)")(lambda x, c: x * c)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for call in (scaled, scaled.parallel(2)):
        for argument in (x, x[0], x.astype(np.float16)):
            result = call(argument, number)
            assert result.dtype == dtype and (result == argument * float(number)).all()


def test_threads_may_share_a_kernel(random):
    fresh = cy.kernel("(n)->(n)", name="fresh")(lambda q: np.sin(q) * 7)
    q = random.normal(size=(50, 3))
    answers = []
    threads = [
        threading.Thread(target=lambda n: answers.append((n, fresh(q[:, :n]))), args=(n,)) for n in (1, 2, 3) * 4]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(answers) == 12
    for n, answer in answers:
        np.testing.assert_allclose(answer, 7 * np.sin(q[:, :n]), rtol=1e-14)


def test_parallel(random):
    q, qd = random.normal(size=(2, 4, 1000, 3))
    two = energies.parallel(2)
    assert two(q, qd)._fields == ("kinetic", "potential") and (two(q, qd).kinetic == energies(q, qd).kinetic).all()
    assert (pendulum_torque.parallel(4)(q[0], qd[0, 0]) == pendulum_torque(q[0], qd[0, 0])).all()
    assert (pendulum_torque.parallel(4)(q[0, 0], qd[0, 0]) == pendulum_torque(q[0, 0], qd[0, 0])).all()
    assert pendulum_torque.parallel(2)(np.zeros((0, 3)), np.zeros(3)).shape == (0, 3)
    out = np.empty((1000, 3))
    assert pendulum_torque.parallel(2)(q[0], qd[0], out=out) is out and (out == pendulum_torque(q[0], qd[0])).all()


def test_ufunc_is_numpys_own():
    made = pendulum_torque.ufunc(n=3)
    assert isinstance(made, np.ufunc) and made.signature == "(3),(3)->(3)"
    with pytest.raises(UnsupportedError, match="no backend 'abacus'; there are llvm, c, cuda"):
        pendulum_torque.on("abacus", n=2)


def test_constant_unused_and_repeated_outputs(random):
    @cy.kernel("(n),()->(n),(2,2),()")
    def odd(x, unused):
        return x, np.eye(2), x[0]

    x = random.normal(size=(9, 3))
    same, eye, first = odd(x, 0.0)
    assert (same == x).all() and (eye == np.eye(2)).all() and (first == x[:, 0]).all()
    same, eye, first = odd(x[0], np.array(1.0))
    assert (same == x[0]).all() and (eye == np.eye(2)).all() and first == x[0, 0]


def test_every_operation_compiled(random):
    @cy.kernel("(2)->(k)")
    def everything(p):
        x, y = p
        exact = [x + y, x - y, x * y, -x, np.abs(y), np.sign(x), np.floor(x), np.ceil(x)]
        exact += [np.minimum(x, y), np.maximum(x, y), np.hypot(x, y)]
        powers = [x / y, x**2, x**3, x**-2, np.abs(x) ** 0.5, np.sqrt(np.abs(x)), np.exp(x), np.log(np.abs(x))]
        angles = [
            np.sin(x),
            np.cos(x),
            np.tan(x),
            np.arcsin(np.sin(x)),
            np.arccos(np.cos(y)),
            np.arctan(x),
            np.arctan2(x, y)]
        choices = [
            cy.where(x < y, x, 2.0),
            cy.where((x <= y) & ~(x == 0), y, x), x % 0.3, x // 0.3, (x > y) * 3.0,
            np.clip(x, -0.5, 0.5)]
        return np.stack(exact + powers + angles + choices)

    for p in random.normal(size=(50, 2)):
        np.testing.assert_allclose(everything(p), everything.reference(p), rtol=2e-14, atol=1e-14)
    points = [[0.0, 0.0], [-0.0, 1.0], [np.inf, 1.0], [np.nan, 1.0], [1.0, np.nan], [-np.inf, np.inf], [1e308, 1e308],
              [5e-324, -1.0]]
    with np.errstate(all="ignore"):
        for p, got in zip(points, everything(points), strict=True):
            np.testing.assert_allclose(got[:11], everything.reference(p)[:11])


def test_import_is_quick_and_lean():
    """Nothing heavy comes along; what is left is NumPy and a little more."""
    heavy = ("sympy", "casadi", "jax", "mpmath", "rich", "cupy", "scipy", "llvmlite")
    script = (
        "import time, sys; a = time.process_time(); import numpy; b = time.process_time(); import cayley; c = "
        "time.process_time(); "
        f"print(b - a, c - b, [m for m in {heavy} if m in sys.modules])")
    printed = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
        for _ in range(5)]
    runs = [line.split(" ", 2) for line in printed]
    assert all(run[2].strip() == "[]" for run in runs)
    numpys, ours = (np.median([float(run[k]) for run in runs]) for k in (0, 1))
    assert ours < 1.5 * numpys


def test_checked_arguments():
    def check_positive(x):
        if not (x > 0).all():
            raise cy.GeometryError("x must be positive")

    @cy.kernel("()->()", check=check_positive)
    def root(x):
        return np.sqrt(x)

    assert root(4.0) == 2.0 and root(np.array(4.0)) == 2.0 and root(np.array([1, 4])).tolist() == [1.0, 2.0]
    for bad in (-1.0, np.array(-1.0), [1.0, -1.0], np.nan):
        with pytest.raises(cy.GeometryError, match="positive"):
            root(bad)
    assert np.isnan(root.unchecked(-1.0)) and root.unchecked is root.unchecked
    assert cy.kernel("()->()")(lambda x: root(x) + 1)(9.0) == 4.0


def test_constants_beyond_float32():
    grown = cy.kernel("()->()")(lambda x: x * 1e300)
    assert grown(2.0) == 2e300 and grown(np.float32(2.0)) == np.inf and grown(np.float32(-2.0)) == -np.inf
    assert cy.kernel("()->()")(lambda x: x + 1e-300)(np.float32(0.0)) == 0.0


def test_scalars_of_inlined_kernels_are_symbols():
    twice = cy.kernel("()->()")(lambda x: 2 * x)
    chosen = cy.kernel("()->()")(lambda x: cy.where(twice(x) > 0, 1.0, 2.0))
    assert chosen(1.0) == 1.0 and chosen(-1.0) == 2.0


def test_lambdas_may_return_named_results():
    both = cy.kernel("()->(),()")(lambda x: Energies(x, 2 * x))
    assert both(3.0).potential == 6.0


def test_constant_outputs_are_stored_once():
    sparse = cy.kernel("()->(60,60)")(lambda x: x * np.eye(60))
    assert (sparse(2.0) == 2 * np.eye(60)).all()
    core = Core(sparse.program(), 4, "double", fused=True)
    assert core.part(0).text().count("store ") == 60  # of each state the diagonal; zeros once for all states
    assert batch_loop(core).text().count("call void @llvm.memset") == 59
    assert (sparse(np.arange(1000.0)) == np.arange(1000.0)[:, None, None] * np.eye(60)).all()


def test_parallel_checks_types_and_arguments(random):
    def check_positive(x):
        if not (x > 0).all():
            raise cy.GeometryError("x must be positive")

    root = cy.kernel("()->()", check=check_positive)(lambda x: np.sqrt(x))
    x = random.uniform(1, 2, size=5000)
    assert (root.parallel(3)(x) == root(x)).all()
    with pytest.raises(cy.GeometryError, match="positive"):
        root.parallel(3)(-x)
    with pytest.raises(UnsupportedError, match="complex"):
        pendulum_torque.parallel(2)(x[:, None] + 1j, x[:, None])
    single = pendulum_torque.parallel(2)(x[:, None], x[:, None], dtype=np.float32)
    assert single.dtype == np.float32 and (single == pendulum_torque(x[:, None], x[:, None], dtype=np.float32)).all()
    with pytest.raises(ValueError):
        pendulum_torque.parallel(2)(x[:, None], x[:, None], out=np.empty((5000, 2)))


@pytest.mark.parametrize("q, shape", [([0.0, 0.0], ()), (np.zeros((3, 2)), (3,)), (np.zeros((0, 2)), (0,))])
def test_results_without_entries_have_the_shape_of_the_batch(q, shape):
    both = cy.kernel("(2)->(0),(0,2),()")(lambda q: (np.zeros(0), np.zeros((0, 2)), q[0] + 1.0))
    none, rows, number = both(q)
    assert (none.shape, rows.shape, np.shape(number)) == ((*shape, 0), (*shape, 0, 2), shape)
    np.testing.assert_array_equal(number, np.ones(shape))
