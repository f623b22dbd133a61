"""Laws of arms with rigid drives on arms with elastic drives.

    measured at the motors    q = qm / gear + rest        tau_m = tau / gear
    measured at the joints    q, with the same forces of the motors
The springs count as rigid: the law is that of the rigid arm with the rotors on its joints, `including("armature")`. The
loop is stable while it is slower than the springs; from measurements at the motors it is the more robust (collocated
control). `FeedbackLinearisation` is the law that knows the springs. Source: Spong 1987; spec R-51.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.tracing.symbols import symbols
from cayley.compiler.typing import Array
from cayley.control.arms import ArmLike, tree_of
from cayley.dynamics.rigid_links.drives import ties
from cayley.errors import ConventionError, SignatureError, UnsupportedError
from cayley.systems import Record, System, connect

_INNER = {"q": "joint_q", "qd": "joint_qd", "tau": "joint_tau"}


def through_springs(arm: ArmLike, law: System, *, measured: str = "motors", name: str | None = None) -> System:
    """A law that was made for the rigid arm, as one for the same arm with elastic drives.

    `arm` includes "elastic drives", `law` was made for `arm.including("armature")`, or for another rigid model of it.
    Inputs `q` and `qd` are those of joints and motors, `tau` goes to the motors, and to the joints without springs; all
    other ports are those of the law. `measured` at the "motors" or at the "joints".

    >>> import cayley as cy
    >>> arm = cy.load("planar2r")
    >>> for joint in arm.joint_names:
    ...     arm = arm.with_drive(joint, inertia=1e-5, gear=100.0, stiffness=2e4)
    >>> soft = arm.including("elastic drives")
    >>> law = through_springs(soft, arm.including("armature").control.computed_torque(100.0, 20.0))
    >>> start = {"q": np.zeros(4), "qd": np.zeros(4)}
    >>> run = cy.connect(soft, law).simulate(start, until=2.0, inputs={"target": [0.5, -0.3]})
    >>> bool(abs(run.end["q"][:2] - [0.5, -0.3]).max() < 1e-3)
    True
    """
    tree = tree_of(arm)
    springs = sorted(ties(tree), key=lambda tie: tie.qmd or 0)
    if not springs:
        raise UnsupportedError(f"{tree.name} includes no elastic drives: its laws need nothing in between")
    if measured not in ("motors", "joints"):
        raise ConventionError(f'joints are measured at the "motors" or at the "joints", not at {measured!r}')
    count = tree.nv - len(springs)
    if "tau" not in law.outputs or law.output_ports["tau"].shape != (count,):
        raise SignatureError(f"{law.name} must give `tau` ({count}), the forces of the joints of {tree.name} without "
                             "its motors: make it for the arm with rigid drives, `including(\"armature\")`")

    def joints(u: Record) -> dict[str, Array]:
        q, qd = symbols(u.q[:count]).copy(), symbols(u.qd[:count]).copy()
        for tie in springs if measured == "motors" else ():
            q[tie.q] = u.q[tie.qm] / tie.gear + tie.spring.rest_angle
            qd[tie.qd] = u.qd[tie.qmd] / tie.gear
        return {"joint_q": q, "joint_qd": qd}

    def forces(tau: Array) -> Array:
        found = [*tau, *[0.0] * len(springs)]
        for tie in springs:
            found[tie.qmd or 0], found[tie.qd] = tau[tie.qd] / tie.gear, 0.0
        return np.stack(found)

    before = System("measurement", inputs={"q": tree.nq, "qd": tree.nv},
                    outputs={"joint_q": count, "joint_qd": count}, output=lambda t, x, u, p: joints(u))
    after = System("motor forces", inputs={"joint_tau": count}, outputs={"tau": tree.nv},
                   output=lambda t, x, u, p: forces(u.joint_tau))
    ports = (*law.inputs, *law.outputs)
    inner = law.renamed({port: new for port, new in _INNER.items() if port in ports})
    return connect(before, inner, after, name=name or f"{law.name} through springs")
