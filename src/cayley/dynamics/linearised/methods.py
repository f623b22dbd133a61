"""The ways to the sensitivity matrices by name. Each is a module; all give the same matrices."""

from __future__ import annotations

from cayley.dynamics.rigid_links.links import links_of, serial_chain
from cayley.dynamics.rigid_links.methods import Method
from cayley.dynamics.rigid_links.minimal_links import minimal_links


def _here(module: str) -> str:
    return f"cayley.dynamics.linearised.{module}"


METHODS: dict[str, Method] = {
    "algorithm-7.1": Method(_here("closed_form_for_trees"),
                            "Balafoutis & Patel, Algorithm 7.1, for trees, on base parameters; the default",
                            minimal_links),
    "plain-algorithm-7.1": Method(_here("closed_form_for_trees"),
                                  "Balafoutis & Patel, Algorithm 7.1, for trees, in the frames of the model", links_of),
    "published-algorithm-7.1": Method(_here("algorithm_7_1"), "Balafoutis & Patel, Algorithm 7.1, as it is printed",
                                      serial_chain),
    "differentiation": Method(_here("by_differentiation"),
                              "the graph of inverse dynamics differentiated, on base parameters", minimal_links),
    "direct": Method(_here("direct"), "Balafoutis & Patel (7.3.2)-(7.3.4): every entry by itself", serial_chain),
    "recursive": Method(_here("recursive"), "Balafoutis & Patel 7.2.2: the perturbed recursion, once for each column",
                        serial_chain),
    "lagrange-4x4": Method(_here("lagrangian"), "Neuman & Murray 1984; Balafoutis, Misra & Patel 1986: 4x4 matrices",
                           serial_chain),
    "newton-euler-columns": Method(_here("newton_euler_columns"),
                                   "after Vukobratovic & Kircanski 1985: Newton-Euler line by line", serial_chain), }
DEFAULT = "algorithm-7.1"
