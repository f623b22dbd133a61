"""The elementary functions of CUDA against mpmath, in units in the last place: compiled for this processor through the
stand-in for a GPU, and on the GPU itself where there is one.
"""


import numpy as np
import pytest

import cayley as cy
from cayley.compiler.backends import backend_named
from cayley.compiler.cuda.cuda_functions import CudaDialect, _is_own
from cayley.compiler.operations import OPERATIONS
from compiler.mechanisms import program_of
from compiler.test_elementary import LIMIT, NUMBER, PERIODIC, PRECISIONS, TWO_ARGUMENTS, errors, exact, samples
from programs import needs

needs_cpp = needs("g++")
OWN = [name for name in OPERATIONS if _is_own(name)]
REACH = {"double": 2.0**40, "float": 2.0**20}


def every_function(x, y):
    return np.stack([getattr(np, name)(x, y) if name in TWO_ARGUMENTS else getattr(np, name)(x) for name in OWN])


ALL = program_of(every_function, "(),()->(k)", name="every", inputs=["x", "y"], k=len(OWN))


def within(name, precision):
    """Some of the arguments of a function, as far as a GPU takes them."""
    found = [a[::11] for a in samples(name, precision)]
    if name in PERIODIC:
        reach = REACH["double" if name == "tan" else precision]
        return [found[0][np.abs(found[0]) <= reach]]
    return found


def check(module, precision):
    function = backend_named("cuda").function(ALL)
    for place, name in enumerate(OWN):
        arguments = within(name, precision)
        found = module.asnumpy(function(arguments[0], arguments[-1]))[:, place]
        right = [exact(name, state) for state in zip(*[a.astype(float).tolist() for a in arguments], strict=True)]
        assert found.dtype == NUMBER[precision]
        assert errors(found, right).max() <= LIMIT.get(name, 1.0), name


def check_special_numbers(module, precision):
    """What is not finite, zeros with their signs, and angles that are too large."""
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0], NUMBER[precision])
    found = module.asnumpy(backend_named("cuda").function(ALL)(special, np.ones_like(special)))
    with np.errstate(all="ignore"):
        right = np.stack([every_function(x, NUMBER[precision](1)) for x in special])
    np.testing.assert_allclose(found, right, rtol=1e-6)
    np.testing.assert_array_equal(np.signbit(found[:2]), np.signbit(right[:2]))
    far = np.array([2.0**41, -1e30], NUMBER[precision])
    lost = module.asnumpy(backend_named("cuda").function(ALL)(far, far))
    assert np.isnan(lost[:, [OWN.index(name) for name in PERIODIC]]).all()


@needs_cpp
@pytest.mark.parametrize("precision", PRECISIONS)
def test_on_this_processor(cupy, precision):
    check(cupy, precision)
    check_special_numbers(cupy, precision)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_on_a_gpu(precision):
    cupy = pytest.importorskip("cupy")
    check(cupy, precision)
    check_special_numbers(cupy, precision)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_quotients_on_a_gpu_are_rounded_as_here(dtype):
    cupy = pytest.importorskip("cupy")
    rng = np.random.default_rng(0)
    a, b = (np.ldexp(rng.uniform(-1.0, 1.0, 1 << 20), rng.integers(-40, 40, 1 << 20)).astype(dtype) for _ in range(2))
    quotient = cy.kernel("(),()->()", name="quotient")(lambda x, y: x / y).on("cuda")
    np.testing.assert_array_equal(cupy.asnumpy(quotient(cupy.asarray(a), cupy.asarray(b))), a / b)


def test_they_are_the_librarys_own_and_without_branches():
    assert {"sin", "cos", "tan", "exp", "log", "arctan2", "tanh", "hypot"} <= set(OWN)
    for precision in PRECISIONS:
        text = "\n".join(CudaDialect(precision, "INF", "NAN", helper="static").helpers(OWN, "own"))
        assert "if (" not in text and "[" not in text
        for name in OWN:
            assert f" {OPERATIONS[name].c_function}(" not in text and f" {OPERATIONS[name].c_function}f(" not in text


