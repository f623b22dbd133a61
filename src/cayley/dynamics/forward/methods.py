"""The published methods of forward dynamics by name. Each is a module; all give the same accelerations.

>>> import numpy as np
>>> from cayley.model.catalogue import load_robot
>>> arm, state = load_robot("s1_g1"), np.array([[0.3, -0.7], [0.5, 1.2], [0.0, 0.0]])
>>> all(np.allclose(each.text(arm, "forward_dynamics")(*state), [-11.73425172, 11.94176239])
...     for each in METHODS.values())
True
"""

from __future__ import annotations

from cayley.compiler.typing import Scalar
from cayley.dynamics.rigid_links.links import links_of
from cayley.dynamics.rigid_links.methods import Method, methods_of
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.dynamics.rigid_links.spatial_operators import minimal_links_and_rotors
from cayley.model.tree import Tree

# velocities in a row, above which articulated bodies take fewer operations (counted for chains of 1 to 30 joints)
DEEP = 13


def _the_tree_itself(tree: Tree) -> Scalar:
    return tree


METHODS = methods_of("cayley.dynamics.forward", {
    "composite-bodies": Method("composite_bodies",
                               "Walker & Orin 1982, method 3, on base parameters; the default of short chains",
                               minimal_links),
    "articulated-bodies": Method("articulated_bodies",
                                 "Featherstone 1983, on base parameters; the default of deep trees", minimal_links),
    "plain-articulated-bodies": Method("articulated_bodies", "Featherstone 1983, in the frames of the model", links_of),
    "conjugate-gradients": Method("conjugate_gradients", "Walker & Orin 1982, method 4: no inertia matrix", links_of),
    "orthogonal-complement": Method("orthogonal_complement", "Angeles & Ma 1988, method 2: least squares", links_of),
    "operator-factors": Method("operator_factors", "Rodriguez & Kreutz 1990: bias, then factors of the inverse"),
    "filter-and-smoother": Method("filter_and_smoother", "Rodriguez & Kreutz 1990: the bias in the filter"),
    "generalized-links": Method("generalized_links", "Balafoutis & Patel, Algorithms 6.2 and 5.7"),
    "links-and-rotors": Method("links_and_rotors", "Mladenova (272), articulated, with the rotors of drives",
                               minimal_links_and_rotors),
    "composite-links-and-rotors": Method("composite_links_and_rotors",
                                         "Mladenova, section 7.4.1, by the inertia matrix", minimal_links_and_rotors),
    "maximal-coordinates": Method("maximal_coordinates", "free bodies and constraints, with multipliers",
                                  _the_tree_itself)})


def default_method(tree: Tree) -> str:
    """The method that takes the fewest operations for a mechanism."""
    deepest = max((sum(tree.joints[k].motion.nv for k in tree.path(body)) for body in range(len(tree.bodies))),
                  default=0)
    return "articulated-bodies" if deepest > DEEP else "composite-bodies"
