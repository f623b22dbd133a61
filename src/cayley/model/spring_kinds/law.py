"""A spring by a law of one's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import signature

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, Scalar
from cayley.errors import ModelError
from cayley.model.constraint_kinds.formula import as_formula, formula
from cayley.model.spring_kinds.spring import Spring, SpringSlopes, SpringState
from cayley.wording import shown

_NAMES = ("q", "qd", "qm", "qmd")


def _check_arguments(function: Callable[..., Scalar], name: str, variables: tuple[str, ...]) -> None:
    """Raise if a function does not take what a law is given."""
    try:
        signature(function).bind(*variables)
    except TypeError as error:
        raise ModelError(f"the {name} of a spring is a function of ({', '.join(variables)}), and "
                         f"{shown(function)} is not: {error}") from error
    except ValueError:
        return  # a function of C, which does not say what it takes


@dataclass(frozen=True)
class SpringLaw(Spring):
    """P = law(q, qd, qm, qmd) [N m, N]: of the joint's coordinate and velocity and those of its motor behind the gear,
    qm / gear and its rate. A formula, "200*(qm - q) + 3*tanh(50*(qmd - qd))", or a function in Python, of numbers or of
    symbols, which is traced and differentiated.

    Where `stored`, the energy [J] as a formula or a function of (q, qm), is given, -d(stored)/dq is the part of P that
    is not lost, and the mechanism's energy has it. Otherwise the law only takes energy out, or brings it in.

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
        stored = self.stored if callable(self.stored) else formula(self.stored, ("q", "qm"), "the energy of a spring")
        return self._made("stored", lambda x: stored(x[0], x[2]))

    def _made(self, name: str, text: Callable[[Array], Scalar]) -> Kernel[Array]:
        def checked(x: Array) -> Scalar:
            value = text(x)
            if np.shape(value) != ():
                raise ModelError(f"the {name} of a spring must return one number, not {shown(value)}")
            return value

        return kept(self, name, lambda: kernel("(4)->()", name=name, inputs=("x",))(checked))

    def __getstate__(self) -> dict[str, object]:
        """What is pickled: the data, and not what was made of them."""
        return {"law": self.law, "stored": self.stored}
