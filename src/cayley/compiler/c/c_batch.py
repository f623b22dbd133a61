"""A program as C99 for many states at once: a struct of arrays.

    id_batch(count, q, qd, qdd, tau);        q[k*count + i] is element k of the q of state i
Neighbouring states are neighbours in memory, so that compilers compute several of them in one instruction; a loop over
the function of one state, with its arrays one after the other, is what an array of structs needs."""

from __future__ import annotations

from cayley.compiler.c.c_expressions import WHOLE, CExpression, CStatements, helper_names
from cayley.compiler.c.c_source import CNames, CSource, c_dialect, declared, parameter_names, unused
from cayley.compiler.native.single_precision import in_precision
from cayley.compiler.tracing.names import free_prefix
from cayley.compiler.tracing.program import Program

_RESTRICT = """#ifndef CAYLEY_RESTRICT
#if defined(__cplusplus)
#define CAYLEY_RESTRICT
#else
#define CAYLEY_RESTRICT restrict
#endif
#endif

"""


def with_batch(made: CSource, program: Program, precision: str) -> CSource:
    """The source of a function with that of many states after it.

    >>> import cayley as cy
    >>> @cy.kernel("(2),()->()")
    ... def work(force, speed):
    ...     return (force[0] + force[1]) * speed
    >>> print(work.c_source(batch=True).source.rpartition("#endif")[2].strip())
    void work_batch(
        size_t count,
        const double *CAYLEY_RESTRICT force,
        const double *CAYLEY_RESTRICT speed,
        double *CAYLEY_RESTRICT out)
    {
        for (size_t i = 0; i < count; ++i) {
            out[i] = speed[i]*(force[i] + force[count + i]);
        }
    }
    """
    program = in_precision(program, precision)
    called = f"{made.name}_batch"
    names = parameter_names(program, taken=[*helper_names(made.name), called, "count", "i"])
    plain = _prototype(called, names, precision, "*")
    note = (f"/* {made.name} of `count` states as a struct of arrays: element k of the q of state i is\n"
            " * q[k*count + i]. No output may overlap an input. */")
    header = made.header.replace("#ifdef __cplusplus", "#include <stddef.h>\n\n#ifdef __cplusplus", 1)
    body = "".join(f"        {line}\n" for line in _statements(program, made.name, names, precision))
    idle = "".join(f"    {line}\n" for line in unused(program, names))
    text = (f"{_RESTRICT}{_prototype(called, names, precision, '*CAYLEY_RESTRICT ')}\n{{\n{idle}"
            f"    for (size_t i = 0; i < count; ++i) {{\n{body}    }}\n}}\n")
    return CSource(made.name, made.source, header).extended(f"{note}\n{plain};\n", text)


def _prototype(called: str, names: CNames, real: str, pointer: str) -> str:
    return declared(called, ["size_t count", *[f"const {real} {pointer}{name}" for name in names.inputs],
                             *[f"{real} {pointer}{name}" for name in names.outputs]])


def _place(name: str, k: int) -> str:
    return f"{name}[{('', 'count + ')[k] if k < 2 else f'{k}*count + '}i]"


def _statements(program: Program, helper: str, names: CNames, precision: str) -> list[str]:
    inputs = {node.index: CExpression(_place(name, k), WHOLE) for v,
              name in zip(program.inputs, names.inputs, strict=True)
              for k, node in enumerate(v.nodes)}
    temporary = free_prefix([helper, "count", "i", *names.inputs, *names.outputs])
    body = CStatements(program, c_dialect(precision), inputs, temporary=temporary, helper=helper)
    stores = [f"{_place(name, k)} = {body.text(node).code};"
              for v, name in zip(program.outputs, names.outputs, strict=True) for k, node in enumerate(v.nodes)]
    return [*body.lines, *stores]
