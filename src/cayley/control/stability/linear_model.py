"""Linear models with inputs and outputs: poles, zeros, what a constant input comes to, pictures, and other packages.

    x' = A x + B u, or x_next = A x + B u,        y = C x + D u        G(s) = C (s - A)^-1 B + D
Of a system they are the derivatives at an equilibrium. Entries of inputs and outputs have labels, "target[0]", by which
one of each is chosen for what is defined for one alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import eigvals, expm

from cayley.compiler.typing import Array, ArrayLike
from cayley.control.signals import check_sampling
from cayley.dynamics.linearised.state_space import StateSpace
from cayley.errors import ConventionError, SignatureError, SingularityError, UnsupportedError, did_you_mean, shown
from cayley.showing import brief
from cayley.systems import HasSystem, Port, StateLike, System

if TYPE_CHECKING:
    from cayley.control.stability.single_loops import Bode, RootLocus

_INFINITE = 1e8  # zeros beyond, of models scaled to one, are none


@dataclass(frozen=True, eq=False)
class LinearModel(StateSpace):
    """A (n, n), B (n, m), C (k, n), D (k, m), with a step `dt` [s] if it is discrete; inputs and outputs by label.

    >>> spring = LinearModel([[0.0, 1.0], [-4.0, -0.4]], [[0.0], [1.0]], C=[[1.0, 0.0]])
    >>> spring.steady_gain, spring.bode().peak.round(3)
    (array([[0.25]]), np.float64(1.256))
    """

    C: Array = None  # type: ignore[assignment]
    D: Array = None  # type: ignore[assignment]
    inputs: Sequence[str] = ()
    outputs: Sequence[str] = ()
    name: str = "the linear model"

    __repr__ = brief

    def __post_init__(self) -> None:
        A = _matrix(self.A, "A")
        n = len(A)
        B = _matrix(np.zeros((n, 0)) if self.B is None else self.B, "B")
        C = _matrix(np.eye(n) if self.C is None else self.C, "C")
        D = _matrix(np.zeros((len(C), B.shape[1])) if self.D is None else self.D, "D")
        if A.shape != (n, n) or len(B) != n or C.shape[1] != n or D.shape != (len(C), B.shape[1]):
            raise SignatureError(f"A (n, n), B (n, m), C (k, n) and D (k, m) do not fit together: they have the shapes "
                                 f"{A.shape}, {B.shape}, {C.shape}, {D.shape}")
        if self.dt is not None and not 0 < self.dt < np.inf:
            raise SignatureError(f"the step of a discrete model must be a positive time, not {shown(self.dt)}")
        inputs = tuple(self.inputs) or tuple(_labels("u", B.shape[1]))
        outputs = tuple(self.outputs) or tuple(_labels("y", len(C)))
        if len(inputs) != B.shape[1] or len(outputs) != len(C):
            raise SignatureError(f"{B.shape[1]} inputs and {len(C)} outputs need as many labels, not {inputs} and "
                                 f"{outputs}")
        for field, value in (("A", A), ("B", B), ("C", C), ("D", D), ("inputs", inputs), ("outputs", outputs)):
            object.__setattr__(self, field, value)

    @property
    def zeros(self) -> Array:
        """The finite s at which an input that is not zero leaves no output; for as many inputs as outputs."""
        n = len(self.A)
        if self.B.shape[1] != len(self.C):
            raise SignatureError(f"zeros are those of as many inputs as outputs, not of {self.B.shape[1]} and "
                                 f"{len(self.C)}: choose by `between`")
        matrix = np.block([[self.A, self.B], [self.C, self.D]])
        scale = max(1.0, float(np.abs(self.A).max(initial=0.0)))
        found = eigvals(matrix, np.diag([1.0] * n + [0.0] * len(self.C)))
        return np.sort_complex(found[np.isfinite(found) & (np.abs(found) < _INFINITE * scale)])

    def transfer(self, s: ArrayLike) -> Array:
        """G (..., k, m) at complex numbers s (...) [1/s], or z of a discrete model."""
        at = np.asarray(s, dtype=complex)[..., None, None]
        n = len(self.A)
        solved = np.linalg.solve(at * np.eye(n) - self.A, np.broadcast_to(self.B, (*at.shape[:-2], *self.B.shape)))
        return np.asarray(self.C @ solved + self.D)

    @property
    def steady_gain(self) -> Array:
        """The steady outputs (k) for constant inputs (m) of one each: G(0), by the theorem of the final value.
        `SingularityError` where they come to nothing: not all poles are stable."""
        if not self.stable:
            poles = self.poles
            worst = poles[np.argmax(np.abs(poles) if self.dt else poles.real)]
            raise SingularityError(f"{self.name} comes to no steady value: it has the pole {worst:.6g}")
        return np.asarray(self.transfer(0.0 if self.dt is None else 1.0).real)

    def between(self, input: str | int = 0, output: str | int = 0) -> LinearModel:
        """The model from one input to one output, by label or place."""
        column = _chosen(input, self.inputs, "input", self.name)
        row = _chosen(output, self.outputs, "output", self.name)
        return replace(self, B=self.B[:, [column]], C=self.C[[row]], D=self.D[[row]][:, [column]],
                       inputs=[self.inputs[column]], outputs=[self.outputs[row]])

    def bode(self, input: str | int | None = None, output: str | int | None = None, *,
             frequencies: ArrayLike | None = None) -> Bode:
        """Amplitude and phase of an output over the frequencies [rad/s] of an input, and margins; see `Bode`."""
        from cayley.control.stability.single_loops import bode
        return bode(self._single(input, output), frequencies)

    def root_locus(self, input: str | int | None = None, output: str | int | None = None, *,
                   gains: ArrayLike | None = None) -> RootLocus:
        """The poles when the output is fed back to the input with gains, u = -k y; see `RootLocus`."""
        from cayley.control.stability.single_loops import root_locus
        return root_locus(self._single(input, output), gains)

    def _single(self, input: str | int | None, output: str | int | None) -> LinearModel:
        if (input is None and len(self.inputs) != 1) or (output is None and len(self.outputs) != 1):
            raise SignatureError(f"{self.name} has the inputs {', '.join(self.inputs) or 'none'} and the outputs "
                                 f"{', '.join(self.outputs) or 'none'}: say which one of each")
        return self.between(input or 0, output or 0)

    def discretised(self, dt: float) -> LinearModel:
        """The exact model of steps of `dt` [s] in which u is held."""
        stepped = super().discretised(dt)
        return replace(self, A=stepped.A, B=stepped.B, dt=stepped.dt)

    def driven_by(self, columns: Sequence[int]) -> LinearModel:
        """The same with some inputs alone."""
        chosen = list(columns)
        return replace(self, B=self.B[:, chosen], D=self.D[:, chosen], inputs=[self.inputs[k] for k in chosen])

    def system(self, state: str = "x", input: str = "u", output: str = "y") -> System:
        """The model as a system of vectors, to be connected and simulated."""
        if self.dt is not None:
            raise UnsupportedError(f"{self.name} moves in steps of {self.dt} s; a system moves in continuous time")
        sizes = {output: len(self.C)}
        if not self.inputs:
            return System(self.name, state={state: len(self.A)}, outputs=sizes,
                          derivative=lambda t, x, u, p: self.A @ x[state], output=lambda t, x, u, p: self.C @ x[state])
        return System(self.name, state={state: len(self.A)}, inputs={input: len(self.inputs)}, outputs=sizes,
                      derivative=lambda t, x, u, p: self.A @ x[state] + self.B @ u[input],
                      output=lambda t, x, u, p: self.C @ x[state] + self.D @ u[input])

    def to_control(self) -> Any:  # noqa: ANN401 (a StateSpace of python-control, which may not be there)
        """The same for the package python-control: `control.StateSpace`."""
        if not self.inputs or not self.outputs:
            missing = "outputs" if self.inputs else "inputs"
            raise UnsupportedError(f"{self.name} has no {missing}: python-control has no such models")
        return _control().StateSpace(self.A, self.B, self.C, self.D, self.dt or 0, inputs=list(self.inputs),
                                     outputs=list(self.outputs), remove_useless_states=False)


def linear_model(plant: System | HasSystem, at: StateLike, *, inputs: Mapping[str, ArrayLike] | None = None,
                 parameters: Mapping[str, ArrayLike] | None = None) -> LinearModel:
    """The linear model of a system at a state, from all its inputs to all its outputs.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r")
    >>> loop = cy.connect(arm, arm.control.computed_torque(100.0, 20.0))
    >>> model = linear_model(loop, {"q": [0.3, 0.4], "qd": [0.0, 0.0]}, inputs={"target": [0.3, 0.4]})
    >>> model.between("target[0]", "q[0]").steady_gain.round(6)
    array([[1.]])
    """
    if not isinstance(plant, System) and not hasattr(plant, "system"):
        raise SignatureError(f"a linear model is that of a system or a mechanism, not of {shown(plant)}")
    system = plant if isinstance(plant, System) else plant.system()
    found = system.linearize(at, inputs, parameters=parameters)
    if found.A.ndim != 2:
        raise SignatureError(f"a linear model is that at one state, not at a batch {found.A.shape[:-2]}")
    return LinearModel(
        found.A, found.B, C=found.C, D=found.D, name=system.name,
        inputs=[label for name, port in system.ports.items() for label in _labels(name, port.shape)],
        outputs=[label for name, port in system.output_ports.items() for label in _labels(name, port.shape)])


def from_control(model: Any) -> LinearModel:  # noqa: ANN401 (of python-control)
    """The linear model of a python-control system: a `StateSpace`, or a model that can be converted to one."""
    control = _control()
    try:
        given = control.ss(model)
    except Exception as error:
        raise SignatureError(f"python-control makes no state-space model of {shown(model)}: {error}") from error
    if given.dt is True:
        raise ConventionError("this discrete model has no step: give it one, `dt` in seconds")
    return LinearModel(given.A, given.B, given.dt or None, C=given.C, D=given.D, inputs=given.input_labels,
                       outputs=given.output_labels, name=given.name)


def _control() -> Any:  # noqa: ANN401 (a module)
    try:
        import control
    except ImportError as error:
        raise UnsupportedError("python-control is not installed: pip install 'cayley[bridges]'") from error
    return control


def _matrix(given: ArrayLike, name: str) -> Array:
    matrix = np.asarray(given)
    if matrix.dtype.kind not in "iuf" or matrix.ndim != 2 or not np.isfinite(matrix).all():
        raise SignatureError(f"{name} of a linear model must be a matrix of finite numbers, not {shown(given)}")
    return matrix.astype(float)


def _labels(name: str, shape: int | tuple[int, ...]) -> list[str]:
    shape = (shape,) if isinstance(shape, int) else shape
    return [name + "".join(f"[{i}]" for i in index) for index in np.ndindex(*shape)]


def _chosen(which: str | int, labels: Sequence[str], what: str, name: str) -> int:
    if isinstance(which, int) and 0 <= which < len(labels):
        return which
    if which not in labels:
        others = f"; it has {', '.join(labels) or 'none'}"
        raise SignatureError(f"{name} has no {what} {which!r}{did_you_mean(which, labels, otherwise=others)}")
    return list(labels).index(which)  # type: ignore[arg-type]


def digital_matrix(plant: System, law: System, period: float, *, late: int = 0, at: Mapping[str, ArrayLike],
                   inputs: Mapping[str, ArrayLike]) -> Array:
    """The matrix of a period of the loop of `plant` with `digital(law, period, late=late)`, at a state of both by the
    names of the blocks and with the `inputs` of both, those that one gives to the other included. To first order:

        s = (plant, memory, y_1 ... y_late)        plant+ = Ad plant + Bd y_late        Ad, Bd = exp(T [A B; 0 0])
        y = H memory + K C plant                   memory+ = (1 + T A_law) memory + T B_law C plant
    Where all |z| < 1 errors die out (Lyapunov's indirect method for maps).

    >>> import cayley as cy
    >>> arm = cy.load("planar2r")
    >>> rest = {"q": np.array([0.5, -0.3]), "qd": np.zeros(2)}
    >>> tau = arm.gravity_forces(rest["q"])
    >>> step = digital_matrix(arm.system(), arm.control.computed_torque(100.0, 20.0), 1e-3, late=1, at=rest,
    ...                       inputs={**rest, "target": rest["q"], "tau": tau})
    >>> bool(np.abs(np.linalg.eigvals(step)).max() < 1.0)
    True
    """
    check_sampling(period, late)
    given = {name: np.broadcast_to(np.asarray(inputs.get(name, port.default), dtype=float), port.shape)
             for part in (plant, law) for name, port in part.ports.items()}
    moves = plant.linearize(_part(plant, at), {name: given[name] for name in plant.inputs})
    acts = law.linearize(_part(law, at), {name: given[name] for name in law.inputs})
    seen = [name for name in law.inputs if name in plant.outputs]
    done = [name for name in plant.inputs if name in law.outputs]
    if not seen or not done:
        raise SignatureError(f"{plant.name} and {law.name} make no loop: no output of one has the name of an input of "
                             f"the other")
    C = moves.C[entries(plant.output_ports, seen)]
    A_law = acts.A
    B_law = acts.B[:, entries(law.ports, seen)] @ C
    H = acts.C[entries(law.output_ports, done)]
    K = acts.D[:, entries(law.ports, seen)][entries(law.output_ports, done)] @ C
    n = len(moves.A)
    k = len(A_law)
    m = len(H)
    B = moves.B[:, entries(plant.ports, done)]
    hold = expm(period * np.block([[moves.A, B], [np.zeros((m, n + m))]]))
    step = np.zeros((n + k + late * m, n + k + late * m))
    step[:n, :n] = hold[:n, :n]
    step[n:n + k, :n] = period * B_law
    step[n:n + k, n:n + k] = np.eye(k) + period * A_law
    if late:
        step[:n, -m:] = hold[:n, n:]
        step[n + k:n + k + m, :n + k] = np.hstack([K, H])
        step[n + k + m:, n + k:-m] = np.eye((late - 1) * m)
    else:
        step[:n, :n + k] += hold[:n, n:] @ np.hstack([K, H])
    return step


def _part(system: System, at: Mapping[str, ArrayLike]) -> StateLike:
    return {name: at[name] for name in system.blocks if name in at}


def entries(ports: Mapping[str, Port], names: Sequence[str]) -> list[int]:
    """The places of the entries of some ports among those of all."""
    ends = np.cumsum([0, *[port.size for port in ports.values()]]).tolist()
    places = {name: range(a, b) for name, a, b in zip(ports, ends[:-1], ends[1:], strict=True)}
    return [k for name in names for k in places[name]]
