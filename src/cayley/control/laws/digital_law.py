"""A law as a controller runs it: once a period it looks, computes and remembers, and its outputs are held in between.

    at k T:  y_k = output(x_k, u(k T)),  x_{k+1} = x_k + T derivative(x_k, u(k T));  y_{k - late} goes out until (k+1) T
These are the steps of `law.step` and of `law.c_source`, with the mechanism moving on meanwhile.
"""

from __future__ import annotations

from math import prod

import numpy as np

from cayley.compiler.tracing.symbols import symbols
from cayley.compiler.typing import Array
from cayley.control.arms import finite_or
from cayley.control.signals import check_sampling
from cayley.errors import UnsupportedError
from cayley.systems import Block, Record, State, System, Transition
from cayley.systems.layout import as_vector


def digital(law: System, period: float, *, late: int = 0, name: str | None = None) -> System:
    """The law with looks each `period` [s], the first after one, whose outputs go out `late` periods later. It has the
    ports and parameters of the law, and besides its memory the states `clock` and `held_<output>` (late + 1, size), the
    oldest last: what goes out before the first look, zero if a start does not give it.

    A look that would give what is not finite leaves what was held before.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r")
    >>> law = digital(arm.control.pid(80.0, 20.0, 12.0), 1e-3, late=1)
    >>> law
    <system pid, digital: state integral, clock, held_tau; inputs q, qd, target, target_qd; outputs tau;
     parameters kp, kd, ki, wind_up>
    >>> end = cy.connect(arm.with_gravity([0.0, 0.0, 0.0]), law).rollout()(
    ...     {"q": [0.0, 0.0], "qd": [0.0, 0.0]}, step=1e-3, steps=20_000, inputs={"target": [0.5, -0.3]}).end
    >>> end["q"].round(3)
    array([ 0.5, -0.3])
    """
    check_sampling(period, late)
    if law.modes or law.transitions or law.constraints:
        raise UnsupportedError(f"{law.name} has modes, transitions or constraints: it is no law of one step a period")
    held = {f"held_{output}": Block((late + 1, prod(port.shape)), default=0.0)
            for output, port in law.output_ports.items()}
    taken = [block for block in law.blocks if block in held or block == "clock"]
    if taken:
        raise UnsupportedError(f"{law.name} has a state {taken[0]!r}, which is a word of digital control: rename it")
    memory = {block: Block(given.shape, given.unit, given.manifold, default=given.default)
              for block, given in law.blocks.items()}

    def look(t: float, x: State, u: Record, p: Record) -> dict[str, Array]:
        now = law.layout.state(law.layout.vector(x)) if memory else x
        seen = {f"held_{output}": symbols(as_vector(value)) for output, value in law.values(t, now, u, p).items()}
        queues = {block: np.concatenate([finite_or(value, x[block][0])[None], x[block][:-1]])
                  for block, value in seen.items()}
        steps = {block: period * rate for block, rate in law.tangents(t, now, u, p).items()}
        return {"clock": x.clock - period, **queues, **law.layout.stepped(now, steps)}

    still = {block: np.zeros(given.tangent) for block, given in {**memory, **held}.items()}
    return System(
        name or f"{law.name}, digital", state={**memory, "clock": Block((), "s", default=0.0), **held},
        inputs=law.inputs, outputs=law.outputs, parameters=law.parameters, acts=law.acts,
        derivative=lambda t, x, u, p: {"clock": 1.0, **still},
        output=lambda t, x, u, p: {output: x[f"held_{output}"][-1] if port.shape == (port.size,) else
                                   np.reshape(x[f"held_{output}"][-1], port.shape)
                                   for output, port in law.output_ports.items()},
        transitions=[Transition(f"{law.name} looks", lambda t, x, u, p: x.clock - period, "rising", jump=look)])
