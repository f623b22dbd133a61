"""Rigid contacts that overlap where a rollout starts: told by name."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cayley.compiler.array_parts import joined
from cayley.compiler.kernel import Kernel
from cayley.compiler.made_once import kept_with_owner
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import warn_user
from cayley.geometry.batch import place
from cayley.systems.layout import Record, State
from cayley.systems.system import System
from cayley.systems.text_kernels import text_kernel

TOLD = 1e-3  # m: what overlaps more is told


def tell_overlaps(system: System, t: ArrayLike, x: Array, inputs: Mapping[str, Array],
                  parameters: Mapping[str, Array]) -> None:
    """Warn if rigid contacts of a state, or of one of a batch (..., size), overlap by more than `TOLD`."""
    contacts = [part.contacts for part in system.holds if part.contacts is not None]
    if not contacts or not x.size:
        return
    given = [inputs.get(name, np.zeros(port.shape)) for name, port in system.ports.items()]
    own = [{**system.parameters, **parameters}[n] for n in system.parameters]
    rigid = np.concatenate([each.compliance for each in contacts]) == 0.0
    gaps = np.where(rigid, _gaps(system)(t, x, *given, *own), np.inf)
    if not gaps.min(initial=0.0) < -TOLD:  # nor if there is no number
        return
    *where, k = (int(i) for i in np.unravel_index(np.nanargmin(gaps), gaps.shape))
    name = [name for each in contacts for name in each.names][k]
    which = f" (state{place(tuple(where))})" if where else ""
    warn_user(f"a rollout of {system.name} starts{which} where the contact {name} "
              f"overlaps by {-gaps[*where, k]:.3g} m, which is taken back at 0.1 m/s at most: "
              "start where shapes touch or are apart, as at q = cayley.simulation.separated(arm.tree, q)")


@kept_with_owner
def _gaps(system: System) -> Kernel:
    """The gaps (c) of all contacts of a system."""
    def text(t: Scalar, x: State, u: Record, p: Record) -> tuple[Array]:
        return (joined([part.contacts.points(t, x, u, p)[0] for part in system.holds if part.contacts is not None]),)

    count = sum(len(part.contacts.names) for part in system.holds if part.contacts is not None)
    return text_kernel(system, text, [(count,)], "gaps")
