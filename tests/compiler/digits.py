"""Graphs in 60 digits, evaluated operation by operation with mpmath and nothing of the product but the nodes
themselves.
"""

import operator

import mpmath
import numpy as np

MP = mpmath.MPContext()
MP.dps = 60

DIGITS = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "negative": operator.neg,
    "sqrt": MP.sqrt,
    "sin": MP.sin,
    "cos": MP.cos,
    "tan": MP.tan,
    "arcsin": MP.asin,
    "arccos": MP.acos,
    "arctan": MP.atan,
    "arctan2": MP.atan2,
    "exp": MP.exp,
    "log": MP.log,
    "hypot": MP.hypot,
    "sinh": MP.sinh,
    "cosh": MP.cosh,
    "tanh": MP.tanh,
    "arcsinh": MP.asinh,
    "arccosh": MP.acosh,
    "arctanh": MP.atanh,
    "expm1": MP.expm1,
    "exp2": lambda a: MP.mpf(2)**a,
    "log1p": MP.log1p,
    "log2": lambda a: MP.log(a, 2),
    "log10": MP.log10,
    "cbrt": lambda a: MP.sign(a) * MP.cbrt(abs(a)),
    "copysign": lambda a, b: abs(a) if b >= 0 else -abs(a),
    "absolute": abs,
    "sign": MP.sign,
    "floor": MP.floor,
    "minimum": min,
    "maximum": max,
    "less": operator.lt,
    "less_equal": operator.le,
    "equal": operator.eq,
    "and": lambda a, b: bool(a) and bool(b),
    "not": operator.not_,
    "where": lambda c, a, b: a if c else b,
    "independent": lambda a: a,
    "rint": MP.nint,
    "fmod": lambda a, b: a - b * (MP.floor(a / b) if a / b > 0 else MP.ceil(a / b)),
    "remainder": lambda a, b: a - b * MP.floor(a / b),
    "floor_divide": lambda a, b: MP.floor(a / b), }
"""What each operation of a graph means."""

FLOATS = {
    **{op: getattr(np, op) for op in DIGITS if hasattr(np, op) and op not in ("where", "equal")}, "equal": np.equal,
    "and": np.logical_and, "not": np.logical_not, "where": np.where, "independent": lambda a: a,
}
"""The same with the NaN and infinity of the machine."""


def evaluate(outputs, values, meaning=DIGITS, number=MP.mpf):
    """The values of nodes, for the values of the inputs by name."""
    known = {}
    for node in sorted(_needed(outputs).values(), key=lambda node: node.index):
        if node.op == "input":
            known[node.index] = number(values[node.value])
        elif node.op == "constant":
            known[node.index] = number(node.value)
        else:
            known[node.index] = meaning[node.op](*[known[a.index] for a in node.args])
    return [known[node.index] for node in outputs]


def in_floats(outputs, values):
    with np.errstate(all="ignore"):
        return np.array([float(v) for v in evaluate(outputs, values, FLOATS, np.float64)])


def _needed(outputs):
    found, pending = {}, list(outputs)
    while pending:
        node = pending.pop()
        if node.index not in found:
            found[node.index] = node
            pending.extend(node.args)
    return found
