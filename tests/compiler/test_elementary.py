"""Elementary functions against mpmath, in units in the last place, and against NumPy where the arguments are special.
"""

from __future__ import annotations

import ctypes
from functools import cache

import mpmath
import numpy as np
import pytest
from llvmlite import binding

from cayley.compiler.elementary import emitter
from cayley.compiler.elementary.trigonometric import HALF_PI, HALF_PI_SHORT, TWO_OVER_PI_BITS, sincos
from cayley.compiler.native.vector_assembly import Assembly, Lanes
from cayley.compiler.operations import OPERATIONS

NUMBER = {"double": np.float64, "float": np.float32}
WORD = {"double": np.uint64, "float": np.uint32}
PRECISIONS = ("double", "float")
FUNCTIONS = [name for name, operation in OPERATIONS.items() if operation.is_function
             or name in ("sign", "copysign", "rint")]
TWO_ARGUMENTS = ("arctan2", "hypot", "remainder", "floor_divide", "copysign", "fmod")
PERIODIC = ("sin", "cos", "tan")
WIDTHS = (1, 2, 4, 8, 16)
EXPONENTS = {"double": (-746.0, 709.7), "float": (-105.0, 88.7)}
"""Where the exponential is neither zero nor infinite."""
LIMIT = {"sin": 1.6, "cos": 1.6, "sign": 0.0, "copysign": 0.0, "rint": 0.0, "fmod": 0.0, "remainder": 0.5,
         "floor_divide": 2.0,
         "expm1": 1.3, "log1p": 1.4, "arcsinh": 1.6, "arctanh": 1.6, "arccosh": 2.0, "sinh": 2.4, "cosh": 2.4,
         "tanh": 2.4}
"""In units in the last place; 1 where nothing is said."""


def _assembly(name: str, width: int, precision: str, fused: bool) -> str:
    """A module with `apply(count, x, y, result)`, which takes `width` elements at a time."""
    assembly = Assembly()
    lanes = Lanes(assembly, width, precision, fused=fused)
    vector, size = lanes.vector(precision), np.dtype(NUMBER[precision]).itemsize
    arguments = [lanes.line(f"load {vector}, ptr %{p}.here, align {size}", precision) for p in ("x", "y")]
    result = _apply(name, lanes, arguments)
    body = "\n".join(lanes.lines)
    assembly.functions["apply"] = f"""
define void @apply(i64 %count, ptr %x, ptr %y, ptr %result) {{
entry:
br label %loop
loop:
%i = phi i64 [ 0, %entry ], [ %next, %{lanes.block or "loop"} ]
%x.here = getelementptr {precision}, ptr %x, i64 %i
%y.here = getelementptr {precision}, ptr %y, i64 %i
%result.here = getelementptr {precision}, ptr %result, i64 %i
{body}
store {result.typed}, ptr %result.here, align {size}
%next = add i64 %i, {width}
%more = icmp slt i64 %next, %count
br i1 %more, label %loop, label %done
done:
ret void
}}"""
    return assembly.text()


def _apply(name: str, lanes: Lanes, arguments: list):
    if name == "sines of several":
        x, y = arguments
        (sx, cx), (sy, cy) = sincos(lanes, x), sincos(lanes, y)
        return sx * cy + cx * sy
    return emitter(OPERATIONS[name])(lanes, *arguments[:2 if name in TWO_ARGUMENTS else 1])


def _target_machine(triple: str, cpu: str = "", features: str = ""):
    return binding.Target.from_triple(triple).create_target_machine(cpu=cpu, features=features, opt=2, jit=True)


def _optimized(text: str, machine) -> binding.ModuleRef:
    module = binding.parse_assembly(text)
    module.verify()
    passes = binding.create_pass_builder(machine, binding.create_pipeline_tuning_options(speed_level=1))
    passes.getModulePassManager().run(module, passes)
    return module


@cache
def _engine(name: str, width: int, precision: str, fused: bool, plain: bool):
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    host = () if plain else (binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten())
    machine = _target_machine(binding.get_process_triple(), *host)
    engine = binding.create_mcjit_compiler(_optimized(_assembly(name, width, precision, fused), machine), machine)
    engine.finalize_object()
    return engine


