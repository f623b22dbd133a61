"""The poles of a digital loop: a plant that moves on between looks, a law that steps once a period, and its delay.

    s = (plant, memory, y_1 ... y_late)        plant+ = Ad plant + Bd y_late        Ad, Bd = exp(T [A B; 0 0])
    y = H memory + K C plant                   memory+ = (1 + T A_law) memory + T B_law C plant
at an equilibrium, to first order. Where all |z| < 1 errors die out; that the loop of nearby states does so too is
Lyapunov's indirect method for maps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.linalg import expm

from cayley.compiler.typing import Array, ArrayLike
from cayley.control.signals import check_sampling
from cayley.errors import SignatureError
from cayley.systems import Port, StateLike, System


def digital_matrix(plant: System, law: System, period: float, *, late: int = 0, at: Mapping[str, ArrayLike],
                   inputs: Mapping[str, ArrayLike]) -> Array:
    """The matrix of a period of the loop of `plant` with `digital(law, period, late=late)`, at a state of both by the
    names of the blocks and with the `inputs` of both, those that one gives to the other included.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r")
    >>> rest = {"q": np.array([0.5, -0.3]), "qd": np.zeros(2)}
    >>> tau = arm.gravity_forces(rest["q"])
    >>> step = digital_matrix(arm.system(), arm.control.computed_torque(100.0, 20.0), 1e-3, late=1, at=rest,
    ...                       inputs={**rest, "target": rest["q"], "tau": tau})
    >>> bool(np.abs(np.linalg.eigvals(step)).max() < 1.0)
    True
    """
    check_sampling(period, late)
    given = {name: np.broadcast_to(np.asarray(inputs.get(name, port.default), dtype=float), port.shape)
             for part in (plant, law) for name, port in part.ports.items()}
    moves = plant.linearize(_part(plant, at), {name: given[name] for name in plant.inputs})
    acts = law.linearize(_part(law, at), {name: given[name] for name in law.inputs})
    seen = [name for name in law.inputs if name in plant.outputs]
    done = [name for name in plant.inputs if name in law.outputs]
    if not seen or not done:
        raise SignatureError(f"{plant.name} and {law.name} make no loop: neither gives the other anything by name")
    C = moves.C[entries(plant.output_ports, seen)]
    A_law = acts.A
    B_law = acts.B[:, entries(law.ports, seen)] @ C
    H = acts.C[entries(law.output_ports, done)]
    K = acts.D[:, entries(law.ports, seen)][entries(law.output_ports, done)] @ C
    n = len(moves.A)
    k = len(A_law)
    m = len(H)
    B = moves.B[:, entries(plant.ports, done)]
    hold = expm(period * np.block([[moves.A, B], [np.zeros((m, n + m))]]))
    step = np.zeros((n + k + late * m, n + k + late * m))
    step[:n, :n] = hold[:n, :n]
    step[n:n + k, :n] = period * B_law
    step[n:n + k, n:n + k] = np.eye(k) + period * A_law
    if late:
        step[:n, -m:] = hold[:n, n:]
        step[n + k:n + k + m, :n + k] = np.hstack([K, H])
        step[n + k + m:, n + k:-m] = np.eye((late - 1) * m)
    else:
        step[:n, :n + k] += hold[:n, n:] @ np.hstack([K, H])
    return step


def _part(system: System, at: Mapping[str, ArrayLike]) -> StateLike:
    return {name: at[name] for name in system.blocks if name in at}


def entries(ports: Mapping[str, Port], names: Sequence[str]) -> list[int]:
    """The places of the entries of some ports among those of all."""
    ends = np.cumsum([0, *[port.size for port in ports.values()]]).tolist()
    places = {name: range(a, b) for name, a, b in zip(ports, ends[:-1], ends[1:], strict=True)}
    return [k for name in names for k in places[name]]
