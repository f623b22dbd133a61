"""Many small kernels through the parity harness at the price of one: they are inlined into one program with all their
outputs.
"""

import numpy as np

from cayley.compiler.kernel import kernel
from compiler.parity import check_parity


def check_parity_of_many(cases, *, tolerance=1e-13, single=1e-5):
    """`cases` are pairs of a kernel and its arguments, each with one leading axis of the same few states."""
    cases = [(made, [np.asarray(a, dtype=float) for a in arguments]) for made, arguments in cases]
    shapes = [[a.shape[1:] for a in arguments] for _, arguments in cases]
    programs = [
        made.program(**made.signature.bind(core, made.inputs)) for (made, _), core in zip(cases, shapes, strict=True)]
    sizes = [int(np.prod(core)) for cores in shapes for core in cores]
    signature = ",".join(f"({','.join(map(str, v.shape))})" for program in programs for v in program.outputs)

    @kernel(f"({sum(sizes)})->{signature}")
    def together(x):
        results, place = [], 0
        for (made, _), cores in zip(cases, shapes, strict=True):
            operands = []
            for core in cores:
                size = int(np.prod(core))
                operands.append(np.reshape(x[place:place + size], core) if core else x[place])
                place += size
            found = made.unchecked(*operands)  # any numbers will do: it is the arithmetic that is compared
            results += list(found) if len(made.signature.outputs) > 1 else [found]
        return tuple(results)

    states = np.concatenate([a.reshape(len(a), -1) for _, arguments in cases for a in arguments], axis=1)
    check_parity(together, states, tolerance=tolerance, single=single, jacobians=False)
