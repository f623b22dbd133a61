"""Every function of NumPy gives the same on symbols as on floats, or is refused: all are tried, with many arguments."""

import warnings

import numpy as np
import pytest

from cayley.compiler.algebras.interpret import NUMPY, interpret
from cayley.compiler.signature import Signature
from cayley.compiler.tracing.trace import trace
from cayley.errors import CayleyError

VALUES = {"x": np.array([0.3, -0.7, 0.6]), "y": np.array([0.5, 0.2, -0.4]),
          "A": np.array([[0.4, 0.1, -0.3], [0.7, -0.2, 0.5], [0.9, 0.8, -0.6]]),
          "s": np.float64(0.25), "z": np.array([np.nan, 0.5, -0.2])}
SIGNATURE = Signature.parse("(3),(3),(3,3),(),(3)->(k)")
MASK = np.array([True, False, True])

FORMS = {
    "x": lambda f, x, y, A, s, z: f(x),
    "A": lambda f, x, y, A, s, z: f(A),
    "s": lambda f, x, y, A, s, z: f(s),
    "x y": lambda f, x, y, A, s, z: f(x, y),
    "A x": lambda f, x, y, A, s, z: f(A, x),
    "A A": lambda f, x, y, A, s, z: f(A, A.T),
    "x s": lambda f, x, y, A, s, z: f(x, s),
    "s x": lambda f, x, y, A, s, z: f(s, x),
    "x 2": lambda f, x, y, A, s, z: f(x, 2),
    "A 1": lambda f, x, y, A, s, z: f(A, 1),
    "A 0 1": lambda f, x, y, A, s, z: f(A, 0, 1),
    "2.0 x": lambda f, x, y, A, s, z: f(2.0, x),
    "[x, y]": lambda f, x, y, A, s, z: f([x, y]),
    "(x, y) 0": lambda f, x, y, A, s, z: f((x, y), 0),
    "[s, 1, x0]": lambda f, x, y, A, s, z: f([s, 1.0, x[0]]),
    "x places": lambda f, x, y, A, s, z: f(x, [0, 2]),
    "A axis": lambda f, x, y, A, s, z: f(A, axis=0),
    "A last axis": lambda f, x, y, A, s, z: f(A, axis=-1),
    "A keepdims": lambda f, x, y, A, s, z: f(A, axis=1, keepdims=True),
    "A ddof": lambda f, x, y, A, s, z: f(A, axis=0, ddof=1),
    "x low high": lambda f, x, y, A, s, z: f(x, -0.2, 0.4),
    "x y s": lambda f, x, y, A, s, z: f(x, y, s),
    "x y A0": lambda f, x, y, A, s, z: f(x, y, A[0]),
    "list x": lambda f, x, y, A, s, z: f([1.0, 2.0, 3.0], x),
    "MASK x": lambda f, x, y, A, s, z: f(MASK, x),
    "x MASK": lambda f, x, y, A, s, z: f(x, MASK),
    "MASK x y": lambda f, x, y, A, s, z: f(MASK, x, y),
    "x MASK y": lambda f, x, y, A, s, z: (f(x, MASK, y), x),
    "x places y": lambda f, x, y, A, s, z: (f(x, [0, 2], y[:2]), x),
    "x [0, 0]": lambda f, x, y, A, s, z: (f(x, [0, 0]), x),
    "x 0 s": lambda f, x, y, A, s, z: (f(x, 0, s), x),
    "A s": lambda f, x, y, A, s, z: (f(A, s), A),
    "truth": lambda f, x, y, A, s, z: f(x > y),
    "truth truth": lambda f, x, y, A, s, z: f(x > y, x > 0.0),
    "truths": lambda f, x, y, A, s, z: f(x < 1.0, y < 1.0),
    "truth x": lambda f, x, y, A, s, z: f(x > y, y),
    "truth x y": lambda f, x, y, A, s, z: f(x > y, x, y),
    "truth A": lambda f, x, y, A, s, z: f(A > 0.0),
    "truth A axis": lambda f, x, y, A, s, z: f(A > 0.0, axis=1),
    "truth s": lambda f, x, y, A, s, z: f(s > 0.0),
    "out=y": lambda f, x, y, A, s, z: (f(x, out=y), y),
    "out=x": lambda f, x, y, A, s, z: (f(x, out=x), x),
    "x y out=x": lambda f, x, y, A, s, z: (f(x, y, out=x), x),
    "x y out=A": lambda f, x, y, A, s, z: (f(x, y, out=A), A),
    "A 0 out=y": lambda f, x, y, A, s, z: (f(A, 0, out=y), y),
    "A x out=y": lambda f, x, y, A, s, z: (f(A, x, out=y), y),
    "x x": lambda f, x, y, A, s, z: (f(x, x), x),
    "x y x": lambda f, x, y, A, s, z: (f(x, y, x), x),
    "A x y": lambda f, x, y, A, s, z: (f(A, x, y), y),
    "x low high x": lambda f, x, y, A, s, z: (f(x, -0.2, 0.4, x), x),
    "x low high out=x": lambda f, x, y, A, s, z: (f(x, -0.2, 0.4, out=x), x),
    "A 0 None y": lambda f, x, y, A, s, z: (f(A, 0, None, y), y),
    "view": lambda f, x, y, A, s, z: (f(A[0], out=A[:, 1]), A),
    "x where": lambda f, x, y, A, s, z: f(x, where=MASK),
    "x y where": lambda f, x, y, A, s, z: f(x, y, where=MASK, out=x.copy()),
    "A initial": lambda f, x, y, A, s, z: f(A, axis=1, initial=0.1),
    "A initial where": lambda f, x, y, A, s, z: f(A, axis=1, initial=0.1, where=MASK),
    "int": lambda f, x, y, A, s, z: f(x, dtype=int),
    "float32": lambda f, x, y, A, s, z: f(x, dtype=np.float32),
    "x y float32": lambda f, x, y, A, s, z: f(x, y, dtype=np.float32),
    "x y int": lambda f, x, y, A, s, z: f(x, y, dtype=int, casting="unsafe"),
    "ij,j->i": lambda f, x, y, A, s, z: f("ij,j->i", A, x),
    "x shape": lambda f, x, y, A, s, z: f(x, (3, 1)),
    "shape s": lambda f, x, y, A, s, z: f((3,), s),
    "s 1 5": lambda f, x, y, A, s, z: f(s, 1.0, 5),
    "nested": lambda f, x, y, A, s, z: f([[A, x[:, None]], [y, 1.0]]),
    "axes": lambda f, x, y, A, s, z: f(A, A, axes=[(0, 1), (1, 0), (0, 1)]),
    "A A axis": lambda f, x, y, A, s, z: f(A, A, axis=0),
    "large": lambda f, x, y, A, s, z: f(1e3 * x),
    "infinite": lambda f, x, y, A, s, z: f(x / (s - 0.25)),
    "NaN": lambda f, x, y, A, s, z: f(z),
    "NaN x": lambda f, x, y, A, s, z: f(z, x),
    "x NaN": lambda f, x, y, A, s, z: f(x, z),
}
NO_FUNCTIONS_OF_ARRAYS = ("test", "info", "show_config", "show_runtime", "save", "savez", "savez_compressed", "savetxt",
                          "load", "loadtxt", "genfromtxt", "fromfile", "fromregex", "fromstring", "seterr",
                          "seterrcall", "setbufsize", "set_printoptions", "printoptions", "get_include")
