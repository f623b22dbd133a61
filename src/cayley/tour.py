"""A short tour: one function, and all that the compiler makes of it. Run `python -m cayley.tour`."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table

import cayley as cy

SOURCE = '''
@cy.kernel("(2),(2),(2)->(2)", outputs=["tau"], units=UNITS)
def arm_torque(q, qd, qdd):
    """Torques of a planar arm: two links of 0.5 m, 1 kg at each tip."""
    m, l, g = 1.0, 0.5, 9.81
    c1, c12 = np.cos(q[0]), np.cos(q[0] + q[1])
    c2, s2 = np.cos(q[1]), np.sin(q[1])
    inertia = m * l**2 * np.array([[3 + 2 * c2, 1 + c2], [1 + c2, 1]])
    coriolis = m * l**2 * s2 * np.array([-qd[1] * (2 * qd[0] + qd[1]), qd[0] ** 2])
    gravity = m * g * l * np.array([2 * c1 + c12, c12])
    return inertia @ qdd + coriolis + gravity
'''
UNITS = {"q": "rad", "qd": "rad/s", "qdd": "rad/s^2", "tau": "N m"}
BATCH = 100_000


def main() -> None:
    console, kernel = Console(), example()
    console.print(Panel(Syntax(SOURCE.strip(), "python", word_wrap=True), title="1  You write one function, for one state"))
    _numbers(console, kernel)
    console.print(Panel(f"{kernel!r}\n{kernel.operations()}\nits Jacobian by q: {kernel.jacobian('q').operations()}",
                        title="3  Operation counts, on the graph that is compiled"))
    console.print(Panel(str(kernel.equations()), title="4  Equations"))
    console.print(Panel(Syntax(kernel.c_source().source, "c", word_wrap=True), title="5  C99 for a controller"))
    _speed(console, kernel)


def example() -> cy.Kernel:
    """The kernel of the tour, from the very text that is shown."""
    space: dict = {"cy": cy, "np": np, "UNITS": UNITS}
    exec(compile(SOURCE, "<tour>", "exec"), space)
    return space["arm_torque"]


def _numbers(console: Console, kernel: cy.Kernel) -> None:
    q, qd, qdd = [0.3, -0.7], [1.1, -0.4], [0.5, 2.0]
    start = time.perf_counter()
    torque = kernel(q, qd, qdd)
    waited = time.perf_counter() - start
    lines = [f"arm_torque(q, qd, qdd)          = {torque}   (first call, compiled in {1e3 * waited:.0f} ms)",
             f"the Python text on floats       = {kernel.reference(q, qd, qdd)}",
             f"arm_torque.jacobian('q')(...)   = {kernel.jacobian('q')(q, qd, qdd).tolist()}"]
    console.print(Panel("\n".join(lines), title="2  Numbers: a compiled NumPy ufunc, and its derivatives"))


def _speed(console: Console, kernel: cy.Kernel) -> None:
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, BATCH, 2))
    one = [a[0].copy() for a in (q, qd, qdd)]
    rows = [("one state, the Python text", _median(lambda: kernel.reference(*one), 200)),
            ("one state, the kernel", _median(lambda: kernel(*one), 20_000)),
            (f"a state in {BATCH:,}, the graph in NumPy", _median(lambda: kernel.evaluate(cy.NUMPY, q, qd, qdd), 1) / BATCH),
            (f"a state in {BATCH:,}, the kernel", _median(lambda: kernel(q, qd, qdd), 1) / BATCH)]
    table = Table("", "ns", title="6  Speed on this machine (medians)")
    for label, seconds in rows:
        table.add_row(label, f"{1e9 * seconds:,.1f}")
    console.print(table)


def _median(work: Callable[[], object], repeats: int) -> float:
    """Seconds for one call."""
    times = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(repeats):
            work()
        times.append((time.perf_counter() - start) / repeats)
    return float(np.median(times))


if __name__ == "__main__":
    main()
