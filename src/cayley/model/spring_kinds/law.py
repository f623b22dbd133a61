"""A spring by a law of one's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import signature

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, Scalar
from cayley.errors import ModelError, shown
from cayley.model.constraint_kinds.formula import as_formula, formula
from cayley.model.spring_kinds.spring import SpringKind, SpringSlopes, SpringState

_NAMES = ("q", "qd", "qm", "qmd")
_TRIED = 12  # pairs of q and qm, from small deflections to large ones
_TOGETHER = (0.37, -1.9, 8.3)  # by which both are turned
_BALANCED = 1e-9  # of the largest energy: what rounding makes of turning both


def _check_arguments(function: Callable[..., Scalar], name: str, variables: tuple[str, ...]) -> None:
    """Raise an error if a function does not take the arguments of a spring law."""
    try:
        signature(function).bind(*variables)
    except TypeError as error:
        raise ModelError(f"the {name} of a spring is a function of ({', '.join(variables)}), and "
                         f"{shown(function)} is not: {error}") from error
    except ValueError:
        return  # a function of C, which does not say what it takes


def _number(stored: Callable[[Scalar, Scalar], Scalar], q: float, qm: float) -> float:
    """An energy, or NaN where there is none."""
    try:
        with np.errstate(all="ignore"):
            return float(stored(np.float64(q), np.float64(qm)))
    except (ValueError, ArithmeticError, TypeError):  # TypeError: no number, which is said where the law is made
        return np.nan


@dataclass(frozen=True)
class SpringLaw(HoldsFunctions, SpringKind):
    """P = law(q, qd, qm, qmd) [N m, N]: of the joint's coordinate and velocity and those of its motor behind the gear,
    qm / gear and its rate. A formula, "200*(qm - q) + 3*tanh(50*(qmd - qd))", or a function in Python, of numbers or of
    symbols, which is traced and differentiated.

    Where `stored`, the energy [J] as a formula or a function of (q, qm), is given, -d(stored)/dq is the part of P that
    is not lost, and the mechanism's energy has it. It is a function of the deflection qm - q alone: the motor feels -P,
    and with any other energy there would be no balance. Otherwise the law only takes energy out, or brings it in.

    >>> spring = SpringLaw("200*(qm - q)", stored="100*(qm - q)**2")
    >>> float(spring.torque(SpringState(0.1, 0.0, 0.2, 0.0))), float(spring.energy(SpringState(0.1, 0.0, 0.2, 0.0)))
    (20.0, 1.0000000000000002)
    """

    law: str | Callable[[Scalar, Scalar, Scalar, Scalar], Scalar] = field(metadata={"form": "formula"})
    stored: str | Callable[[Scalar, Scalar], Scalar] = field(default="0.0", metadata={"form": "formula or default"})
    word = "law"

    def __post_init__(self) -> None:
        for name, variables in (("law", _NAMES), ("stored", ("q", "qm"))):
            given = getattr(self, name)
            if callable(given):
                _check_arguments(given, name, variables)
            else:
                object.__setattr__(self, name, as_formula(given))
                formula(getattr(self, name), variables, f"the {name} of a spring")
        self._check_stored()

    def _check_stored(self) -> None:
        """Check that joint and motor feel opposite forces, d(stored)/dq + d(stored)/dqm = 0: turning both together
        stores nothing."""
        if self.stored == "0.0":
            return
        stored = self._stored
        pairs = np.random.default_rng(0).normal(size=(_TRIED, 2)) * np.geomspace(1e-3, 3.0, _TRIED)[:, None]
        found = []
        for together in (0.0, *_TOGETHER):
            found.append([_number(stored, q + together, qm + together) for q, qm in pairs])
        energies = np.array(found)
        known = energies[:, np.isfinite(energies).all(axis=0)]
        change = np.abs(known - known[0]).max(initial=0.0)
        if change > _BALANCED * np.abs(known).max(initial=0.0):
            raise ModelError(f"the stored energy of a spring, {shown(self.stored)}, is not a function of the deflection"
                             f" qm - q alone: it changes by {change:.3g} J where joint and motor turn together, and the"
                             " motor, which feels -P, would not get it back; write it of (qm - q)")

    def torque(self, at: SpringState) -> Scalar:
        return self._torque(np.stack(at))

    def energy(self, at: SpringState) -> Scalar:
        return self._energy(np.stack(at))

    def stored_torque(self, at: SpringState) -> Scalar:
        return -self._energy.jacobian("x")(np.stack(at))[0]

    def slopes(self, at: SpringState) -> SpringSlopes:
        return SpringSlopes(*self._torque.jacobian("x")(np.stack(at)))

    @property
    def _torque(self) -> Kernel[Array]:
        law = self.law if callable(self.law) else formula(self.law, _NAMES, "the law of a spring")
        return self._made("law", lambda x: law(*x))

    @property
    def _energy(self) -> Kernel[Array]:
        return self._made("stored", lambda x: self._stored(x[0], x[2]))

    @property
    def _stored(self) -> Callable[[Scalar, Scalar], Scalar]:
        return self.stored if callable(self.stored) else formula(self.stored, ("q", "qm"), "the energy of a spring")

    def _made(self, name: str, text: Callable[[Array], Scalar]) -> Kernel[Array]:
        def checked(x: Array) -> Scalar:
            value = text(x)
            if np.shape(value) != ():
                raise ModelError(f"the {name} of a spring must return one number, not {shown(value)}")
            return value

        return kept(self, name, lambda: kernel("(4)->()", name=name, inputs=("x",))(checked))
