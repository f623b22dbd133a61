"""Gauss' method of order 4 in steps of one length, as a solver of SciPy's kind: for stiff springs in `simulate`.

Vibrations that are faster than the step keep their energy, so that no estimate of an error could choose the step: its
length is `max_step`, and less only where forces jump, as a damper's between teeth that meet. Each step is solved by
Newton's method with a Jacobian from differences, which is made anew when the convergence asks for it; between its ends
the motion is the polynomial of collocation. `systems/fixed_steps/gauss.py` describes the quantities that are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import DenseOutput, OdeSolver
from scipy.linalg import lu_factor, lu_solve

from cayley.compiler.typing import Array
from cayley.errors import ConventionError

_S = np.sqrt(3) / 6
_C = np.array([0.5 - _S, 0.5 + _S])  # the nodes of order 4, and the weights of the slopes there
_A = np.array([[0.25, 0.25 - _S], [0.25 + _S, 0.25]])
_B = np.array([0.5, 0.5])
_MOST = 12  # iterations for a step
_SLOW = 0.1  # a correction that is a larger part of the one before asks for a new Jacobian
_SHORTEST = 2.0**-34  # of the length of steps: what is tried where forces jump
_ENOUGH = 1e-2  # of the tolerances: a correction after which nothing more is asked


class Gauss(OdeSolver):
    """SciPy's protocol: `step()` makes one step of the length `max_step`, or what is left until the bound."""

    t: float
    y: Array

    def __init__(self, fun: Callable[..., Array], t0: float, y0: Array, t_bound: float, max_step: float = np.inf,
                 rtol: float = 1e-9, atol: float = 1e-10, **_: object) -> None:
        if not np.isfinite(max_step):
            raise ConventionError('the method "gauss" takes steps of one length: give it, as max_step=1e-3')
        super().__init__(fun, t0, y0, t_bound, vectorized=False)
        self._step = max_step
        self._length = max_step  # of the last step, less than that where a force jumped
        self._tolerances = atol, rtol
        self._factors: tuple[float, Any] | None = None
        self._K = np.zeros((2, self.n))

    def _step_impl(self) -> tuple[bool, str | None]:
        left = abs(self.t_bound - self.t)
        length = min(self._step, 2 * self._length)
        length = left if left < length * (1 + 1e-9) else length
        K = self._found(length)
        while K is None and length > self._step * _SHORTEST:
            length /= 2  # a force jumps within the step: come close to where it does
            K = self._found(length)
        h = self.direction * length
        if K is None:
            return False, f"Newton's method does not converge in a step of {abs(h):.3g} s: make max_step smaller"
        self._length = length if length < left else self._step
        self._start, self._K = self.y, K
        self.y = self.y + h * (_B @ K)
        self.t = self.t_bound if h == self.direction * left else self.t + h
        return True, None

    def _found(self, length: float) -> Array | None:
        """The slopes at the nodes of a step, by the Jacobian that there is, or else by a new one."""
        h = self.direction * length
        K = self._solved(h)
        if K is None:
            self._factors = None
            K = self._solved(h)
        return K

    def _solved(self, h: float) -> Array | None:
        """The slopes at the nodes, if the iteration finds them."""
        atol, rtol = self._tolerances
        K = np.zeros((2, self.n))
        last = np.inf
        for _ in range(_MOST):
            found = np.array([self.fun(self.t + c * h, self.y + h * (a @ K)) for c, a in zip(_C, _A, strict=True)])
            if not np.isfinite(found).all():
                return None
            change = lu_solve(self._matrix(h), (found - K).ravel()).reshape(2, self.n)
            K = K + change
            with np.errstate(over="ignore"):  # of an iteration that runs away
                size = float(np.max(np.abs(h * change) / (atol + rtol * np.abs(self.y))))
            slow = size > _SLOW * last
            if size <= _ENOUGH or (size <= 1.0 and slow):  # what is left is rounding
                return K
            if slow:
                self._factors = None
            last = size
        return None

    def _matrix(self, h: float) -> Any:  # noqa: ANN401 (what SciPy gives)
        if self._factors is None or self._factors[0] != h:
            J = self._jacobian()
            self._factors = h, lu_factor(np.eye(2 * self.n) - h * np.kron(_A, J))
        return self._factors[1]

    def _jacobian(self) -> Array:
        here = self.fun(self.t, self.y)
        columns = []
        for k in range(self.n):
            moved = self.y.copy()
            moved[k] += np.sqrt(np.finfo(float).eps) * max(1.0, abs(self.y[k]))
            columns.append((self.fun(self.t, moved) - here) / (moved[k] - self.y[k]))
        self.njev += 1
        return np.stack(columns, axis=1)

    def _dense_output_impl(self) -> DenseOutput:
        return _Collocation(self.t_old, self.t, self._start, self._K)


class _Collocation(DenseOutput):
    """The polynomial whose slopes at the nodes are K."""

    def __init__(self, t_old: float, t: float, y: Array, K: Array) -> None:
        super().__init__(t_old, t)
        self._y = y
        self._K = K

    def _call_impl(self, t: Array) -> Array:
        h = self.t - self.t_old
        s = (np.asarray(t) - self.t_old) / h
        second = h * (s**2 / 2 - _C[0] * s) / (_C[1] - _C[0])
        weights = np.stack([h * s - second, second])
        return (self._y + (weights.T @ self._K)).T