UNINITIALISED = ("np.empty_like", "np.empty")
WRONG_IN_NUMPY = ("np.arctan2.reduce", "np.atan2.reduce")  # reads what it has overwritten
OF_ANOTHER_TYPE = ("itemsize", "nbytes", "strides")  # of truth values


def functions_of(module, name):
    words = [word for word in dir(module) if not word.startswith("_") and word not in NO_FUNCTIONS_OF_ARRAYS]
    return {f"{name}.{word}": function for word in words
            if callable(function := getattr(module, word)) and not isinstance(function, type)}


def methods_of_ufuncs():
    ufuncs = {name: function for name, function in functions_of(np, "np").items() if isinstance(function, np.ufunc)}
    return {f"{name}.{word}": getattr(function, word) for name, function in ufuncs.items()
            for word in ("reduce", "accumulate", "reduceat", "outer", "at")}


def attributes_of_arrays():
    def used(word):
        is_method = callable(getattr(np.ndarray, word))
        return lambda a, *more, **named: getattr(a, word)(*more, **named) if is_method else getattr(a, word)
    left_out = ("tofile", "dump", *OF_ANOTHER_TYPE)
    words = [word for word in dir(np.ndarray) if not word.startswith("_") and word not in left_out]
    return {f"ndarray.{word}": used(word) for word in words}


FUNCTIONS = {"np": functions_of(np, "np"), "np.linalg": functions_of(np.linalg, "np.linalg"),
             "np.fft": functions_of(np.fft, "np.fft"),
             "methods of ufuncs": methods_of_ufuncs(), "attributes of arrays": attributes_of_arrays()}


def leaves(value):
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, (tuple, list)) else [value]


def of_numpy(function, form):
    """What NumPy answers on floats, if it does, with numbers."""
    try:
        results = [np.asarray(r) for r in leaves(form(function, *[np.copy(v)[()] for v in VALUES.values()]))]
    except Exception:
        return None
    return results if all(r.dtype.kind in "fiub" for r in results) else None


def of_symbols(function, form):
    shapes = []

    def law(x, y, A, s, z):
        results = [np.asarray(r, dtype=object) for r in leaves(form(function, x, y, A, s, z))]
        shapes.extend(r.shape for r in results)
        return np.concatenate([r.ravel() for r in results])

    made = trace(law, SIGNATURE, {}, name="law", inputs=list(VALUES))
    return shapes, interpret(made, NUMPY, *VALUES.values())[0]


def difference(name, function, label, form):
    expected = of_numpy(function, form)
    if expected is None or name in UNINITIALISED or name.startswith(WRONG_IN_NUMPY):
        return None
    try:
        shapes, values = of_symbols(function, form)
    except CayleyError:
        return None
    except Exception as error:
        return f"{name} ({label}): {error!r}"
    wanted = np.concatenate([r.ravel().astype(float) for r in expected])
    # NumPy computes functions of truth values in float16
    rounding = 2e-3 if label.startswith(("truth", "MASK")) else 1e-12
    if shapes == [r.shape for r in expected] and np.allclose(values, wanted, rtol=rounding, atol=1e-14, equal_nan=True):
        return None
    return f"{name} ({label}): {values} instead of {wanted}"


@pytest.mark.parametrize("group", FUNCTIONS)
def test_every_function_is_right_or_refused(group):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = [difference(name, function, label, form) for name, function in FUNCTIONS[group].items()
                 for label, form in FORMS.items()]
    assert [f for f in found if f] == []
