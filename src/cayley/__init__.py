"""Cayley, a compiler for robot mechanisms.

>>> @cy.kernel("(n),(n)->(n)")
... def pendulum_torque(q, qdd):
...     return 2.0 * qdd + 9.81 * np.sin(q)
>>> pendulum_torque(np.zeros((1000, 3)), np.ones((1000, 3))).shape
(1000, 3)
"""

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

__version__ = "0.1.0"
__all__ = [
    "CASADI", "JAX", "MPMATH", "NUMPY", "SYMPY", "Algebra", "CayleyError", "ConventionError", "GeometryError", "Kernel", "ModelError",
    "Operations", "SignatureError", "SingularityError", "TraceError", "UnreachableError", "UnsupportedError", "independent", "jacobian",
    "kernel", "where",
]
