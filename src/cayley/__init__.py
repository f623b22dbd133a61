"""Cayley, a compiler for robot mechanisms.

`load` reads a robot: a name of the catalogue (`catalogue()` lists them), a URDF, xacro, SDF, MJCF .xml or TOML file.
`Mechanism.from_dh` makes one from a Denavit-Hartenberg table, `Mechanism.of` from bodies and joints. A `Mechanism` has
forward kinematics (`pose`), Jacobians, inverse kinematics, dynamics, simulation, pictures and reports, for one state or
a batch of states:

>>> import numpy as np, cayley as cy
>>> arm = cy.load("panda")
>>> q = arm.random_configuration(1000, seed=0)
>>> arm.pose(q, "tool").shape, arm.gravity_forces(q).shape
((1000, 4, 4), (1000, 7))

`kernel` compiles your own function, which may call the functions of mechanisms:

>>> @cy.kernel("(7),(7)->(7)")
... def damped(q, qd):
...     return arm.gravity_forces(q) - 2.0 * qd
>>> damped(q, 0 * q).shape
(1000, 7)

A `System` has a state, inputs and outputs, such as a motor or a controller, and `connect` connects systems and
mechanisms by the names of their ports.

Packages: `cy.control` (motors, controllers), `cy.machines` (parallel machines, linkages), `cy.planning` (motions in
time), `cy.systems`, `cy.simulation`, `cy.geometry` (rotations, motions, inertia). Other packages must be imported:
`cayley.model` (bodies, joints, files), `cayley.kinematics`, `cayley.dynamics` (methods, identification),
`cayley.drawing`, `cayley.studio` (`write_report`: a robot as an HTML page).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cayley.compiler.algebras.counts import Operations
from cayley.compiler.algebras.interpret import CASADI, JAX, MPMATH, NUMPY, SYMPY, Algebra
from cayley.compiler.derivatives.derivative import independent, jacobian
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.solving.loops import repeat, scan
from cayley.compiler.solving.quadratic_programs import cone_program, quadratic_program
from cayley.compiler.solving.roots import fixed_point, newton
from cayley.compiler.tracing.symbols import where
from cayley.errors import (
    CayleyError,
    ConventionError,
    GeometryError,
    ModelError,
    PlanningError,
    SignatureError,
    SingularityError,
    TraceError,
    UnreachableError,
    UnsupportedError,
    VersionError,
)

if TYPE_CHECKING:
    from cayley import control, geometry, learning, machines, planning, simulation, systems
    from cayley.mechanism import Mechanism, catalogue, load
    from cayley.planning.collision.scene import Scene
    from cayley.systems import System, connect

__version__ = "0.3.0"
__all__ = [
    "CASADI", "JAX", "MPMATH", "NUMPY", "SYMPY", "Algebra", "CayleyError", "ConventionError", "GeometryError", "Kernel",
    "Mechanism", "ModelError", "Operations", "PlanningError", "Scene", "SignatureError", "SingularityError", "System",
    "TraceError", "UnreachableError", "UnsupportedError", "VersionError", "catalogue", "cone_program", "connect",
    "control", "fixed_point", "geometry", "independent", "jacobian", "kernel", "learning", "load", "machines", "newton",
    "planning", "quadratic_program", "repeat", "scan", "simulation", "systems", "where"]


_PACKAGES = ("control", "geometry", "learning", "machines", "planning", "simulation", "systems")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 (whatever the name stands for)
    """Mechanisms, systems and packages are loaded at first use, so that `import cayley` is fast."""
    if name in _PACKAGES:
        return import_module(f"cayley.{name}")
    if name in ("System", "connect"):
        from cayley import systems
        return getattr(systems, name)
    if name == "Scene":
        from cayley.planning.collision.scene import Scene
        return Scene
    if name in ("Mechanism", "catalogue", "load"):
        from cayley import mechanism
        return getattr(mechanism, name)
    if name == "mechanisms":  # until 0.3
        return import_module("cayley.mechanisms")
    from cayley.words import what_it_is_here
    advice = "" if name.startswith("_") else what_it_is_here(name)
    raise AttributeError(f"module 'cayley' has no attribute {name!r}{advice}")
