"""Random functions of three numbers, to be compiled and compared with NumPy, with C and with 50 digits.

A function is a list of steps, each an operation on earlier values; it runs on floats, on arrays, on symbols and on
mpmath numbers. `check(seed)` makes the functions of one seed and compares everything; `python -m fuzz.random_functions
1000 2000`, in the folder of the tests, tries many seeds.
"""

import sys
from random import Random

import mpmath
import numpy as np

import cayley as cy
from cayley.compiler.algebras.interpret import MPMATH, interpret
from cayley.compiler.c.c_source import c_source
from compiler.parity import COMPILER, STRICT, call_c, compiled_c

MP = mpmath.MPContext()
MP.dps = 50
CONSTANTS = (0.0, 1.0, -1.0, 2.0, 0.5, 3.0, 0.1, 49.0, -7.0, 1e-3, 2.0 * np.pi, -0.25)
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 49.0, 0.1, 5e-324, -1e-310, 2.3e-308, 1.7e308, -1.7e308,
           1e-30, 3e38)

EXACT = {"add": 2, "subtract": 2, "multiply": 2, "divide": 2, "negative": 1, "absolute": 1, "square": 1, "sqrt": 1,
         "reciprocal": 1, "minimum": 2, "maximum": 2, "floor": 1, "ceil": 1, "trunc": 1, "sign": 1, "remainder": 2,
         "floor_divide": 2, "chosen": 4}
"""Operations on whose every bit the machine, C and NumPy agree, by the number of their operands."""
ELEMENTARY = {"sin": 1, "cos": 1, "tan": 1, "exp": 1, "log": 1, "arctan": 1, "arcsin": 1, "arccos": 1, "arctan2": 2,
              "hypot": 2}
SMOOTH = {**{op: EXACT[op] for op in ("add", "subtract", "multiply", "divide", "negative", "square", "reciprocal")},
          **{op: ELEMENTARY[op] for op in ("sin", "cos", "arctan", "exp", "hypot", "arctan2")}}
ROUNDING = {"add": 2, "subtract": 2, "multiply": 2, "divide": 2, "negative": 1, "sqrt": 1, "absolute": 1}


def chosen(a, b, c, d):
    return cy.where(a < b, c, d)


class RandomFunction:
    """Steps (operation, operands) on three inputs; an operand is the place of an earlier value, or a constant."""

    def __init__(self, random: Random, operations: dict[str, int], length: int, outputs: int):
        self.steps = []
        for place in range(3, 3 + length):
            op = random.choice(sorted(operations))
            operands = [_operand(random, place) for _ in range(operations[op])]
            for k in (0, 2) if op == "chosen" else [] if any(isinstance(o, int) for o in operands) else [0]:
                operands[k] = random.randrange(place)  # a value of the precision, not a constant
            self.steps.append((op, operands))
        self.results = sorted(random.sample(range(3, 3 + length), outputs))

    def values(self, inputs, functions):
        known = list(inputs)
        for op, operands in self.steps:
            known.append(functions(op)(*[o if isinstance(o, float) else known[o] for o in operands]))
        return [known[k] for k in self.results]

    def __call__(self, x):
        return np.stack(self.values([x[..., k] for k in range(3)], _numpy), axis=-1)

    def in_digits(self, *x):
        return self.values(x, _digits)

    def kernel(self, **options):
        return cy.kernel(f"(3)->({len(self.results)})", name="random_function", inputs=["x"], **options)(self)

    def __str__(self):
        return "\n".join([f"v{k} = {op}({', '.join(str(o) if isinstance(o, float) else f'v{o}' for o in operands)})"
                          for k, (op, operands) in enumerate(self.steps, 3)] + [f"return {self.results}"])


def _operand(random, place):
    if random.random() < 0.25:
        return random.choice(CONSTANTS)
    return random.randrange(place) if random.random() < 0.4 else random.randrange(max(0, place - 6), place)


def _numpy(op):
    return chosen if op == "chosen" else getattr(np, op)


def _digits(op):
    special = {"add": MP.fadd, "subtract": MP.fsub, "multiply": MP.fmul, "divide": MP.fdiv, "negative": lambda a: -a,
               "square": lambda a: a * a, "reciprocal": lambda a: 1 / a, "arctan": MP.atan, "arctan2": MP.atan2}
    return special.get(op) or getattr(MP, op)


def points(seed: int, dtype) -> np.ndarray:
    """Ordinary numbers, whole numbers, tenths, and every special value beside others."""
    random = np.random.default_rng(seed)
    ordinary = random.normal(size=(40, 3)) * 10.0 ** random.integers(-3, 4, (40, 1))
    round_numbers = np.concatenate([random.integers(-60, 60, (20, 3)), random.integers(-60, 60, (20, 3)) / 10.0])
    with np.errstate(over="ignore"):
        return np.concatenate([ordinary, round_numbers, random.choice(SPECIAL, (60, 3))]).astype(dtype)


