"""A mechanism as a system: the state (q, qd), joint forces, wrenches and inertias as inputs."""

from __future__ import annotations

from cayley.compiler.typing import Array
from cayley.dynamics.inverse.external_loads import wrench_unit
from cayley.dynamics.open_tree.configurations import Configurations
from cayley.dynamics.open_tree.mechanics import TreeMechanics
from cayley.systems.ports import Block, Port
from cayley.systems.record import Record
from cayley.systems.system import System


def tree_system(mechanics: TreeMechanics) -> System:
    """The system of a mechanism: blocks `q` and `qd`, inputs `tau`, `wrench_<frame>` and `inertia_<body>`.

    >>> from cayley.model.catalogue import load_robot
    >>> tree_system(TreeMechanics(load_robot("planar2r")))
    <system planar2r: state q, qd; inputs tau; outputs q, qd>
    """
    tree = mechanics.tree
    units = {f"wrench_{frame}": wrench_unit(mechanics.axes) for frame in mechanics.wrenches}

    def acting(u: Record) -> list[Array]:
        return [u["tau"], *[u[name] for name in mechanics.more]]

    return System(
        tree.name,
        state={"q": Block((tree.nq,), manifold=Configurations(tree), velocity="qd"), "qd": Block((tree.nv,))},
        inputs={"tau": Port((tree.nv,), default=0.0),
                **{name: Port(shape, units.get(name, "")) for name, shape in mechanics.more.items()}},
        derivative=lambda t, x, u, p: mechanics.at(t).acceleration(x.q, x.qd, *acting(u)),
        power=lambda t, x, u, p: mechanics.at(t).power(x.q, x.qd, *acting(u)),
        energy=lambda t, x, u, p: mechanics.energy(x.q, x.qd, *acting(u)[1:]),
        constraints=mechanics.constraints, project=mechanics.project, explain=lambda x: mechanics.why_singular(x.q),
        timed=mechanics.is_timed)
