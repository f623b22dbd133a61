"""Dynamics about an equilibrium, which is shifted to the origin, and the search for one.

    d' = F(d), or d_next = F(d),        F(0) = 0
d is the displacement from the equilibrium, in the tangents of the blocks of the state: of vectors the difference, of
unit quaternions the rotation vector from one orientation to the other, up to a half-turn. A system with constant
inputs, a function of the state, and equations of SymPy all become this. Equilibria are found by damped least squares in
displacements from a start, also where the linear model is singular, as of a mechanism that may rest anywhere along a
line. Source: Yamamoto Appendix H, spec S3-49."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy.optimize import least_squares

from cayley.compiler.algebras.packages import NUMPY
from cayley.compiler.array_parts import as_vector, joined
from cayley.compiler.derivatives.derivative import independent, slope_along
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.operations import CALLS, OPERATIONS
from cayley.compiler.tracing.graph import ancestors
from cayley.compiler.tracing.program import Program
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import SignatureError, UnreachableError, UnsupportedError, shown
from cayley.extras import optional_imports
from cayley.showing import brief
from cayley.systems import HasSystem, StateLike, System
from cayley.systems.arguments import given_inputs, given_parameters

if TYPE_CHECKING:
    from sympy import Expr, Symbol

# A system; x' or x_next by x (n); or by the symbol of each coordinate its rate, or its next value
Dynamics: TypeAlias = System | HasSystem | Kernel | Callable[[Array], Array] | Mapping["Symbol", "Expr"]

Values: TypeAlias = Mapping[str, ArrayLike] | None  # of inputs, or of parameters, by name

_AT_REST = 1e-8  # how far away the equilibrium may be, by the linear model, where the largest entry of A is one
_SMALL = 200  # operations: more make no formulas that could be looked at


@dataclass(frozen=True, eq=False)
class ErrorDynamics(HoldsFunctions):
    """Made by `error_dynamics`."""

    name: str
    labels: tuple[str, ...]
    """The entries of d."""
    rate: Kernel
    """F(d) (n)."""
    states: Callable[[Array], dict[str, Array]]
    """The states at displacements (..., n), by the names of their blocks or coordinates."""
    function: Callable[[Callable[..., Scalar]], Kernel]
    """Of a text of the state, V(x), the kernel V(d)."""
    discrete: bool = False
    curved: tuple[str, ...] = ()
    """Blocks that are no vectors."""
    constraints: Kernel | None = None
    """Quantities that must be zero, by d."""
    exact: tuple[tuple[Symbol, ...], tuple[Expr, ...]] | None = field(default=None, repr=False)

    __repr__ = brief

    @property
    def size(self) -> int:
        return len(self.labels)

    @cached_property
    def A(self) -> Array:
        """The linear model at the equilibrium (n, n)."""
        return np.asarray(self.rate.jacobian("d")(np.zeros(self.size)))

    @cached_property
    def is_linear(self) -> bool:
        """True if F is A d everywhere: no entry of its derivative depends on d, and it jumps nowhere."""
        if jumps_anywhere(self.rate.program()):
            return False
        program = self.rate.jacobian("d").program()
        own = {node.index for variable in program.inputs for node in variable.nodes}
        return not any(node.index in own for v in program.outputs for node in ancestors(v.nodes))

    @cached_property
    def is_smooth(self) -> bool:
        """True if A is the derivative of F at the equilibrium: there is no kink and no jump."""
        return is_smooth(self.rate)

    @cached_property
    def expressions(self) -> tuple[tuple[Symbol, ...], tuple[Expr, ...]] | None:
        """d and F(d) in symbols of SymPy, where they are short enough to be looked at."""
        if self.exact is not None:
            return self.exact
        if len(self.rate.program().nodes) > _SMALL:
            return None
        with optional_imports():
            import sympy
        d = tuple(sympy.Symbol(label, real=True) for label in self.labels)
        return d, in_symbols(self.rate, d)

    def stillness(self) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
        """The function of d that is zero at equilibria, F(d), or F(d) - d, and the constraints; its derivative."""
        jacobian = self.rate.jacobian("d")
        less = np.eye(self.size) if self.discrete else np.zeros((self.size, self.size))
        if self.constraints is None:
            return lambda d: self.rate(d) - less @ d, lambda d: jacobian(d) - less
        values, slopes = self.constraints, self.constraints.jacobian("d")
        return (lambda d: np.concatenate([self.rate(d) - less @ d, values(d)]),
                lambda d: np.concatenate([jacobian(d) - less, slopes(d)]))

    def stepper(self, h: float, steps: int, threads: int = 1) -> Callable[[Array], Array]:
        """The function from displacements (k, n) to those after some steps, in continuous time of h [s] each."""
        if self.discrete:
            return lambda d: reduce(lambda at, _: np.asarray(self.rate(at)), range(steps), d)
        roll = System(self.name, state={"d": self.size}, derivative=lambda t, x, u, p: self.rate(x.d)).rollout()
        return lambda d: np.asarray(roll({"d": d}, step=h, steps=steps, every=steps, threads=threads,
                                         progress=False)["d"][:, -1])

    def check_rest(self) -> None:
        """Refuse a state that is no equilibrium."""
        if not self.size:
            raise SignatureError(f"{self.name} has no state that could be stable or not")
        rates = self.rate(np.zeros(self.size))
        if not np.isfinite(rates).all() or not np.isfinite(self.A).all():
            where = ", ".join(label for label, x in zip(self.labels, rates, strict=True) if not np.isfinite(x))
            raise SignatureError(f"{self.name} has no finite rates of {where or 'change'} at this state")
        worst = int(np.argmax(np.abs(rates)))
        if not abs(rates[worst]) <= _AT_REST * max(1.0, float(np.abs(self.A).max())):
            moves = "moves on" if self.discrete else "does not rest"
            raise SignatureError(f"{self.name} {moves} at this state: {self.labels[worst]} changes by "
                                 f"{rates[worst]:.6g}{'' if self.discrete else ' a second'}; `find_equilibrium` finds "
                                 "where it rests")


def error_dynamics(dynamics: Dynamics, at: StateLike | None = None, *, inputs: Values = None, parameters: Values = None,
                   discrete: bool = False) -> ErrorDynamics:
    """The dynamics in displacements from an equilibrium `at`. For a system that is a state by block names, with its
    `inputs` and `parameters`, for a function of a vector (n) that vector, and for equations the values of their
    symbols, by default the origin. `discrete`: functions and equations give the next state, not the rate.

    `SignatureError` where the state is no equilibrium. `UnsupportedError`: a system depends on the time, has modes or
    constraints (of which `linear_stability` knows).

    >>> import sympy as sp
    >>> x, v = sp.symbols("x v")
    >>> shifted = error_dynamics({x: v, v: x - x**3 - v}, {x: 1})
    >>> shifted.expressions[1]
    (v, -v + x - (x + 1)**3 + 1)
    """
    found = displaced(dynamics, at, inputs=inputs, parameters=parameters, discrete=discrete)
    if found.constraints is not None:
        raise UnsupportedError(f"{found.name} has constraints: `linear_stability` has a verdict on it; anything more "
                               "is for independent coordinates")
    found.check_rest()
    return found


def displaced(dynamics: Dynamics, at: StateLike | None, *, inputs: Values = None, parameters: Values = None,
              discrete: bool = False) -> ErrorDynamics:
    """The same about a state that need not be an equilibrium."""
    if isinstance(dynamics, Mapping):
        _check_none(inputs, parameters, "equations")
        return _of_equations(dynamics, at, discrete)
    if isinstance(dynamics, Kernel) or not (isinstance(dynamics, System) or hasattr(dynamics, "system")):
        _check_none(inputs, parameters, "a function")
        return _of_function(dynamics, at, discrete)
    system = dynamics if isinstance(dynamics, System) else dynamics.system()
    if discrete:
        raise UnsupportedError(f"{system.name} moves in continuous time: a discrete system must be a function of the "
                               f"state, equations, or a linear model with a step")
    return _of_system(system, at, inputs or {}, parameters or {})


def in_symbols(function: Kernel, d: tuple[Symbol, ...]) -> tuple[Expr, ...]:
    """The entries of a kernel of one vector in symbols."""
    with optional_imports():
        import sympy

    from cayley.compiler.algebras.packages import SYMPY
    found = function.evaluate(SYMPY, sympy.Matrix(d))
    return tuple(found) if isinstance(found, (sympy.MatrixBase, sympy.NDimArray)) else (found,)


def _of_system(system: System, at: StateLike | None, inputs: Mapping[str, ArrayLike],
               parameters: Mapping[str, ArrayLike]) -> ErrorDynamics:
    for is_so, words in ((system.is_timed, "depends on the time itself"),
                         (bool(system.layout.modes or system.transitions), "has modes or transitions")):
        if is_so:
            raise UnsupportedError(f"stability is that of x' = f(x); {system.name} {words}")
    layout = system.layout
    x = layout.vectors(layout.given({} if at is None else at))
    if x.ndim != 1:
        raise SignatureError(f"an equilibrium of {system.name} is one state, not a batch {x.shape[:-1]}")
    u = {name: a.astype(float) for name, a in given_inputs(system, inputs, system.inputs).items()}
    p = {name: a.astype(float)[()] for name, a in given_parameters(system, parameters, system.parameters).items()}
    here = layout.state(x.astype(float))

    def moved(d: Array) -> Any:  # noqa: ANN401 (a state of symbols or numbers)
        return here.replaced(layout.stepped(here, layout.tangents(d)))

    def rate(d: Array) -> Array:
        there = moved(d)
        tangents = system.tangents(0.0, there, system.input_record(u), system.parameter_record(p))
        parts = []
        for name, block in system.blocks.items():
            if block.is_flat:
                parts.append(as_vector(tangents[name]))
                continue
            point = independent(there[name])
            apart = block.manifold.difference(here[name], point)
            parts.append(as_vector(slope_along(apart, point, block.manifold.rate(point, tangents[name]))))
        return joined(parts)

    n = layout.freedoms
    displacement = kernel(f"({n})->({layout.size})", inputs=("d",))(lambda d: layout.vector(moved(d)))
    labels = [f"{name}{index}" for name, block in system.blocks.items() for index in _indices(block.tangent)]
    return ErrorDynamics(
        system.name, tuple(labels), kernel(f"({n})->({n})", inputs=("d",), name="error_rate")(rate),
        lambda d: {name: layout.state(displacement(d))[name] for name in system.blocks},
        lambda V: kernel(f"({n})->()", inputs=("d",), name="candidate")(lambda d: V(moved(d))),
        curved=tuple(name for name, block in system.blocks.items() if not block.is_flat),
        constraints=_constraints(system, moved, u, p) if system.constraints else None)


def _constraints(system: System, moved: Callable[[Array], Any], u: Mapping[str, Array],
                 p: Mapping[str, Array]) -> Kernel:
    def values(d: Array) -> Array:
        given = (0.0, moved(d), system.input_record(u), system.parameter_record(p))
        return joined([as_vector(text(*given)) for text in system.constraints.values()])

    n = system.layout.freedoms
    return kernel(f"({n})->({len(values(np.zeros(n)))})", inputs=("d",), name="constraints")(values)


def _of_function(function: Callable[[Array], Array], at: StateLike | None, discrete: bool) -> ErrorDynamics:
    if at is None or isinstance(at, Mapping):
        raise SignatureError(f"the equilibrium of a function of a vector must be that vector (n), not {shown(at)}")
    x = np.asarray(at, dtype=float)
    if x.ndim != 1 or not np.isfinite(x).all():
        raise SignatureError(f"an equilibrium must be finite numbers (n), not {shown(at)}")
    n = len(x)
    name = getattr(function, "__name__", "function")

    def rate(d: Array) -> Array:
        found = function(x + d)
        if np.shape(found) != (n,):
            raise SignatureError(f"{name} gives {np.shape(found)} for a state ({n},), not a rate of that shape")
        return found - x if discrete else found

    return ErrorDynamics(
        name, tuple(f"x{index}" for index in _indices((n,))),
        kernel(f"({n})->({n})", inputs=("d",), name="error_rate")(rate), lambda d: {"x": x + d},
        lambda V: kernel(f"({n})->()", inputs=("d",), name="candidate")(lambda d: V(x + d)), discrete)


def _of_equations(equations: Mapping[Symbol, Expr], at: StateLike | None, discrete: bool) -> ErrorDynamics:
    with optional_imports():
        import sympy
    symbols = tuple(equations)
    values = {} if at is None else at
    if not isinstance(values, Mapping) or any(symbol not in equations for symbol in values):
        raise SignatureError(f"the equilibrium of equations must be given by their symbols, {symbols}, not {shown(at)}")
    x = {s: sympy.nsimplify(values.get(s, 0)) if isinstance(values.get(s, 0), int) else sympy.sympify(values.get(s, 0))
         for s in symbols}
    d = tuple(sympy.Symbol(s.name, real=True) for s in symbols)
    there = {s: x[s] + e for s, e in zip(symbols, d, strict=True)}
    moved = [sympy.sympify(equations[s]).subs(there, simultaneous=True) - (x[s] if discrete else 0) for s in symbols]
    strangers = sorted({s.name for e in moved for s in e.free_symbols} - {s.name for s in symbols})
    if strangers:
        raise SignatureError(f"the equations have symbols that are not coordinates: {', '.join(strangers)}; give them "
                             "values")
    start = np.array([float(x[s]) for s in symbols])
    n = len(symbols)

    def function(V: Callable[..., Scalar] | Expr) -> Kernel:
        text = sympy.sympify(V if isinstance(V, sympy.Basic) else V(dict(zip(symbols, symbols, strict=True))))
        return expression_kernel(d, (text.subs(there, simultaneous=True),), "()")

    return ErrorDynamics(
        "equations", tuple(s.name for s in symbols), expression_kernel(d, moved, f"({n})"),
        lambda e: {s.name: (start + e)[..., k] for k, s in enumerate(symbols)}, function, discrete,
        exact=(d, tuple(moved)))


def expression_kernel(d: tuple[Symbol, ...], expressions: Any, shape: str) -> Kernel:  # noqa: ANN401 (of SymPy)
    """Expressions of SymPy as a kernel of the vector of their symbols."""
    with optional_imports():
        import sympy
    text = sympy.lambdify(d, list(expressions), modules="numpy", cse=True)

    def rate(d: Array) -> Array:
        found = np.array([part + 0.0 * d[0] for part in text(*d)])
        return found if shape != "()" else found[0]

    return kernel(f"({len(d)})->{shape}", inputs=("d",), name="error_rate")(rate)


def _indices(shape: tuple[int, ...]) -> list[str]:
    return ["".join(f"[{i}]" for i in index) for index in np.ndindex(*shape)]


def _check_none(inputs: object, parameters: object, what: str) -> None:
    if inputs or parameters:
        raise SignatureError(f"{what} of the state alone has no inputs and no parameters")


_REST = 1e-10  # rates, where the largest entry of A is one


@dataclass(frozen=True, eq=False)
class SystemEquilibrium:
    """A state of rest, by the names of its blocks, what is left of its rates, and how it was found."""

    state: dict[str, Array]
    residual: float
    evaluations: int
    message: str

    __repr__ = brief


def find_equilibrium(dynamics: Dynamics, near: StateLike | None = None, *, inputs: Values = None,
                     parameters: Values = None, discrete: bool = False) -> SystemEquilibrium:
    """Find an equilibrium near the state `near`; `UnreachableError` if none is found.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r").with_gravity([0.0, -9.81, 0.0])
    >>> loop = cy.connect(arm, arm.control.pd(200.0, 40.0))
    >>> rest = find_equilibrium(loop, {"q": [0.5, -0.3], "qd": [0.0, 0.0]}, inputs={"target": [0.5, -0.3]})
    >>> rest.state["q"].round(4)
    array([ 0.4296, -0.3146])
    """
    about = displaced(dynamics, near, inputs=inputs, parameters=parameters, discrete=discrete)
    moves, slopes = about.stillness()
    found = least_squares(moves, np.zeros(about.size), jac=slopes, method="lm" if about.size else "trf", xtol=1e-15,
                          ftol=1e-15, gtol=1e-15)
    residual = float(np.abs(found.fun).max(initial=0.0))
    if not residual <= _REST * max(1.0, float(np.abs(found.jac).max(initial=0.0))):
        names = [*[f"the rate of {label}" for label in about.labels], *["a constraint"] * len(found.fun)]
        worst = names[int(np.argmax(np.abs(found.fun)))]
        raise UnreachableError(f"no equilibrium of {about.name} was found from there: {worst} is still {residual:.3g} "
                               f"where the search ended ({found.message})")
    return SystemEquilibrium(about.states(found.x), residual, int(found.nfev), str(found.message))


_Place: TypeAlias = tuple[int, ...]  # the number of a node, after those of the calls around it

_NEARBY = 1e-9
_LOOKS = 64
_MOST_PIECES = 512
_SAME = 1e-6  # relative: what differs by more over so short a way has jumped
_BRANCHED = frozenset({"arctan2"})  # continuous in its table, but for its cut


def jumps_anywhere(program: Program) -> bool:
    """True if any operation of a program is not continuous in its operands."""
    return any(node.op in _BRANCHED or OPERATIONS[node.op].jumps or (
        node.op == "call" and jumps_anywhere(node.value.program)) for node in program.nodes)


def is_smooth(function: Kernel) -> bool:
    """True if a kernel of one vector has its derivative at the origin: no piece of it ends there.

    Comparisons, signs and roundings have no derivative of their own. Each combination of the values that they have
    around the origin is a piece that may begin there; all must have the same value and derivatives at the origin.

    >>> import cayley as cy
    >>> is_smooth(cy.kernel("(1)->(1)", inputs=("d",))(lambda d: d * abs(d)))
    True
    >>> is_smooth(cy.kernel("(1)->(1)", inputs=("d",))(lambda d: d + abs(d)))
    False
    """
    return all(_is_one_piece(made.program()) for made in (function, function.jacobian(function.inputs[0])))


def _is_one_piece(program: Program) -> bool:
    """True if the results of a program are the same at the origin by all pieces that may begin there."""
    n = len(program.inputs[0].nodes)
    ways = np.random.default_rng(0).normal(size=(_LOOKS, n))
    around = np.concatenate([np.zeros((1, n)), np.eye(n), -np.eye(n), ways, -ways])
    seen: dict[_Place, Array] = {}
    with np.errstate(all="ignore"):
        _results(program, list(_NEARBY * around.T), {}, seen)
        ends = {place: np.unique(values) for place, values in seen.items() if _differ(values)}
        if not ends:
            return True
        if np.prod([float(len(values)) for values in ends.values()]) > _MOST_PIECES:
            return False
        pieces = np.array(list(product(*ends.values())), dtype=float)
        chosen = dict(zip(ends, pieces.T, strict=True))
        found = _results(program, [np.zeros(len(pieces))] * n, chosen, {})
    return not any(_differ(np.atleast_1d(np.asarray(result, dtype=float))) for result in found)


def _differ(values: Array) -> bool:
    return not bool(np.ptp(values) <= _SAME * max(1.0, float(np.abs(values).max())))


def _results(program: Program, inputs: list[Any], chosen: Mapping[_Place, Array], seen: dict[_Place, Array],
             within: _Place = ()) -> list[Any]:
    """The results of a program; of operations that jump the values are those that are chosen, and told."""
    table = {op: NUMPY.function(op) for op in {node.op for node in program.nodes} - {"input", "constant"} - CALLS}
    values = dict(zip((node.index for v in program.inputs for node in v.nodes), inputs, strict=True))
    for node in program.nodes[len(values):]:
        operands = [values[a.index] for a in node.args]
        place = (*within, node.index)
        if node.op == "constant":
            values[node.index] = np.float64(node.value)
        elif node.op == "call":
            values[node.index] = _results(node.value.program, operands, chosen, seen, place)
        elif node.op == "result":
            values[node.index] = operands[0][node.value]
        else:
            values[node.index] = table[node.op](*operands)
            if node.op in _BRANCHED or OPERATIONS[node.op].jumps:
                if place in chosen:
                    values[node.index] = chosen[place] > 0.5 if OPERATIONS[node.op].is_truth else chosen[place]
                seen[place] = np.atleast_1d(np.asarray(values[node.index], dtype=float))
    return [values[node.index] for node in program.results]