def same_bits(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Equal, zeros with their signs; any NaN is as good as another."""
    return (np.isnan(found) & np.isnan(expected)) | ((found == expected) & (np.signbit(found) == np.signbit(expected)))


def check(seed: int, *, in_c: bool = True) -> None:
    """All comparisons for one seed; the message of a failure shows the function."""
    random = Random(seed)
    check_strict(RandomFunction(random, EXACT, 30, 12), seed, in_c=in_c)
    check_real_algebra(RandomFunction(random, {**EXACT, **ELEMENTARY}, 30, 10), seed, in_c=in_c)
    check_last_bit(random, seed)
    check_derivative(RandomFunction(random, SMOOTH, 8, 2), random)


def check_strict(function: RandomFunction, seed: int, *, in_c: bool) -> None:
    """Strict kernels give NumPy's bits: compiled in both precisions, alone and in a batch, and as C."""
    kernel = function.kernel(strict=True)
    for dtype, precision in ((np.float64, "double"), (np.float32, "float")):
        x = points(seed, dtype)
        with np.errstate(all="ignore"):
            expected = function(x)
        assert expected.dtype == dtype
        _agree("compiled", function, x, kernel(x), same_bits(kernel(x), expected), expected)
        _agree("alone", function, x[::7], *_alone(kernel, x[::7], expected[::7]))
        if in_c and COMPILER:
            found = _in_c(kernel.program(), x, precision)
            _agree("C", function, x, found, same_bits(found, expected), expected)


def check_real_algebra(function: RandomFunction, seed: int, *, in_c: bool) -> None:
    """By default results are NumPy's but for rounding, wherever rounding decides nothing; batches are computed like
    states.
    """
    kernel = function.kernel()
    for dtype in (np.float64, np.float32):
        x = points(seed, dtype)
        expected, bound = bounded(function, x)
        decided = np.isfinite(expected) & (bound < 1e-2 * (1.0 + np.abs(expected)))
        found = kernel(x)
        _agree("compiled", function, x, found, ~decided | _within(found, expected, bound), expected)
        single = np.stack([kernel(state) for state in x[::5]])
        _agree("alone", function, x[::5], single, same_bits(single, found[::5]), found[::5])
        if in_c and COMPILER and dtype is np.float64:
            found = _in_c(kernel.program(), x, "double")
            _agree("C", function, x, found, ~decided | _within(found, expected, bound), expected)


def check_last_bit(random: Random, seed: int) -> None:
    """Without strict too: where nothing cancels, floors, quotients rounded down and remainders are NumPy's to the last
    bit.

    Of ordinary numbers: below the smallest of them a power of two that changes its place is rounded elsewhere.
    """
    function = _Tree(random)
    for dtype in (np.float64, np.float32):
        x = points(seed, dtype)
        x = x[(np.isfinite(x) & ((x == 0) | (np.abs(x) > 1e6 * np.finfo(dtype).tiny))).all(axis=1)]
        with np.errstate(all="ignore"):
            expected = function(x)
        found = function.kernel()(x)
        _agree("last bit", function, x, found, ~np.isfinite(expected) | (found == expected), expected)


def check_derivative(function: RandomFunction, random: Random) -> None:
    """The graph of the derivative, in 50 digits, is the limit of differences."""
    jacobian = function.kernel().jacobian("x").program()
    x = [MP.mpf(random.uniform(0.3, 2.0)) for _ in range(3)]
    try:
        limits = [[MP.diff(lambda t, k=k, i=i: function.in_digits(*x[:k], t, *x[k + 1:])[i], x[k]) for k in range(3)]
                  for i in range(len(function.results))]
    except (ZeroDivisionError, ValueError):
        return
    with mpmath.workdps(50):
        found = interpret(jacobian, MPMATH, [mpmath.mpf(v) for v in x])[0]
    for row, expected in zip(found, limits, strict=True):
        for f, e in zip(row, expected, strict=True):
            agrees = abs(MP.mpf(f) - e) <= MP.mpf(10) ** -12 * (1 + abs(e)) or abs(e) > 1e30
            assert agrees, f"derivative {f} is not {e} at {x}\n{function}"


class _Tree:
    """Expressions in which every value is used once, so that nothing can cancel, below floors, quotients and
    remainders.
    """

    def __init__(self, random: Random):
        constants = random.sample([1.0, 2.0, 0.5, 3.0, 0.1, 49.0, -7.0, 1e-3, 2.0 * np.pi, -0.25], 10)
        self.text = [self._grown(random, [0], constants), self._grown(random, [1, 2], constants)]
        self.step = random.choice([0.1, 49.0, 2.0 * np.pi, -0.7, 1e-3])

    @staticmethod
    def _grown(random, leaves, constants):
        text = [("input", leaf) for leaf in leaves]
        for _ in range(5):
            op = random.choice(sorted(ROUNDING))
            operands = [text.pop() for _ in range(min(len(text), ROUNDING[op]))]
            text.append((op, operands, constants.pop() if len(operands) < ROUNDING[op] else None))
        return text

    def _value(self, term, x):
        if term[0] == "input":
            return x[..., term[1]]
        op, operands, constant = term
        return getattr(np, op)(*[self._value(o, x) for o in operands], *([] if constant is None else [constant]))

    def __call__(self, x):
        a, b = (self._value(text[-1], x) for text in self.text)
        return np.stack(
            [np.floor(a),
             np.floor(a / self.step), b // self.step, b % self.step,
             np.ceil(b),
             np.trunc(a), a % b], axis=-1)

    def kernel(self):
        return cy.kernel("(3)->(7)", name="random_tree", inputs=["x"])(self)

    def __str__(self):
        return f"{self.text} in steps of {self.step}"


def bounded(function: RandomFunction, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """NumPy's values and a bound on what rounding may have done to each: infinite where it may have decided something.
    """
    unit = float(np.finfo(x.dtype).eps)
    known = [(x[:, k].astype(x.dtype), np.zeros(len(x))) for k in range(3)]
    with np.errstate(all="ignore"):
        for op, operands in function.steps:
            exact = np.zeros(len(x))
            pairs = [(np.full(len(x), o, x.dtype), exact) if isinstance(o, float) else known[o] for o in operands]
            numbers, errors = [v for v, _ in pairs], [e for _, e in pairs]
            value = _numpy(op)(*[o if isinstance(o, float) else known[o][0] for o in operands])
            error = _spread(op, value, numbers, errors) + 4.0 * unit * np.abs(value)
            is_small = (np.abs(value) < 1e3 * float(np.finfo(x.dtype).tiny)) & (value != 0)
            known.append((value, np.where(~np.isfinite(value) | np.isnan(error) | is_small, np.inf, error)))
    return (np.stack([part[k] for k in function.results], axis=-1) for part in zip(*known, strict=True))


def _spread(op, value, v, e):
    """What errors of the operands do to the result, to first order; infinite next to a jump or the end of a domain."""
    a, b = np.abs(v[0]), np.abs(v[-1])
    if op in ("add", "subtract", "hypot", "minimum", "maximum"):
        return e[0] + e[1]
    if op == "chosen":
        decided = (np.abs(v[0] - v[1]) > 16 * (e[0] + e[1])) | (e[0] + e[1] == 0)
        return np.where(decided, np.where(v[0] < v[1], e[2], e[3]), np.inf)
    if op in ("floor", "ceil", "trunc", "sign"):
        distance = np.abs(v[0] - np.rint(v[0])) if op != "sign" else a
        return np.where((distance > 16 * e[0]) | (e[0] == 0), 0.0, np.inf)
    if op in ("remainder", "floor_divide"):
        ratio, blur = v[0] / v[1], (e[0] + np.abs(v[0] / v[1]) * e[1]) / b
        decided = (np.abs(ratio - np.rint(ratio)) > 16 * blur) | (e[0] + e[1] == 0)
        return np.where(decided, 0.0 if op == "floor_divide" else e[0] + np.abs(ratio) * e[1], np.inf)
    if op in ("multiply", "square"):
        return a * e[-1] + b * e[0]
    if op in ("divide", "reciprocal"):
        top = e[0] if op == "divide" else 0.0
        return np.where(b > 16 * e[-1], (top + np.abs(value) * e[-1]) / b, np.inf)
    if op in ("sqrt", "log"):
        slope = 1 / np.where(a == 0, 1.0, a) if op == "log" else 0.5 / np.where(value == 0, 1.0, np.abs(value))
        return np.where((a > 16 * e[0]) | (e[0] == 0), slope * e[0], np.inf)
    if op in ("arcsin", "arccos"):
        leg = np.sqrt(np.maximum(1 - a * a, 0.0))
        return np.where((1 - a > 16 * e[0]) | (e[0] == 0), e[0] / np.where(leg > 0, leg, 1.0), np.inf)
    if op == "arctan2":
        near = np.minimum(a, b) <= 16 * (e[0] + e[1])
        undecided = near & (e[0] + e[1] > 0) | (a == 0)  # the sign of a zero may be lost
        return np.where(undecided, np.inf, (a * e[1] + b * e[0]) / np.maximum(a * a + b * b, 1e-300))
    growth = {"exp": np.abs(value), "tan": 1 + value * value}.get(op, 1.0)
    return np.where(e[0] < 1e-2, growth * e[0], np.inf)


def _within(found, expected, bound):
    with np.errstate(invalid="ignore"):
        return np.abs(found - expected) <= 4.0 * bound


def _alone(kernel, x, expected):
    found = np.stack([kernel(state) for state in x])
    return found, same_bits(found, expected), expected


def _in_c(program, x, precision):
    code = compiled_c(c_source(program, precision=precision), (*STRICT, "-Wno-unknown-pragmas"))
    return np.stack([call_c(code, program, [state], precision)[0] for state in x])


def _agree(what, function, x, found, agrees, expected):
    if not agrees.all():
        row, column = np.argwhere(~agrees)[0]
        raise AssertionError(f"{what}: output {column} is {found[row, column]!r}, not {expected[row, column]!r}, at "
                             f"{x[row].tolist()} ({x.dtype})\n{function}")


if __name__ == "__main__":
    for number in range(*map(int, sys.argv[1:3])):
        try:
            check(number)
        except AssertionError as failure:
            print(f"seed {number}: {failure}")
