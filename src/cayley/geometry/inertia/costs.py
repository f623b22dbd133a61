"""What the equations of Newton and Euler of one body cost, as published and as counted.

`published` are the numbers of Balafoutis & Patel, section 4.3.4. `text` counts the operations of the very texts in
`body_dynamics`, each as it is written. `compiled` is what is left when the compiler knows that the inertia is
symmetric, six numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cayley.compiler.algebras.counts import Operations, count
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.tracing.trace import trace
from cayley.compiler.typing import Array, Text
from cayley.geometry.inertia.body_dynamics import (
    newton_euler_by_symmetric_tensors,
    newton_euler_by_tensors,
    newton_euler_by_vectors,
)


@dataclass(frozen=True)
class BodyCost:
    """Multiplications and additions of one way to compute force and moment of a body."""

    formulation: str
    published: Operations
    text: Operations
    compiled: Operations


def body_costs() -> tuple[BodyCost, ...]:
    """The three formulations of section 4.3.4, the angular acceleration tensor taken as given.

    >>> for cost in body_costs():
    ...     print(f"{cost.formulation}: {cost.published}; the text has {cost.text}")
    vectors: 45 multiplications, 33 additions; the text has 45 multiplications, 33 additions
    tensors: 30 multiplications, 24 additions; the text has 30 multiplications, 24 additions
    symmetric tensors: 27 multiplications, 24 additions; the text has 27 multiplications, 24 additions
    """
    rows = (("vectors", 45, 33, newton_euler_by_vectors), ("tensors", 30, 24, newton_euler_by_tensors),
            ("symmetric tensors", 27, 24, newton_euler_by_symmetric_tensors))
    return tuple(BodyCost(name, Operations(m, a), _of_text(text), _compiled(text)) for name, m, a, text in rows)


def _of_text(text: Kernel[Any]) -> Operations:
    function = text.__wrapped__
    assert function is not None
    return count(trace(function, text.signature, {}, name=text.__name__, inputs=text.inputs))


def _compiled(text: Kernel[Any]) -> Operations:
    return kernel(str(text.signature).replace("(),(3,3)", "(),(6)", 1))(_with_six_moments(text)).operations()


def _with_six_moments(text: Kernel[Any]) -> Text:
    if len(text.inputs) == 6:
        return lambda mass, moments, r, w, wd, sdd: text(mass, _symmetric(moments), r, w, wd, sdd)
    return lambda mass, moments, r, Omega, sdd: text(mass, _symmetric(moments), r, Omega, sdd)


def _symmetric(moments: Array) -> Array:
    a, b, c, d, e, f = moments
    return np.array([[a, d, e], [d, b, f], [e, f, c]])
