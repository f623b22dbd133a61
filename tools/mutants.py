"""Do the tests notice? Change one operator, comparison, constant or function of the package at random, and see whether
a test fails.

    # which files of tests run which functions: build/reach.json, once
    python tools/mutants.py reach geometry model        
    # change, test, list survivors; goes on where it was stopped
    python tools/mutants.py try geometry --count 40 --seed 7 
    python tools/mutants.py again geometry --count 40 --seed 7 # try the survivors again, after tests were written

A mutant lives in a copy of the package, so the working tree is not touched. It is tried on the examples of its own
module, and on the files of tests of its own room (tests/geometry for cayley.geometry) that reach its function, the
likely and the quick ones first; the first failure kills it. A survivor is a place that no test of the room sees: write
the test, or find that the change changes nothing (an equal branch, a bound that is never met, the size of a cache).
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "cayley"
BUILD = ROOT / "build"
REACH = BUILD / "reach.json"
ALSO = {"systems": "tests/simulation/"}  # tests of a room that lie in another
LIMIT = 900  # seconds; a mutant that never ends is noticed

OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult}
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is}
FUNCTIONS = {
    "sin": "cos", "cos": "sin", "minimum": "maximum", "maximum": "minimum", "min": "max", "max": "min", "any": "all",
    "all": "any", "argmin": "argmax", "argmax": "argmin", "floor": "ceil", "forth": "back", "inwards": "outwards",
    "outwards": "inwards"}


class Mutant(NamedTuple):
    """One change: the file, the function around it (or nothing), the number of the change in the file, and the line of
    it.
    """

    path: str
    function: str
    number: int
    line: int


class Changes(ast.NodeTransformer):
    """Counts the changes that a file offers, and makes the one that is wanted."""

    def __init__(self, wanted: int | None = None) -> None:
        self.wanted = wanted
        self.found: list[tuple[str, int]] = []
        self._functions: list[str] = []

    def _offered(self, node: ast.expr) -> bool:
        self.found.append((".".join(self._functions), node.lineno))
        return len(self.found) - 1 == self.wanted

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self._functions.append(node.name)
        if ast.get_docstring(node) is not None:
            node.body[1:] = [self.visit(part) for part in node.body[1:]]
        else:
            node.body = [self.visit(part) for part in node.body]
        self._functions.pop()
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self._functions.append(node.name)
        node.body = [self.visit(part) for part in node.body]
        self._functions.pop()
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.value = node.value and self.visit(node.value)
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return node  # the words of errors are not numbers

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """What no number depends on stays: the care of `zip`, the size of a cache, the line that a warning names."""
        careful = isinstance(node.func, ast.Name) and node.func.id == "zip"
        node.func, node.args = self.visit(node.func), [self.visit(argument) for argument in node.args]
        node.keywords = [k if k.arg in ("maxsize", "stacklevel") or careful else self.visit(k) for k in node.keywords]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        new = OPERATORS.get(type(node.op))
        if new is not None and not _is_text(node) and self._offered(node):
            node.op = new()
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, (ast.USub, ast.Not)) and self._offered(node):
            return node.operand
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        new = COMPARISONS.get(type(node.ops[0]))
        if new is not None and self._offered(node):
            node.ops[0] = new()
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        if self._offered(node):
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, (bool, int, float)) and self._offered(node):
            return ast.Constant(not node.value if isinstance(node.value, bool) else node.value + 1)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr in FUNCTIONS and self._offered(node):
            node.attr = FUNCTIONS[node.attr]
        return node


def _is_text(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return any(
        isinstance(s, ast.JoinedStr) or (isinstance(s, ast.Constant) and isinstance(s.value, str)) for s in sides)


def mutants(paths: list[Path]) -> Iterator[Mutant]:
    """Every change that the files offer."""
    for path in paths:
        changes = Changes()
        changes.visit(ast.parse(path.read_text(encoding="utf-8")))
        for number, (function, line) in enumerate(changes.found):
            yield Mutant(str(path.relative_to(SOURCE)), function, number, line)


def changed_text(mutant: Mutant) -> tuple[str, str, str]:
    """The file with the change, and the line before and after it."""
    tree = ast.parse((SOURCE / mutant.path).read_text(encoding="utf-8"))
    before = ast.unparse(tree).splitlines()
    Changes(mutant.number).visit(tree)
    after = ast.unparse(ast.fix_missing_locations(tree)).splitlines()
    old, new = next(((a, b) for a, b in zip(before, after, strict=False) if a != b), ("", ""))
    return "\n".join(after) + "\n", old.strip(), new.strip()


# Which files of tests reach what


class Reached:
    """A pytest plugin that notes which functions of the package run."""

    def __init__(self) -> None:
        self.functions: set[str] = set()
        self._seen: set[object] = set()

    def _noted(self, frame, _event, _argument) -> None:
        code = frame.f_code
        if code not in self._seen:
            self._seen.add(code)
            if code.co_filename.startswith(str(SOURCE)):
                name = code.co_qualname.replace(".<locals>", "")
                self.functions.add(f"{Path(code.co_filename).relative_to(SOURCE)}:{name}")

    def pytest_sessionstart(self) -> None:
        threading.settrace(self._noted)
        sys.settrace(self._noted)

    def pytest_sessionfinish(self) -> None:
        sys.settrace(None)


def reach_of(test_file: str) -> None:
    """In a process of its own: run one file of tests and print what it reached and how long it took."""
    import pytest
    sys.path.insert(0, str(ROOT))  # as python -m pytest has it: what tests pickle is found by other processes
    plugin = Reached()
    start = time.perf_counter()
    status = pytest.main([test_file, "-q", "-p", "no:cacheprovider", "-p", "no:xdist"], plugins=[plugin])
    seconds = time.perf_counter() - start
    print("REACH " + json.dumps({"status": int(status), "seconds": seconds, "functions": sorted(plugin.functions)}))


def reach(jobs: int, rooms: list[str]) -> None:
    """The reach of every file of tests of some rooms, or of all, in build/reach.json."""
    BUILD.mkdir(exist_ok=True)
    found = json.loads(REACH.read_text()) if REACH.exists() else {}
    folders = [ROOT / "tests" / room for room in rooms] or [ROOT / "tests"]
    files = [str(path.relative_to(ROOT)) for folder in folders for path in sorted(folder.rglob("test_*.py"))]

    def one(file: str) -> None:
        command = [sys.executable, "-P", __file__, "reach-of", file]  # -P: tools/fuzz.py is not the package tests/fuzz
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        line = next((text for text in run.stdout.splitlines() if text.startswith("REACH ")), None)
        facts: dict = json.loads(line[6:]) if line else {"status": run.returncode}
        if facts["status"] != 0:
            print(
                f"{file} fails as it is, so it would kill every mutant: left "
                f"out\n{run.stdout[-1500:]}{run.stderr[-500:]}",
                flush=True)
            return
        found[file] = facts
        REACH.write_text(json.dumps(found))
        print(f"{file}: {len(facts['functions'])} functions, {facts['seconds']:.0f} s", flush=True)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, [file for file in files if file not in found]))


# The trial


def tests_for(mutant: Mutant, known: dict[str, dict]) -> list[str]:
    """The files of its room that reach it: the one of its own name or its folder's, then the quick ones first."""
    name = mutant.path.split("/")[0]
    beside = (f"tests/{name}/", ALSO.get(name, f"tests/{name}/")) if "/" in mutant.path else ("tests/test_",)
    own = {f"test_{name}" for name in Path(mutant.path).with_suffix("").parts}
    room = sorted((file for file in known if file.startswith(beside)),
                  key=lambda file: (Path(file).stem not in own, known[file]["seconds"]))
    place = mutant.function or "<module>"
    while True:  # what no test of the room enters may run in a process that a test starts, or by what is around it
        reaching = [file for file in room if f"{mutant.path}:{place}" in known[file]["functions"]]
        if reaching or place == "<module>":
            return reaching
        place = place.rpartition(".")[0] or "<module>"


