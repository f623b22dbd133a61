"""Quadratic and cone programs of numbers: a kernel for each structure, compiled once."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.solving.optimum import Optimum
from cayley.compiler.solving.program_data import INFINITE, ProgramData
from cayley.compiler.solving.quadratic_programs import solved_in_kernel
from cayley.compiler.typing import Array

_OUTPUTS = ("x", "equalities", "inequalities", "primal_residual", "dual_residual", "gap", "iterations", "status")


def solved_as_numbers(name: str, given: ProgramData, start: tuple[Array, ...] | None, iterations: int,
                      tolerance: float) -> Optimum:
    """The solutions of programs whose data are arrays of numbers; leading axes broadcast."""
    given = _simpler(given)
    arrays = given.named()
    cores = tuple((label, a.shape[a.ndim - (2 if label[0] in "PAGF" else 1):]) for label, a in arrays.items())
    near = () if start is None else start
    found = _kernel(name, cores, tuple(array.shape[-1] for array in near), iterations, tolerance)(
        *arrays.values(), *near)
    single = dict(zip(_OUTPUTS, found, strict=False))
    single["status"] = np.asarray(single["status"]).astype(int)[()]
    single["iterations"] = np.asarray(single["iterations"]).astype(int)[()]
    return Optimum(**single, cones=tuple(found[len(_OUTPUTS):]))


def _simpler(given: ProgramData) -> ProgramData:
    """The program without bounds that are infinite throughout, and without the identity as G."""
    n = given.q.shape[-1]
    lower, upper = [None if bound is None or (abs(bound) >= INFINITE).all() else bound
                    for bound in (given.lower, given.upper)]
    if lower is upper is None:
        return given
    is_identity = given.G is not None and given.G.shape == (n, n) and (np.eye(n) == given.G).all()
    return given._replace(G=None if is_identity else given.G, lower=lower, upper=upper)


@lru_cache(maxsize=64)
def _kernel(name: str, cores: tuple[tuple[str, tuple[int, ...]], ...], near: tuple[int, ...], iterations: int,
            tolerance: float) -> Kernel[Any]:
    labels = [label for label, _ in cores]
    shape = dict(cores)
    n, p = shape["q"][0], shape.get("A", (0,))[0]
    m = shape["G"][0] if "G" in shape else n if "lower" in shape or "upper" in shape else 0
    cones = [core[0] for label, core in cores if label[0] == "g"]
    shapes = [*[core for _, core in cores], *[(k,) for k in near]]
    spelled = ",".join(f"({','.join(map(str, core))})" for core in shapes)
    results = ",".join([f"({n}),({p}),({m}),(),(),(),(),()", *[f"({k})" for k in cones]])

    def text(*arrays: Array) -> Any:  # noqa: ANN401 (a tuple of arrays)
        given = ProgramData.of_named(list(zip(labels, arrays, strict=False)))
        graph = given.graph()
        assert graph is not None  # the arguments of a text are symbols
        found = solved_in_kernel(given, graph, arrays[len(labels):] or None, iterations, tolerance)
        return (*[getattr(found, label) for label in _OUTPUTS], *found.cones)

    text.__name__ = name.removeprefix("cy.")
    return kernel(f"{spelled}->{results}", outputs=[*_OUTPUTS, *[f"cone{k}" for k in range(len(cones))]],
                  inputs=[*labels, *["start of x", "start of equalities", "start of inequalities"][:len(near)]])(text)
