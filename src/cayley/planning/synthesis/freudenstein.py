"""The input-output equation of the four-bar, in Freudenstein's parameters.

    a1, a2, a3, a4     ground, input link, coupler, output link; psi, phi   angles of input and output to the ground
    k1 + k2 cos(phi) - k3 cos(psi) = cos(phi - psi)
    k1 = (a1^2 + a2^2 - a3^2 + a4^2) / (2 a2 a4),   k2 = a1 / a2,   k3 = a1 / a4
Pairs of angles give T k = b. A link of negative length stands at the angle plus pi. Solved for the output, the equation
has two roots, one for each way of assembly, or none. Source: Ruggiu (4.55)-(4.61), (4.74), roots as in spec E-21."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ModelError, SignatureError, SingularityError, UnreachableError, warn_user

_ROUNDING = 16 * np.finfo(float).eps
_NOWHERE = 1e-28  # of S: the end of the input link is on the output's pivot


class SynthesisEquations(NamedTuple):
    """T (..., m, 3) and b (..., m) of T k = b."""

    matrix: Array
    right: Array


@kernel("(4)->(3)", inputs=("lengths",))
def freudenstein_parameters(lengths: Array) -> Array:
    """k (..., 3) of the lengths (..., 4) of ground, input link, coupler and output link; infinite links have none.

    >>> freudenstein_parameters([4.0, 1.5, 3.5, 3.0]).round(6)
    array([1.666667, 2.666667, 1.333333])
    """
    a1, a2, a3, a4 = lengths
    return np.array([(a1**2 + a2**2 - a3**2 + a4**2) / (2 * a2 * a4), a1 / a2, a1 / a4])


@kernel("(3),()->(4)", inputs=("k", "ground"))
def signed_lengths(k: Array, ground: Scalar) -> Array:
    """The lengths (..., 4) of ground, input link, coupler and output link; negative ones stand at the angle plus pi.
    Infinite for k2 = 0 or k3 = 0; the coupler is NaN where the square of its length is negative.

    >>> signed_lengths([5 / 3, 8 / 3, 4 / 3], 4.0)
    array([4. , 1.5, 3.5, 3. ])
    """
    a2 = ground / k[1]
    a4 = ground / k[2]
    return np.array([ground, a2, np.sqrt(ground**2 + a2**2 + a4**2 - 2 * k[0] * a2 * a4), a4])


@kernel("(3),(),()->()", inputs=("k", "psi", "phi"))
def input_output_residual(k: Array, psi: Scalar, phi: Scalar) -> Scalar:
    """k1 + k2 cos(phi) - k3 cos(psi) - cos(phi - psi) (...): zero where the linkage closes.

    >>> float(input_output_residual([0.5, 2.0, 1.0], np.pi / 3, np.pi / 3).round(12))
    0.0
    """
    return k[0] + k[1] * np.cos(phi) - k[2] * np.cos(psi) - np.cos(phi - psi)


def _explain(k: ArrayLike, psi: ArrayLike) -> None:
    k = np.asarray(k, dtype=float)
    angle = float(np.asarray(psi))
    if not (np.isfinite(k).all() and np.isfinite(angle)):
        return
    S = np.hypot(k[1] - np.cos(angle), np.sin(angle))
    C = abs(k[0] - k[2] * np.cos(angle))
    if _is_nowhere(S * S, k) and _NOWHERE >= C * C:
        raise SingularityError(
            f"at the input {angle:.6g} rad the end of the input link is on the output's pivot: every output angle "
            "closes the linkage")
    raise UnreachableError(
        f"the linkage cannot be assembled at the input {angle:.6g} rad: d = |C|/sqrt(S) = "
        f"{C / S if S > 0 else np.inf:.10g} is above 1")


@kernel("(3),()->(2)", inputs=("k", "psi"), explain=_explain)
def output_angles(k: Array, psi: Scalar) -> Array:
    """phi (..., 2) in (-pi, pi] in both assembly modes, those of `FourBar.position` where all lengths are positive.
    NaN, and for one angle an error, where the linkage cannot be assembled, or where every angle would do.

    >>> np.degrees(output_angles([0.5, 2.0, 1.0], np.radians(60.0))).round(9)
    array([-120.,   60.])
    """
    A = k[1] - np.cos(psi)
    B = -np.sin(psi)
    C = k[0] - k[2] * np.cos(psi)
    S = A * A + B * B
    inside = S - C * C
    inside = where(np.abs(inside) <= _ROUNDING * (S + C * C), 0.0, inside)  # where the modes meet, d = 1 is rounded
    inside = where(_is_nowhere(S, k), -1.0, inside)
    middle = np.arctan2(B, A)
    bend = np.arctan2(np.sqrt(inside), -C)
    return np.array([_wrapped(middle - bend), _wrapped(middle + bend)])


def _is_nowhere(S: Scalar, k: Array) -> Scalar:
    return _NOWHERE * (1 + k[1] * k[1]) >= S


def _wrapped(angle: Scalar) -> Scalar:
    return np.arctan2(np.sin(angle), np.cos(angle))


def synthesis_equations(psi: ArrayLike, phi: ArrayLike) -> SynthesisEquations:
    """The synthesis matrix T (..., m, 3) and the right side b (..., m) of pairs of angles (..., m).

    >>> synthesis_equations([0.0], [np.pi]).matrix.tolist()
    [[1.0, -1.0, -1.0]]
    """
    inputs = np.asarray(psi, dtype=float)
    outputs = np.asarray(phi, dtype=float)
    T = np.stack(np.broadcast_arrays(1.0, np.cos(outputs), -np.cos(inputs)), axis=-1)
    return SynthesisEquations(T, np.cos(outputs - inputs))


def check_pairs(psi: ArrayLike, phi: ArrayLike) -> tuple[Array, Array]:
    """Inputs and outputs (m) each, finite and as many."""
    inputs = np.atleast_1d(np.asarray(psi, dtype=float))
    outputs = np.atleast_1d(np.asarray(phi, dtype=float))
    if inputs.shape != outputs.shape or inputs.ndim != 1 or not inputs.size:
        raise SignatureError(
            f"pairs must be as many input as output angles, (m) each and one at least, not {inputs.shape} and "
            f"{outputs.shape}")
    if not (np.isfinite(inputs).all() and np.isfinite(outputs).all()):
        bad = int(np.argmin(np.isfinite(inputs) & np.isfinite(outputs)))
        raise SignatureError(f"pair {bad + 1} is ({inputs[bad]}, {outputs[bad]}): angles are finite numbers [rad]")
    largest = float(max(np.abs(inputs).max(), np.abs(outputs).max()))
    if largest > 2.0 * np.pi:
        warn_user(f"an angle of {largest:g} rad is more than a turn: if it is in degrees, write np.radians(...)")
    return inputs, outputs


def check_ground(ground: float) -> float:
    """The length of the ground link, which all others are measured by."""
    if not (np.isfinite(ground) and ground > 0):
        raise ModelError(f"the ground link has the length {ground} m; it must be positive: it sets the size of all")
    return float(ground)
