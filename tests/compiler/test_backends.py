"""A backend is one module and one line in a table: kernels find it by its name, and what it lacks is refused."""

import subprocess
import sys

import numpy as np
import pytest

import cayley as cy
from cayley.compiler.backends import BACKENDS, backend_named
from cayley.compiler.backends.protocol import Backend
from cayley.compiler.composed import program_of as text_of
from cayley.compiler.iterate import iterate
from cayley.compiler.operations import OPERATIONS
from cayley.errors import SignatureError, UnsupportedError
from compiler.mechanisms import choices, program_of


@cy.kernel("(n),()->(n)", outputs=("force",))
def spring(x, k):
    return k * np.tanh(x) + np.cbrt(x)


class Stack(Backend):
    """Text for a machine with a stack, in the manner of WebAssembly, and the machine."""

    title = "a stack machine"

    def files(self, program, precision):
        return {f"{program.name}.stack": "\n".join(self._lines(program))}

    def _lines(self, program):
        places = {node.index: k for k, node in enumerate(program.nodes)}
        for node in program.nodes:
            if node.op == "constant":
                yield f"push {node.value!r}"
            elif node.op == "input":
                continue
            else:
                yield from (f"get {places[a.index]}" if a.op != "constant" else f"push {a.value!r}" for a in node.args)
                yield node.op
            yield f"set {places[node.index]}"
        yield from (f"give {places[node.index]}" for node in program.results)

    def function(self, program):
        text, = self.files(program, "double").values()

        def run(*arguments):
            inputs = np.concatenate([np.ravel(a) for a in arguments])
            return np.reshape(_run(text, dict(enumerate(inputs))), program.outputs[0].shape)
        return run


def _run(text, memory):
    stack, given = [], []
    for word, *operand in map(str.split, text.splitlines()):
        if word == "push":
            stack.append(float(operand[0]))
        elif word == "get":
            stack.append(memory[int(operand[0])])
        elif word == "set":
            memory[int(operand[0])] = stack.pop()
        elif word == "give":
            given.append(memory[int(operand[0])])
        else:
            operands = [stack.pop() for _ in range(OPERATIONS[word].arity)][::-1]
            stack.append(OPERATIONS[word].ufunc(*operands))
    return given


def test_a_new_backend_is_reached_by_its_name(monkeypatch):
    monkeypatch.setitem(BACKENDS, "stack", Stack())
    x = np.array([0.3, -0.7])
    np.testing.assert_allclose(spring.on("stack", n=2)(x, 2.0), spring(x, 2.0), rtol=1e-14)
    assert spring.on("stack", n=2) is spring.on("stack", n=2)
    made = program_of(lambda x, y: x * y - 2.0, "(),()->()", inputs=["x", "y"], name="f")
    assert backend_named("stack").files(made, "double") == {
        "f.stack": "get 0\nget 1\nmultiply\nset 2\npush 2.0\nset 3\nget 2\npush 2.0\nsubtract\nset 4\ngive 4"}
    with pytest.raises(UnsupportedError, match="a stack machine is text only"):
        iterate(spring, {"x": "force"}).on("stack")(x, 1.0, steps=2)


def test_what_a_language_lacks_is_a_program_of_what_it_has():
    """`cbrt` with logarithms, down to what has no text."""
    assert {"exp", "log", "where", "copysign"} < {node.op for node in text_of(OPERATIONS["cbrt"]).nodes}


@pytest.mark.parametrize("name", BACKENDS)
def test_every_backend_writes_text(name):
    files = backend_named(name).files(spring.program(n=2), "double")
    assert files and all(file.startswith("spring.") and text for file, text in files.items())


def test_functions_of_backends_agree():
    x = np.array([[0.3, -0.7], [1.1, 0.2]])
    here = spring.on("llvm", n=2)
    np.testing.assert_array_equal(here(x, 2.0), spring(x, 2.0))
    assert here(x.astype(np.float32), 2).dtype == np.float32 and here(x, 2, dtype="float32").dtype == np.float32
    out = np.empty((2, 2))
    assert here(x, 2.0, out=out) is out and (out == spring(x, 2.0)).all()
    np.testing.assert_allclose(spring.on("python", n=2)([0.3, -0.7], 2.0), spring(x[0], 2.0), rtol=1e-15)
    with pytest.raises(SignatureError, match=r"takes 2 arguments \(x, k\), not 1"):
        here(x)
    with pytest.raises(UnsupportedError, match="'x' of spring is complex128"):
        here(x + 1j, 2.0)


def test_what_a_backend_cannot_do_is_said():
    with pytest.raises(UnsupportedError, match="C99 is text only"):
        spring.on("c", n=2)
    with pytest.raises(UnsupportedError, match="no backend 'cudo'"):
        spring.on("cudo", n=2)


def test_a_backend_that_is_not_asked_for_is_not_imported():
    script = ("import sys; from cayley.compiler.backends import BACKENDS; import cayley.compiler.iterate; "
              "print([m for m in sys.modules if m.startswith('cayley.compiler.backends.')], 'llvmlite' in sys.modules)")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] False"


def test_the_text_of_llvm_is_assembly():
    text, = backend_named("llvm").files(program_of(choices, "(n),(),()->(n),(n),()", n=2), "float").values()
    assert "define void @core" in text and "float" in text
