"""The places of the arguments and the results of calls in memory, so that a callee reads and writes them in place.

An array of arguments lies side by side. If it is a piece of an input, or of the results of another call, that is where
it is read; otherwise each of its values is stored where it belongs when it is computed. Calls with the same array read
the same memory. Results that are outputs of the program, and nothing else, are written there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cayley.compiler.tracing.calls import groups
from cayley.compiler.tracing.graph import Node

Place = tuple[str, int]  # a buffer, and an element in it
Row = tuple[str, int, int]  # a buffer, an element in it, and from there to the next
Group = tuple[int, ...]


class CallFrames:
    """The places of arguments and results of all calls of a program, `size` elements in all.

    `results` has where the results of a call are, `places` where an array of arguments begins, `homes` where else a
    value is to be stored. `leaves` are the arguments that are not computed."""

    def __init__(self, order: Sequence[Node], inputs: Mapping[int, Place], outputs: Mapping[int, Sequence[int]],
                 uses: Mapping[int, int]) -> None:
        self.size = 0
        self.results: dict[int, Row] = {}
        self.places: dict[Group, Place] = {}
        self.homes: dict[int, list[int]] = {}
        self.leaves: list[Node] = []
        calls = [node for node in order if node.op == "call"]
        used: dict[int, dict[int, Node]] = {call.index: {} for call in calls}
        for node in order:
            if node.op == "result":
                used[node.args[0].index][node.args[0].value.row(node.value)] = node
        for call in calls:
            count = call.value.stored
            self.results[call.index] = (_row_of_outputs(used[call.index], count, outputs, uses)
                                        or ("frames", self._take(count), 1))
        for call in calls:
            for group in groups(call):
                key = tuple(node.index for node in group)
                if key not in self.places:
                    self.places[key] = self._piece(group, inputs) or self._home(group)

    def place(self, result: Node) -> Place:
        """The place of a result."""
        buffer, start, step = self.results[result.args[0].index]
        return buffer, start + result.args[0].value.row(result.value) * step

    def arguments(self, call: Node) -> list[Place]:
        """The place of each array that a call takes."""
        return [self.places[tuple(node.index for node in group)] for group in groups(call)]

    def _take(self, elements: int) -> int:
        self.size += elements
        return self.size - elements

    def _piece(self, group: Sequence[Node], inputs: Mapping[int, Place]) -> Place | None:
        """The place of a group that already lies side by side, if it does."""
        known = [inputs.get(node.index) if node.op == "input" else
                 self.place(node) if node.op == "result" else None
                 for node in group]
        first = known[0]
        is_piece = first is not None and all(place == (first[0], first[1] + k) for k, place in enumerate(known))
        return first if is_piece else None

    def _home(self, group: Sequence[Node]) -> Place:
        start = self._take(len(group))
        for k, node in enumerate(group):
            if not node.args and node.index not in self.homes:
                self.leaves.append(node)
            self.homes.setdefault(node.index, []).append(start + k)
        return "frames", start


def _row_of_outputs(used: Mapping[int, Node], count: int, outputs: Mapping[int, Sequence[int]],
                    uses: Mapping[int, int]) -> Row | None:
    """The places of results among the outputs, if they are all of them at equal steps, and used for nothing else."""
    own = [outputs.get(used[k].index, ()) if k in used and uses[used[k].index] == 1 else () for k in range(count)]
    if not all(len(places) == 1 for places in own):
        return None
    first = own[0][0]
    step = own[1][0] - first if count > 1 else 1
    return ("out", first, step) if all(places[0] == first + k * step for k, places in enumerate(own)) else None
