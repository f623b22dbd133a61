"""The symbols of Balafoutis & Patel, Appendix D, and what stands for them in the names of this package.

One letter stands for several things in the source: J is the Euler tensor and the Jacobian, I and J two tensors of one
body. Here `inertia` is always the inertia tensor, `second` the Euler tensor (second moments), `jacobian` or J the
Jacobian; D is the inertia matrix.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from cayley.compiler.typing import Text


class Symbol(NamedTuple):
    """What a symbol means, and where its counterpart is: "module:name.attribute"."""

    meaning: str
    place: str


SYMBOLS: dict[str, Symbol] = {
    "n": Symbol("number of joints; of velocities", "cayley.model.tree:Tree.nv"),
    "m_i": Symbol("mass of a link", "cayley.dynamics.rigid_links.moments:LinkMoments.mass"),
    "m̄_i": Symbol("mass of links i to n", "cayley.dynamics.inverse.augmented_bodies:AugmentedLink.mass"),
    "o_i": Symbol("origin of a link, in its parent", "cayley.dynamics.rigid_links.links:Link.offset"),
    "c_i": Symbol("centre of mass of a link", "cayley.dynamics.rigid_links.moments:LinkMoments.center"),
    "I_ci": Symbol("inertia tensor about the centre of mass",
                   "cayley.dynamics.rigid_links.moments:LinkMoments.inertia_about_center"),
    "1": Symbol("unit tensor", "numpy:eye"),
    "J_ci": Symbol("Euler tensor, second moments, about the centre of mass",
                   "cayley.dynamics.rigid_links.moments:LinkMoments.second_about_center"),
    "K_oi": Symbol("inertia tensor of an augmented link",
                   "cayley.dynamics.inverse.augmented_bodies:AugmentedLink.inertia"),
    "K̂_oi": Symbol("Euler tensor of an augmented link",
                    "cayley.dynamics.inverse.augmented_bodies:AugmentedLink.second"),
    "E_oi": Symbol("inertia tensor of links i to n",
                   "cayley.dynamics.inertia_matrix.composite_bodies_for_trees:composite_bodies"),
    "L_i": Symbol("rate tensor of links i to n", "cayley.dynamics.linearised.nominal:CarriedLinks.L"),
    "u_oi": Symbol("first moment of an augmented link", "cayley.dynamics.inverse.augmented_bodies:AugmentedLink.first"),
    "U_oi": Symbol("first moment of links i to n",
                   "cayley.dynamics.inertia_matrix.composite_bodies_for_trees:composite_bodies"),
    "F_ci, M_ci": Symbol("force, and moment about the centre of mass, for the motion of a single link",
                         "cayley.dynamics.inverse.newton_euler:own_load_about_center"),
    "r_{i,j}": Symbol("from an origin to a centre of mass", "cayley.dynamics.rigid_links.moments:LinkMoments.center"),
    "s_{i,j}": Symbol("from one origin to another", "cayley.dynamics.linearised.nominal:Nominal.between"),
    "ω, ω̇, Ω": Symbol("angular velocity, acceleration, acceleration tensor",
                       "cayley.dynamics.inverse.newton_euler:Movement.w"),
    "q, χ, τ": Symbol("coordinates, Cartesian coordinates, forces",
                      "cayley.dynamics.cartesian.model:CartesianCoordinates"),
    "A_i": Symbol("axes of a link in its parent", "cayley.dynamics.rigid_links.links:Link.rotation"),
    "W_i": Symbol("axes of a link in the root's", "cayley.dynamics.linearised.nominal:MovingLink.R"),
    "S(v), dual": Symbol("skew tensor of a vector", "cayley.geometry.tensors.cross:hat"),
    "D": Symbol("inertia matrix, joint-space inertia tensor",
                "cayley.dynamics.inertia_matrix.kernels:inertia_matrix_kernel"),
    "J": Symbol("Jacobian of a frame", "cayley.kinematics.jacobians.general_jacobian:general_jacobian"),
    "D°, V°, P°": Symbol("sensitivity matrices", "cayley.dynamics.linearised.closed_form_for_trees:Sensitivities.D"),
    "IDP": Symbol("inverse dynamics", "cayley.dynamics.inverse.kernels:inverse_dynamics_kernel"),
    "FDP": Symbol("forward dynamics", "cayley.dynamics.forward.kernels:forward_dynamics_kernel"), }


def counterpart(symbol: str) -> Text:
    """What stands for a symbol here: a function, a class, or a field of one.
    """
    module, _, path = SYMBOLS[symbol].place.partition(":")
    found: Any = import_module(module)
    for name in path.split("."):
        fields = getattr(found, "__dataclass_fields__", {})
        found = fields[name] if name in fields and not hasattr(found, name) else getattr(found, name)
    return found