def tried(mutant: Mutant, known: dict[str, dict]) -> dict[str, object]:
    """What killed a mutant, or that nothing did."""
    text, before, after = changed_text(mutant)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        copy = Path(folder) / "src" / "cayley"
        shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(SOURCE.parent / "conftest.py", copy.parent)  # the names that the examples take for granted
        shutil.copy(ROOT / "conftest.py", folder)  # their cache and their profile
        module = copy / mutant.path
        examples = [str(module)] if ">>>" in text else []
        module.write_text(text, encoding="utf-8")
        killer = failure(copy.parent, examples)
        if killer:
            shutil.copy(SOURCE / mutant.path, module)
            killer = None if failure(copy.parent, examples) else killer  # examples that fail anyway say nothing
            module.write_text(text, encoding="utf-8")
        killer = killer or failure(copy.parent, tests_for(mutant, known))
    return {
        "mutant": mutant, "before": before, "after": after, "killed by": killer,
        "seconds": round(time.perf_counter() - start)}


def failure(source: Path, tests: list[str]) -> str | None:
    """The first of the tests that fails with the package of a folder. Examples have a process of their own: pytest
    imports their module once more, and then its classes are two."""
    environment = {**os.environ, "PYTHONPATH": str(source), "CI": "true", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [
        sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist",
        "--hypothesis-profile", "first failure", "--rootdir",
        str(ROOT), "-c",
        str(ROOT / "pyproject.toml"), *tests]
    if not tests:
        return None
    try:
        run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return "does not end"
    if run.returncode in (0, 5):  # 5: no tests at all
        return None
    failures = (line for line in run.stdout.splitlines() if line.startswith(("FAILED ", "ERROR ")))
    return next(failures, f"exit {run.returncode}: {run.stderr[-200:]}")


def again(kept: Path) -> list[Mutant]:
    """The survivors that are kept, to be tried once more; those whose place has moved are left out by name."""
    done = json.loads(kept.read_text())
    survivors = [entry for entry in done if not entry["killed by"]]
    moved = [
        entry for entry in survivors if changed_text(Mutant(*entry["mutant"]))[1:] != (entry["before"], entry["after"])]
    for entry in moved:
        print(f"the text has changed, find it by hand: {entry['mutant'][0]}: {entry['before']}")
    kept.write_text(json.dumps([entry for entry in done if entry["killed by"] or entry in moved], indent=1))
    return [Mutant(*entry["mutant"]) for entry in survivors if entry not in moved]


def trial(count: int, seed: int, jobs: int, only: list[str], survivors_only: bool) -> int:
    paths = [path for path in sorted(SOURCE.rglob("*.py"))
             if not only or any(str(path.relative_to(SOURCE)).startswith(beginning) for beginning in only)]
    known = json.loads(REACH.read_text())
    kept = BUILD / f"mutants_{'_'.join(only).replace('/', '.') or 'all'}_{seed}_{count}.json"
    chosen = again(kept) if survivors_only else random.Random(seed).sample(list(mutants(paths)), count)
    done: list[dict] = json.loads(kept.read_text()) if kept.exists() else []
    have = {tuple(entry["mutant"]) for entry in done}
    lock = threading.Lock()

    def one(mutant: Mutant) -> None:
        found = tried(mutant, known)
        with lock:
            done.append(json.loads(json.dumps(found)))
            kept.write_text(json.dumps(done, indent=1))
            word = "killed  " if found["killed by"] else "SURVIVED"
            print(
                f"{len(done):4} {word} {found['seconds']:4} s {mutant.path}:{mutant.line}\n     {found['before']}\n    "
                f" {found['after']}"
                f"\n     {found['killed by'] or ''}", flush=True)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, [mutant for mutant in chosen if tuple(mutant) not in have]))
    survivors = [entry for entry in done if not entry["killed by"]]
    print(f"\nseed {seed}: {len(done)} mutants, {len(survivors)} survive")
    for entry in survivors:
        print(f"  {entry['mutant'][0]}:{entry['mutant'][3]}\n    {entry['before']}\n    {entry['after']}")
    return 1 if survivors else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job", choices=["reach", "reach-of", "try", "again"])
    parser.add_argument("only", nargs="*", help="rooms, or beginnings of paths below src/cayley")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    if chosen.job == "reach-of":
        reach_of(chosen.only[0])
        return 0
    if chosen.job == "reach":
        reach(chosen.jobs, chosen.only)
        return 0
    return trial(chosen.count, chosen.seed, chosen.jobs, chosen.only, chosen.job == "again")


if __name__ == "__main__":
    sys.exit(main())
