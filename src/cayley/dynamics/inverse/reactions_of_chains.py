"""The wrenches in the joints of open chains by the published recursions, with what is given at both ends of the chain.

Source: Balafoutis & Patel, Algorithms 5.3 to 5.7: (5.2.24), (5.2.27), (5.2.35), (5.3.8), (5.3.38).
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.inverse.methods import METHODS
from cayley.dynamics.inverse.newton_euler import Load
from cayley.dynamics.inverse.passes import NONE, STILL, Base, Wrench
from cayley.dynamics.rigid_links.links import ROOT, Links
from cayley.errors import UnsupportedError

CHAIN_METHODS = ("luh-walker-paul", "featherstone", "rodriguez", "tensor-newton-euler", "augmented-links")


def chain_loads(method: str, links: Links, q: Array, qd: Array, qdd: Array, acting: dict[str, Any]) -> list[Load]:
    """The force and the moment, about the origin and in the axes of each link, that its joint gives it; `acting` is
    what `ExternalLoads.at_links` says of the world."""
    moved = acting["base"]
    base = STILL if moved is None else Base(moved.w, moved.dw, moved.a)
    module = import_module(METHODS[method].module)
    found = module.reactions(links, q, qd, qdd, base=base, tip=_exerted(method, links, acting["loads"]))
    return [Load(*np.split(wrench, 2)) for wrench in found]


def _exerted(method: str, links: Links, loads: list[tuple[int, Load]]) -> Wrench:
    """What the last link exerts on its surroundings, at its origin; what acts on links before it is refused."""
    f = NONE
    n = NONE
    for number, load in loads:
        if number not in (ROOT, len(links.links) - 1):
            raise UnsupportedError(
                f"{method} takes wrenches on the last link of {links.name}, and one acts on that of joint "
                f"{links.links[number].name!r}: use the default method, which is for wrenches everywhere")
        if number != ROOT:
            f = f - load.f
            n = n - load.n
    return Wrench(f, n)
