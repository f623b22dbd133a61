"""The published methods for the inertia matrix by name. Each is a module; all give the same matrix.

>>> import numpy as np
>>> from cayley.model.catalogue import load_robot
>>> arm, expected = load_robot("s1_f2"), [[0.86945266, 0.20472633], [0.20472633, 0.09]]
>>> all(np.allclose(each.text(arm, "inertia_matrix")(np.array([0.3, -0.7])), expected) for each in METHODS.values())
True
"""

from __future__ import annotations

from cayley.dynamics.rigid_links.links import links_of
from cayley.dynamics.rigid_links.methods import Method, methods_of
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.dynamics.rigid_links.spatial_operators import minimal_links_and_rotors

METHODS = methods_of("cayley.dynamics.inertia_matrix", {
    "composite-bodies": Method("composite_bodies_for_trees",
                               "Walker & Orin 1982, method 3, on base parameters; the default", minimal_links),
    "plain-composite-bodies": Method("composite_bodies_for_trees",
                                     "Walker & Orin 1982, method 3, in the frames of the model", links_of),
    "walker-orin-1": Method("walker_orin", "Walker & Orin 1982, method 1: unit accelerations"),
    "walker-orin-2": Method("walker_orin_symmetric", "Walker & Orin 1982, method 2: unit accelerations, one triangle"),
    "walker-orin-3": Method("walker_orin_3", "Walker & Orin 1982, method 3; Balafoutis & Patel, Algorithm 6.1"),
    "spatial-composites": Method("spatial_composites", "Featherstone 1987, in spatial vectors", links_of),
    "orthogonal-complement": Method("orthogonal_complement", "Angeles & Ma 1988, method 1", links_of),
    "links-and-rotors": Method("links_and_rotors", "Mladenova, section 7.4.1, with the rotors of drives",
                               minimal_links_and_rotors),
    "operator-factors": Method("operator_factors", "Rodriguez & Kreutz 1990: triangular factors"),
    "generalized-links": Method("generalized_links", "Balafoutis & Patel, Algorithm 6.2"),
    "lagrange-elements": Method("lagrange_elements", "Balafoutis & Patel (6.3.44): entries in closed form"),
    "kinetic-energy": Method("kinetic_energy_tensor", "Balafoutis & Patel (6.3.42): the tensor of the kinetic energy")})
DEFAULT = "composite-bodies"
