"""Cayley, a compiler for robot mechanisms.

>>> @cy.kernel("(n),(n)->(n)")
... def pendulum_torque(q, qdd):
...     return 2.0 * qdd + 9.81 * np.sin(q)
>>> pendulum_torque(np.zeros((1000, 3)), np.ones((1000, 3))).shape
(1000, 3)
"""

from typing import TYPE_CHECKING, Any

from cayley.compiler.counts import Operations
from cayley.compiler.derivative import independent, jacobian
from cayley.compiler.interpret import CASADI, JAX, MPMATH, NUMPY, SYMPY, Algebra
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.symbols import where
from cayley.errors import (
    CayleyError,
    ConventionError,
    GeometryError,
    ModelError,
    SignatureError,
    SingularityError,
    TraceError,
    UnreachableError,
    UnsupportedError,
)

if TYPE_CHECKING:
    from cayley.mechanism import Mechanism, catalogue, load

__version__ = "0.1.0"
__all__ = [
    "CASADI", "JAX", "MPMATH", "NUMPY", "SYMPY", "Algebra", "CayleyError", "ConventionError", "GeometryError", "Kernel",
    "Mechanism", "ModelError", "Operations", "SignatureError", "SingularityError", "TraceError", "UnreachableError",
    "UnsupportedError", "catalogue", "independent", "jacobian", "kernel", "load", "where",
]


def __getattr__(name: str) -> Any:
    """Mechanisms bring all of the geometry, which those who only compile should not wait for."""
    if name in ("Mechanism", "catalogue", "load"):
        from cayley import mechanism
        return getattr(mechanism, name)
    raise AttributeError(f"module 'cayley' has no attribute {name!r}")
