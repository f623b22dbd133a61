"""A law and what is added to its forces: a compensator of what its model does not know, learned, tabulated or observed.

    tau = what the law gives + compensation
A compensator is a function of what the law gets, `f(q, qd)` say, for one state, in NumPy; or a system with the output
`compensation`, which may remember: a network that learns, a table of rules, an observer. What is not finite of it is
not added. Source: spec S3-48, S3-53."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TypeAlias

from cayley.compiler.kernel import Kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.control.arms import finite_or, limits_of
from cayley.control.signals import within
from cayley.errors import SignatureError, shown
from cayley.systems import System, connect

Compensator: TypeAlias = System | Callable[..., Array]


def compensated(law: System, compensator: Compensator, *, limits: ArrayLike | None = None,
                name: str | None = None) -> System:
    """A law whose forces `tau` are the sum of its own, `law_tau`, and a `compensation`, within `limits` (nv) if there
    are any.

    `compensator`: a function whose arguments are names of inputs of the law, as `f(q, qd)`, or a system with the output
    `compensation`, and with inputs that are ports of the law, or `tau` itself, the sum that acts. Its parameters and
    blocks whose names the law has too are called `compensator_<name>`.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r")
    >>> law = compensated(arm.control.computed_torque(100.0, 20.0), lambda qd: 0.3 * qd, limits=40.0)
    >>> law.step([0.1, 0.2], [1.0, -1.0], [0.1, 0.2], [1.0, -1.0], [0.0, 0.0]).compensation
    array([ 0.3, -0.3])
    """
    if "tau" not in law.outputs or law.output_ports["tau"].shape[1:] or not law.output_ports["tau"].shape:
        raise SignatureError(f"a compensation is added to forces `tau`, which {law.name} does not have; its outputs "
                             f"are {', '.join(law.outputs)}")
    count = law.output_ports["tau"].size
    added = compensator if isinstance(compensator, System) else _of_function(law, compensator, count)
    if "compensation" not in added.outputs or added.output_ports["compensation"].shape != (count,):
        raise SignatureError(f"a compensator of {law.name} has the output `compensation` ({count}), which {added.name} "
                             "has not")
    most = limits_of(limits, count)
    both = System("sum", inputs={"law_tau": count, "compensation": count}, outputs={"tau": count},
                  output=lambda t, x, u, p: within(u.law_tau + finite_or(u.compensation, 0.0), most))
    taken = {name: f"compensator_{name}" for name in (*added.parameters, *added.state)
             if name in law.parameters or name in law.state}
    return connect(law.renamed({"tau": "law_tau"}), added.renamed(taken), both,
                   name=name or f"{law.name} with {added.name}")


def _of_function(law: System, text: Callable[..., Array], count: int) -> System:
    if not callable(text):
        raise SignatureError(f"a compensator must be a function of the law's inputs, or a system, not {shown(text)}")
    names = list(text.inputs if isinstance(text, Kernel) else inspect.signature(text).parameters)
    unknown = [name for name in names if name not in law.inputs]
    if unknown:
        raise SignatureError(f"a compensator asks for {unknown[0]!r}, which {law.name} does not get: it gets "
                             f"{', '.join(law.inputs)}")
    return System("compensator", inputs={name: law.ports[name] for name in names}, outputs={"compensation": count},
                  output=lambda t, x, u, p: text(*[u[name] for name in names]))