def evaluate(name: str, *arguments, width: int = 8, precision: str = "double", fused: bool = True,
             plain: bool = False) -> np.ndarray:
    """`name` compiled and applied; `plain` compiles for the oldest processor of this kind."""
    engine = _engine(name, width, precision, fused, plain)
    function = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * 3)(engine.get_function_address("apply"))
    count = len(arguments[0])
    padding = -count % width
    x, y = (np.pad(np.asarray(a, NUMBER[precision]), (0, padding), mode="edge") for a in (arguments[0], arguments[-1]))
    result = np.empty_like(x)
    function(len(x), x.ctypes.data, y.ctypes.data, result.ctypes.data)
    return result[:count]


def any_finite(count: int, precision: str, seed: int) -> np.ndarray:
    """Random bit patterns: every exponent, subnormal ones included, is as likely as any other."""
    random = np.random.default_rng(seed)
    numbers = random.integers(0, np.iinfo(WORD[precision]).max, count, dtype=WORD[precision]).view(NUMBER[precision])
    return numbers[np.isfinite(numbers)]


def ordinary(precision: str, seed: int, count: int = 300) -> np.ndarray:
    random = np.random.default_rng(seed)
    spread = [random.uniform(-a, a, count) for a in (1.0, 4.0, 100.0)]
    close = random.uniform(-1, 1, count) * 2.0**-random.integers(1, 60, count)
    return np.concatenate([*spread, close, 1 + close, -1 + close]).astype(NUMBER[precision])


def next_to_multiples_of_half_pi(precision: str, count: int = 300) -> np.ndarray:
    k = np.concatenate([np.arange(1, count), 2 ** np.arange(1, 24), 3 * 2 ** np.arange(1, 24)])
    with mpmath.workprec(200):
        nearest = np.array([float(mpmath.mpf(int(i)) * mpmath.pi / 2) for i in k]).astype(NUMBER[precision])
    up, down = (np.nextafter(nearest, NUMBER[precision](s)) for s in (np.inf, -np.inf))
    return np.concatenate([nearest, -up, down])


def nearest_multiples_of_half_pi(precision: str) -> np.ndarray:
    """For many exponents e the m for which m 2^e comes closest to a multiple of pi/2: continued fraction of 2^e 2/pi.
    """
    digits, exponents = (53, range(-52, 972, 3)) if precision == "double" else (24, range(-23, 105))
    found = [6381956970095103 * 2.0**797] if precision == "double" else []
    with mpmath.workprec(1500):
        for e in exponents:
            scale = int(mpmath.floor(mpmath.ldexp(2 / mpmath.pi, e + 1300))) % 2**1300
            found += [float(m) * 2.0**e for m in _denominators(scale, 2**1300, 2**digits)[-2:]]
    return np.array(found).astype(NUMBER[precision])


def _denominators(a: int, b: int, limit: int) -> list[int]:
    """Of the convergents of a / b, those below a limit."""
    found, before, now = [], 0, 1
    while a:
        quotient, rest = divmod(b, a)
        before, now = now, quotient * now + before
        if now >= limit:
            break
        found.append(now)
        a, b = rest, a
    return found or [1]


def samples(name: str, precision: str) -> tuple[np.ndarray, ...]:
    x = np.concatenate([
        any_finite(3000, precision, 1),
        ordinary(precision, 2, 800),
        next_to_multiples_of_half_pi(precision, 100)])
    if name in TWO_ARGUMENTS:
        random = np.random.default_rng(3)
        with np.errstate(over="ignore"):
            comparable = (x * random.uniform(-3, 3, len(x))).astype(x.dtype)
        comparable = np.where(np.isfinite(comparable), comparable, x)
        return np.concatenate([x, x]), np.concatenate([random.permutation(x), comparable])
    if name in PERIODIC:
        return (np.concatenate([x, nearest_multiples_of_half_pi(precision)]),)
    if name == "exp":
        return (np.concatenate([x[np.abs(x) < 88], np.linspace(*EXPONENTS[precision], 2000).astype(x.dtype)]),)
    if name in ("expm1", "exp2", "sinh", "cosh"):
        low, high = EXPONENTS[precision]
        return (np.concatenate([x[np.abs(x) < 88], np.linspace(low, high, 2000).astype(x.dtype)]),)
    inside = {"arcsin": np.abs(x) <= 1, "arccos": np.abs(x) <= 1, "log": x > 0, "log2": x > 0, "log10": x > 0,
              "log1p": x > -1, "arctanh": np.abs(x) < 1, "arccosh": x >= 1}
    return (x[inside.get(name, np.isfinite(x))],)


