"""The published methods of inverse dynamics by name. Each is a module; all give the same forces.

All take links, q, qd and qdd. Some take `base`, the motion of the base, and `tip`, the wrench that the last link exerts
on its surroundings (the opposite of what acts on the robot).

>>> import numpy as np
>>> from cayley.model.catalogue import load_robot
>>> arm, state = load_robot("s1_f2"), np.array([[0.3, -0.7], [1.1, -0.4], [0.5, 2.0]])
>>> all(np.allclose(each.text(arm, "inverse_dynamics")(*state), [15.20009968, 2.87612016]) for each in METHODS.values())
True
"""

from __future__ import annotations

from cayley.dynamics.rigid_links.links import Links, links_of, serial_chain
from cayley.dynamics.rigid_links.methods import Method, methods_of
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.dynamics.rigid_links.spatial_operators import minimal_links_and_rotors
from cayley.model.tree import Tree


def _turning_chain(tree: Tree) -> Links:
    return serial_chain(tree, prismatic=False)


METHODS = methods_of("cayley.dynamics.inverse", {
    "newton-euler": Method("newton_euler", "Balafoutis & Patel, Algorithm 5.6, on base parameters; the default",
                           minimal_links),
    "newton-euler-in-model-frames": Method("newton_euler",
                                           "Balafoutis & Patel, Algorithm 5.6, for trees; the reference", links_of),
    "uicker-kahn": Method("uicker_kahn", "Uicker 1965, Kahn 1969; Balafoutis & Patel (5.2.7)"),
    "waters": Method("waters", "Waters 1979; Balafoutis & Patel (5.2.9)"),
    "hollerbach-4x4": Method("hollerbach_4x4", "Hollerbach 1980; Balafoutis & Patel, Algorithm 5.1"),
    "hollerbach-3x3": Method("hollerbach_3x3", "Hollerbach 1980; Balafoutis & Patel, Algorithm 5.2"),
    "renaud": Method("generalized_links",
                     "Renaud 1984, Vukobratovic et al. 1985; Balafoutis & Patel (5.2.17)-(5.2.20)", _turning_chain),
    "luh-walker-paul": Method("luh_walker_paul", "Luh, Walker & Paul 1980; Balafoutis & Patel, Algorithm 5.3"),
    "featherstone": Method("featherstone", "Featherstone 1984; Balafoutis & Patel, Algorithm 5.4"),
    "rodriguez": Method("rodriguez", "Rodriguez 1987; Balafoutis & Patel, Algorithm 5.5"),
    "kane": Method("kane", "Angeles, Ma & Rojas 1989; Balafoutis & Patel (5.2.36)"),
    "tensor-newton-euler": Method("tensor_newton_euler", "Balafoutis & Patel, Algorithm 5.6"),
    "augmented-links": Method("augmented_links", "Balafoutis & Patel, Algorithm 5.7"),
    "distal-newton-euler": Method("distal_newton_euler", "Ruggiu, section 3.3.1, (3.34)-(3.39)"),
    "base-frame-newton-euler": Method("base_frame_newton_euler", "Yamamoto, section 5.4"),
    "vector-parameter-newton-euler": Method("vector_parameter_newton_euler", "Mladenova (261)-(266)"),
    "vector-parameter-lagrange": Method("vector_parameter_lagrange", "Mladenova, section 3.2, (126)-(140)"),
    "links-and-rotors": Method("links_and_rotors", "Mladenova (261)-(268), with the rotors of drives",
                               minimal_links_and_rotors),
    "screws": Method("screws", "Mladenova, section 4.3, (164)-(167)"),
    "trace-lagrange": Method("trace_lagrange", "Yamamoto, section 5.2"),
    "center-jacobians": Method("center_jacobians", "Yamamoto, section 5.3")})
DEFAULT = "newton-euler"
