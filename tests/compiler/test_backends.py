"""A backend is one module and one line in a table: kernels find it by its name, and what it lacks is refused."""

import subprocess
import sys

import mpmath
import numpy as np
import pytest

import cayley as cy
from cayley.compiler.backends import BACKENDS, backend_named
from cayley.compiler.backends.protocol import Backend
from cayley.compiler.iterate import iterate
from cayley.compiler.operations import OPERATIONS, OWN, Operation
from cayley.compiler.tracing.composed import program_of as text_of
from cayley.errors import SignatureError, UnsupportedError
from compiler import fortran
from compiler.mechanisms import choices, program_of


@cy.kernel("(n),()->(n)", outputs=("force",))
def spring(x, k):
    return k * np.tanh(x) + np.cbrt(x)


class Stack(Backend):
    """Text for a machine with a stack, in the manner of WebAssembly, and the machine."""

    title = "a stack machine"
    operations = frozenset(OPERATIONS)

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


class Sums(Backend):
    """Four operations, and sines."""

    title = "sums"
    operations = Backend.operations | {"sin"}

    def files(self, program, precision):
        return {f"{program.name}.sums": " ".join(node.op for node in program.nodes)}

    def array(self, argument, label):
        return np.asarray(argument, dtype=float)


def test_what_a_backend_does_not_spell_is_refused_by_its_name(monkeypatch):
    """Also inside of programs that are called and of texts; an operation whose text it spells is none that it lacks."""
    monkeypatch.setitem(BACKENDS, "sums", Sums())
    twice = Operation("twice", text=lambda x: x + x)
    monkeypatch.setitem(OPERATIONS, "twice", twice)
    assert "sin" in str(cy.kernel("()->()", name="f")(lambda x: 2.0 * np.sin(x)).source("sums"))
    assert "twice" in str(cy.kernel("()->()", name="f")(lambda x: twice(x)).source("sums"))
    for text, op in ((np.exp, "exp"), (lambda x: cy.where(x < 0, x, 2 * x), "where|less"), (np.cbrt, "cbrt")):
        with pytest.raises(UnsupportedError, match=f"sums has no spelling of the operation '({op})', which f needs"):
            cy.kernel("()->()", name="f")(text).source("sums")
        loop = iterate(cy.kernel("()->()", name="f", inputs=("x",), outputs=("y",))(text), {"x": "y"})
        for asked in (lambda loop=loop: loop.source("sums"), lambda loop=loop: loop.on("sums")(0.5, steps=2)):
            with pytest.raises(UnsupportedError, match="sums has no spelling of the operation"):
                asked()
    bare = Operation("bare", value=float)  # neither a text nor a name
    monkeypatch.setitem(OPERATIONS, "bare", bare)
    assert not any(backend_named(name).spells("bare") for name in BACKENDS)
    assert all(backend_named(name).spells(op) for name in BACKENDS if name not in ("sums", "fortran")
               for op in OWN if op not in ("input", "constant", "independent", "held", "implied", "call", "result"))


@pytest.mark.parametrize("language", ["python", "fortran"])
def test_small_numbers_keep_their_digits_in_every_text(language):
    """expm1 and log1p of 1e-300 to 1, beside mpmath."""
    xs = np.concatenate([[s * 10.0**-k for k in (300, 100, 20, 12, 8, 3, 1) for s in (1.0, -1.0)], [0.49, 0.51, 3.0]])
    f = cy.kernel("()->(2)", name="f")(lambda x: np.stack([np.expm1(x), np.log1p(x)]))
    if language == "python":
        found = [f.on("python")(float(x)) for x in xs]
    else:
        text, = backend_named("fortran").files(f.program(), "double").values()
        found = [fortran.run(text, x)[0] for x in xs]
    right = [[float(mpmath.expm1(x)), float(mpmath.log1p(x))] for x in xs]
    np.testing.assert_allclose(found, right, rtol=4e-16)


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