EXACT = {
    "arcsin": mpmath.asin, "arccos": mpmath.acos, "arctan": mpmath.atan, "arctan2": mpmath.atan2, "hypot": mpmath.hypot,
    "remainder": lambda a, b: a - b * mpmath.floor(a / b), "floor_divide": lambda a, b: mpmath.floor(a / b),
    **{name: getattr(mpmath, name)
       for name in ("sin", "cos", "tan", "exp", "expm1", "log", "log10", "log1p", "sinh", "cosh", "tanh", "sign")},
    "arcsinh": mpmath.asinh, "arccosh": mpmath.acosh, "arctanh": mpmath.atanh, "exp2": lambda x: mpmath.mpf(2)**x,
    "log2": lambda x: mpmath.log(x, 2), "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "copysign": lambda a, b: abs(a) * (mpmath.sign(b) or 1), "rint": mpmath.nint,
    "fmod": lambda a, b: a - b * (mpmath.floor(a / b) if a / b > 0 else mpmath.ceil(a / b))}


def exact(name: str, arguments: tuple[float, ...]) -> mpmath.mpf:
    size = max(abs(a) for a in arguments)
    more = max(0, int(np.log2(size))) if name in PERIODIC and size > 0 else 0
    more = 2200 if name in ("remainder", "floor_divide", "fmod") else more
    with mpmath.workprec(200 + more):
        return EXACT[name](*map(mpmath.mpf, arguments))


def errors(got: np.ndarray, wanted: list[mpmath.mpf]) -> np.ndarray:
    """In units in the last place of the correctly rounded results; only the distance from these needs more digits."""
    with np.errstate(over="ignore", invalid="ignore"):
        nearest = np.array([float(want) for want in wanted])
        rounded = nearest.astype(got.dtype)
        unit = np.spacing(np.abs(rounded)).astype(np.float64)
    shifts = (1 - np.frexp(unit)[1]).tolist()
    with mpmath.workprec(200), np.errstate(invalid="ignore"):
        rest = [float(mpmath.ldexp(want - part, shift)) if np.isfinite(part) else 0.0
                for want, part, shift in zip(wanted, nearest.tolist(), shifts, strict=True)]
        found = np.abs((got.astype(np.float64) - nearest) / unit - rest)
    return np.where(np.isfinite(got) & ~np.isnan(found), found, np.where(got == rounded, 0.0, np.inf))


def largest_error(name: str, arguments: tuple[np.ndarray, ...], **options) -> tuple[float, tuple[float, ...]]:
    got = evaluate(name, *arguments, **options)
    rows = [tuple(map(float, row)) for row in zip(*arguments, strict=True)]
    found = errors(got, [exact(name, row) for row in rows])
    return found.max(), rows[found.argmax()]


