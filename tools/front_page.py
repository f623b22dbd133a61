"""The figures of README.md, from benchmarks/README.md: `python tools/front_page.py` writes them anew.

The pictures of the same figures: `python docs/pictures/pictures.py`.
"""

from __future__ import annotations

import re

from measured import ROOT, in_a_batch, nanoseconds, one_call

README = ROOT / "README.md"
MARKERS = "<!-- speed: begin (written by tools/front_page.py) -->", "<!-- speed: end -->"
NAMES = {"inertia matrix": "mass matrix"}


def with_figures(text: str) -> str:
    """The text of README.md with the figures that are measured."""
    states = in_a_batch("Panda", "inverse dynamics")["Cayley"]
    text = re.sub(r"# 100 000 states: [\d.]+ ms", f"# 100 000 states: {states / 10:.1f} ms", text)
    begin, end = MARKERS
    above, _, rest = text.partition(begin)
    return "\n".join([above + begin, "", *table(), "", *ranges(), "", end + rest.partition(end)[2]])


def table() -> list[str]:
    """The functions of the Panda in a batch, and a column for each peer that has one of them."""
    functions = {function: in_a_batch("Panda", function) for function in nanoseconds("Panda")}
    names = list(dict.fromkeys(name for times in functions.values() for name in times))
    rows = [["Panda, in a batch", *names], ["---", *["---:"] * len(names)]]
    for function, times in functions.items():
        cells = [f"{times[name]:.{0 if times[name] >= 100 else 1}f}" if name in times else "" for name in names]
        rows.append([NAMES.get(function, function), *cells])
    return [f"| {' | '.join(row)} |" for row in rows]


def ranges() -> list[str]:
    """How many times as long Pinocchio takes, from the least to the greatest of the functions."""
    batches = {robot: [times["Pinocchio"] / times["Cayley"] for function in nanoseconds(robot)
                       if (times := in_a_batch(robot, function))] for robot in ("Panda", "Talos")}
    calls = [one_call("Panda", function) for function in nanoseconds("Panda")]
    return [f"Called from Python, Pinocchio takes {span(batches['Panda'])} as long for a batch of states of a Panda, "
            f"{span(batches['Talos'])}", "as long for one of Talos, a humanoid, and "
            f"{span([times['Pinocchio'] / times['Cayley'] for times in calls])} as long for a single call.",
            f"A single call of inverse dynamics takes {calls[0]['Cayley']:.0f} ns."]


def span(ratios: list[float]) -> str:
    low, high = f"{min(ratios):.0f}", f"{max(ratios):.0f}"
    return f"{low} times" if low == high else f"{low} to {high} times"


if __name__ == "__main__":
    README.write_text(with_figures(README.read_text(encoding="utf-8")), encoding="utf-8")