def test_errors_are_measured_as_they_are():
    """Shares of a unit beside numbers of every size; and what is infinite or not a number is not a small error."""
    for number in (np.float64, np.float32):
        exactly = [mpmath.mpf(float(x)) for x in number([1.0, 1.5, 3e-40, 1e30, 7e-310])]
        units = [mpmath.mpf(float(np.spacing(number(float(x))))) for x in exactly]
        for share in (0.0, 0.25, 0.49, 1.25):
            with mpmath.workprec(200):
                wanted = [x + mpmath.mpf(share) * unit for x, unit in zip(exactly, units, strict=True)]
            assert errors(number([float(x) for x in exactly]), wanted) == pytest.approx(share, abs=1e-3)
    ends = [np.inf, np.nan, 1.0, -np.inf]
    assert errors(np.array(ends),
                  [mpmath.mpf("1e400"), mpmath.mpf(1),
                   mpmath.mpf("1e400"), mpmath.mpf(1)]).tolist() == [0.0] + 3 * [np.inf]


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_accurate_for_every_finite_argument(name, precision):
    worst, where = largest_error(name, samples(name, precision), precision=precision)
    assert worst <= LIMIT.get(name, 1.0), where


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", ("sin", "tan", "arctan2", "exp"))
def test_accurate_without_fused_products(name, precision):
    arguments = tuple(a[::3] for a in samples(name, precision))
    worst, where = largest_error(name, arguments, precision=precision, fused=False, plain=True)
    assert worst <= LIMIT.get(name, 1.0), where


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", (*FUNCTIONS, "sines of several"))
def test_a_lane_depends_on_nothing_but_its_own_argument(name, precision):
    x, y = (np.concatenate([
        any_finite(100, precision, s),
        ordinary(precision, s, 10), [np.inf, np.nan, 0.0, -0.0, 1e6]]) for s in (5, 6))
    count = min(len(x), len(y))
    reference = evaluate(name, x[:count], y[:count], width=1, precision=precision)
    for width in WIDTHS:
        for turn in {0, 1, width // 2}:
            turned = evaluate(name, np.roll(x[:count], turn), np.roll(y[:count], turn), width=width,
                              precision=precision)
            assert np.array_equal(np.roll(turned, -turn).view(WORD[precision]), reference.view(WORD[precision]))


def same(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Equal with the sign of zero, or both NaN, or one unit apart."""
    with np.errstate(invalid="ignore"):
        close = np.abs(got - want) <= np.spacing(np.abs(want))
    return np.where(np.isfinite(want), close & (np.signbit(got) == np.signbit(want)),
                    (got == want) | (np.isnan(got) & np.isnan(want)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_values_are_those_of_numpy(name, precision):
    limits = np.finfo(NUMBER[precision])
    above_one = np.nextafter(NUMBER[precision](1), NUMBER[precision](2))
    positive = [
        0.0, limits.smallest_subnormal, limits.tiny, 0.5, 1.0, above_one, 2.0, 90.0, 800.0, limits.max, np.inf, np.nan]
    special = np.array([*positive, *[-p for p in positive]], NUMBER[precision])
    arguments = [a.ravel() for a in np.meshgrid(special, special)] if name in TWO_ARGUMENTS else [special]
    got, want = evaluate(name, *arguments, precision=precision), getattr(np, name)(*arguments)
    assert same(got, want).all(), [
        (*a, g, w) for *a, g, w, ok in zip(*arguments, got, want, same(got, want), strict=True) if not ok]


def test_exponential_overflows_and_underflows_where_it_should():
    x = np.array([709.782712893384, 709.7827128933841, -745.1332191019411, -745.1332191019412, -708.4, -740.0])
    want = [float(exact("exp", (a,))) for a in x]
    assert np.isfinite(want[0]) and want[1] == np.inf and want[3] == 0.0 < want[2]
    assert same(evaluate("exp", x), np.array(want)).all()


def test_hypotenuse_of_a_pythagorean_triple_is_exact_at_every_scale():
    scale = 2.0 ** np.arange(-1074, 1021)
    assert np.array_equal(evaluate("hypot", 3 * scale, 4 * scale), 5 * scale)


def test_several_reductions_follow_each_other_in_one_body():
    x, y = np.array([1.0, 1e22, 3.0, 1e300, np.inf]), np.array([2.0, 0.5, 1e30, 1e200, 1.0])
    with np.errstate(invalid="ignore"):
        want = np.sin(x) * np.cos(y) + np.cos(x) * np.sin(y)
    assert np.allclose(evaluate("sines of several", x, y), want, rtol=0, atol=1e-15, equal_nan=True)


def test_constants_are_those_of_pi():
    with mpmath.workprec(1400):
        assert int(mpmath.floor(mpmath.ldexp(2 / mpmath.pi, 1161))) == TWO_OVER_PI_BITS
        for pieces in (HALF_PI, HALF_PI_SHORT):
            assert 0 < mpmath.pi / 2 - sum(map(mpmath.mpf, pieces)) < mpmath.ldexp(1, -150)


@pytest.mark.parametrize("triple", ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"))
@pytest.mark.parametrize("name", ("sin", "tan", "exp"))
def test_every_width_compiles_for_other_machines(name, triple):
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    for width in WIDTHS:
        machine = _target_machine(triple)
        assert "apply" in machine.emit_assembly(_optimized(_assembly(name, width, "double", fused=True), machine))
