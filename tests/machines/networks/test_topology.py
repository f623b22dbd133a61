"""The graph of a network: circuits, cut-sets, and which drivers leave a problem that can be solved."""

from itertools import combinations

import numpy as np
import pytest

from cayley.errors import ModelError
from cayley.machines.networks import Connection, LineSpring, Network, RigidBody
from cayley.machines.networks.formulation_tree import Edge, EdgeKind, SystemGraph, chain_graph, formulation
from cayley.machines.networks.rigid_body import port_matrix
from cayley.model.joint_kinds import Revolute


def drivers(m):
    return [str(j + 1) for j in range(m + 1)] + [f"{j + 1}'" for j in range(m)]


def spanning_trees(graph, across):
    """By trying all: trees with every across driver, no through driver, and two of the three edges of each body."""
    A = graph.incidence
    columns = {edge.name: k for k, edge in enumerate(graph.edges)}
    bodies = sorted({edge.body for edge in graph.of_kind(EdgeKind.TERMINAL)})
    terminals = graph.of_kind(EdgeKind.TERMINAL)
    pairs = [list(combinations([edge.name for edge in terminals if edge.body == body], 2)) for body in bodies]
    found = []

    def go(chosen, rest):
        if not rest:
            tree = [*chosen, *across]
            if len(tree) == len(A) and round(abs(np.linalg.det(A[:, [columns[name] for name in tree]]))) == 1:
                found.append(set(tree))
            return
        for pair in rest[0]:
            go([*chosen, *pair], rest[1:])

    go([], pairs)
    return found


@pytest.mark.spec("S4-09")
def test_circuits_and_cut_sets_of_two_bodies():
    """W4-02, (8) and (9): with the mass centres driven, and the same F for through variables."""
    graph = chain_graph(2, ["1'", "2'"])
    tree = ["a1", "a2", "b1", "b2", "1'", "2'"]
    assert set(formulation(graph).tree) == set(tree)
    F = graph.circuit_matrix(tree)
    x = dict(zip(tree, np.random.default_rng(0).normal(size=6), strict=True))
    chords = dict(zip(graph.chords(tree), F.T @ list(x.values()), strict=True))
    assert chords == pytest.approx({"g1": x["1'"], "g2": x["2'"], "1": x["b1"], "2": x["b2"] - x["a1"], "3": x["a2"]})
    y = dict(zip(graph.chords(tree), np.random.default_rng(1).normal(size=5), strict=True))
    through = dict(zip(tree, -F @ list(y.values()), strict=True))
    assert through == pytest.approx({"a1": y["2"], "a2": -y["3"], "b1": -y["1"], "b2": -y["2"], "1'": -y["g1"],
                                     "2'": -y["g2"]})
    A = graph.incidence  # Kirchhoff's own form: the through variables at every node add up to nothing
    every = {**through, **y}
    assert np.abs(A @ [every[edge.name] for edge in graph.edges]).max() < 1e-15


@pytest.mark.spec("S4-10")
@pytest.mark.parametrize(("m", "count"), [(1, 3), (2, 8), (3, 21), (4, 55)])
def test_assignments_of_drivers_that_can_be_solved(m, count):
    """W4-02: as many as the source's condition allows, one tree each, and no other is found by trying all trees."""
    solvable = []
    for number in range(len(drivers(m)) + 1):
        for across in combinations(drivers(m), number):
            found = formulation(chain_graph(m, across))
            if m < 4:
                trees = spanning_trees(chain_graph(m, across), across)
                assert len(trees) == found.solvable and (not trees or trees[0] == set(found.tree))
            if found.solvable:
                solvable.append(set(across))
                assert found.verdict == "algebraic" and found.states == () and len(across) == m
                left_out = {edge.name for edge in chain_graph(m, ()).of_kind(EdgeKind.TERMINAL)} - set(found.tree)
                assert set(found.forms.values()) == left_out and len(found.forms) == m
            else:
                assert found.why
    assert len(solvable) == count
    if m == 2:
        eight = [{"1'", "2'"}, {"3", "1'"}, {"2", "2'"}, {"2", "1'"}, {"2", "3"}, {"1", "2'"}, {"1", "3"}, {"1", "2"}]
        assert sorted(map(sorted, solvable)) == sorted(map(sorted, eight))


@pytest.mark.spec("S4-10")
@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_the_three_cases_of_the_source(m):
    """(i) with the tip as a through driver (E4-08), (ii) joints moved, (iii) all but the first joint, and the tip."""
    joints = [str(j) for j in range(1, m + 1)]
    cases = {"g": [f"{j}'" for j in range(1, m + 1)], "b": joints, "a": [str(j) for j in range(2, m + 2)]}
    for outside, across in cases.items():
        found = formulation(chain_graph(m, across))
        assert found.forms == {f"body {j}": f"{outside}{j}" for j in range(1, m + 1)}
    printed = formulation(chain_graph(m, [*cases["g"], str(m + 1)]))  # the printed case (i): the tip is moved as well
    assert not printed.solvable and f"'{m + 1}'" in printed.why and f"body 'body {m}'" in printed.why


@pytest.mark.spec("S4-35")
@pytest.mark.parametrize(("m", "count"), [(1, 4), (2, 14), (3, 48)])
def test_with_active_parts_of_their_own_forward_dynamics_can_be_solved(m, count):
    """E4-26: all through drivers leave the motion of every body as a state; each across driver takes one of them."""
    verdicts = []
    for number in range(len(drivers(m)) + 1):
        for across in combinations(drivers(m), number):
            found = formulation(chain_graph(m, across, active_parts=True))
            verdicts.append(found.verdict)
            if found.solvable:
                assert len(found.states) == m - number
                assert (found.verdict == "algebraic") == (number == m)
    assert sum(verdict != "unsolvable" for verdict in verdicts) == count
    free = formulation(chain_graph(m, (), active_parts=True))
    assert free.verdict == "differential" and len(free.states) == m
    assert not formulation(chain_graph(m, ())).solvable


@pytest.mark.spec("S4-09", "S4-10")
def test_what_makes_a_graph_unsolvable_is_named():
    bar = [Edge(f"{end}", end.upper(), "O", EdgeKind.TERMINAL, "bar") for end in "abg"]

    def why(*more):
        return formulation(SystemGraph((*bar, *more))).why

    assert why(Edge("one", "A", "O", EdgeKind.ACROSS), Edge("two", "A", "O", EdgeKind.ACROSS)) == (
        "the across drivers 'one', 'two' make a circuit: one of them is given by the others")
    assert "nothing joins 'X', 'Y'" in why(Edge("far", "X", "Y", EdgeKind.THROUGH))
    assert "only the through drivers 'pull' reach 'X'" in why(Edge("pull", "X", "A", EdgeKind.THROUGH))
    assert "motion of body 'bar' is given more than once, by 'first', 'second'" in why(
        Edge("first", "A", "O", EdgeKind.ACROSS), Edge("second", "B", "O", EdgeKind.ACROSS))
    assert "the motion of 1 more terminal must be given" in why(Edge("pull", "A", "O", EdgeKind.THROUGH))
    parallel = (Edge("move", "A", "O", EdgeKind.ACROSS), Edge("pull", "A", "O", EdgeKind.THROUGH),
                Edge("push", "A", "O", EdgeKind.THROUGH))
    assert formulation(SystemGraph((*bar, *parallel))).forms == {"bar": "a"}  # parallel edges are no fault
    with pytest.raises(ModelError, match="two edges are named 'a'"):
        SystemGraph((*bar, bar[0]))
    with pytest.raises(ModelError, match="edge 'short' joins a terminal to itself"):
        SystemGraph((*bar, Edge("short", "A", "A", EdgeKind.ACROSS)))
    with pytest.raises(ModelError, match="no spanning tree"):
        SystemGraph((*bar, *parallel)).circuit_matrix(["a", "b", "move"])
    with pytest.raises(ModelError, match="there is no edge 'c'"):
        SystemGraph(tuple(bar)).circuit_matrix(["a", "b", "c"])


def rods(m, closed=False, **more):
    """A chain of rods by names, or a ring of them through the reference."""
    bodies = [RigidBody(f"r{j}", 1.0, np.eye(3), {"B": [0, 0, 0], "A": [1, 0, 0]}) for j in range(m)]
    ends = [(f"r{j - 1}.A" if j else "O.base", f"r{j}.B") for j in range(m)] + [("O.end", f"r{m - 1}.A")] * closed
    pins = [Connection(f"p{k}", *two, Revolute()) for k, two in enumerate(ends)]
    return Network("rods", bodies, pins, reference={"base": [0, 0, 0], "end": [1, 0, 0]}, **more)


@pytest.mark.spec("S4-09", "S4-35")
@pytest.mark.parametrize(("m", "count"), [(1, 4), (2, 14)])
def test_the_graph_of_a_network_is_that_of_its_chain(m, count):
    network = rods(m, open=[f"r{m - 1}.A"])
    names = [*[f"p{k}" for k in range(m)], f"at r{m - 1}.A", *[f"at r{k}.G" for k in range(m)]]
    subsets = [across for number in range(len(names) + 1) for across in combinations(names, number)]
    assert sum(formulation(network.graph(across)).solvable for across in subsets) == count


@pytest.mark.spec("S4-09")
def test_the_graph_of_a_ring():
    """Circuits and cut-sets of a loop through the reference: velocities of its joints and its wrenches, by a tree."""
    ring = rods(3, closed=True, springs=[LineSpring("s", "r0.A", "r2.B", stiffness=1.0)])
    found = formulation(ring.graph(["p0", "p1", "p2"]))
    assert found.verdict == "algebraic" and found.forms == {"r0": "r0.B", "r1": "r1.B", "r2": "r2.B"}
    assert formulation(ring.graph(["p1", "p2", "p3"])).forms == {"r0": "r0.A", "r1": "r1.A", "r2": "r2.A"}
    assert formulation(ring.graph(["p1"])).verdict == "differential"
    assert "is given more than once, by" in formulation(ring.graph(["p0", "p1", "p2", "p3"])).why
    graph = ring.graph(["p0", "p1", "p2"])
    F = graph.circuit_matrix(found.tree)
    chords = graph.chords(found.tree)
    x = dict(zip(found.tree, np.random.default_rng(0).normal(size=len(found.tree)), strict=True))
    across = dict(zip(chords, F.T @ list(x.values()), strict=True))
    assert across["p3"] == pytest.approx(x["r2.A"])  # the last pin has the velocity of its terminal
    assert across["r1.B"] == pytest.approx(x["p1"] + x["r0.A"])
    assert across["spring s"] == pytest.approx(x["p2"] + x["r1.A"] - x["r0.A"])
    with pytest.raises(ModelError, match="there is no driver 'p9'"):
        ring.graph(["p9"])


def tableau_rank(graph, seed):
    """Whether the equations of all edges, six each, have one solution, and how many rates the inertias must give:
    bodies are rigid, with their terminals anywhere. Unknown are x of the nodes and y of all edges but the through
    drivers; Kirchhoff's law at the nodes, x given by drivers, x_p = K_p^T x_f, sum K_p y_p = 0, y = P x'."""
    random = np.random.default_rng(seed)
    own = [edge for edge in graph.edges if edge.kind is not EdgeKind.THROUGH]
    place = {name: 6 * k for k, name in enumerate([*graph.nodes, *[("y", edge.name) for edge in own]])}
    rows = []

    def row(*entries):
        block = np.zeros((6, 6 * len(place)))
        for name, matrix in entries:
            if name != "O":
                block[:, place[name]:place[name] + 6] += matrix
        rows.append(block)

    E = np.eye(6)
    for node in graph.nodes:
        row(*[(("y", edge.name), E if edge.tail == node else -E) for edge in own if node in (edge.tail, edge.head)])
    for edge in graph.of_kind(EdgeKind.ACROSS):
        row((edge.tail, E), (edge.head, -E))
    for body in {edge.body for edge in graph.of_kind(EdgeKind.TERMINAL)}:
        first, *rest = [edge for edge in graph.of_kind(EdgeKind.TERMINAL) if edge.body == body]
        K = {edge.name: port_matrix(random.normal(size=3)) for edge in rest}
        for edge in rest:
            row((edge.tail, E), (first.tail, -K[edge.name].T))
        row((("y", first.name), E), *[(("y", edge.name), K[edge.name]) for edge in rest])
    given = len(rows)
    for edge in graph.of_kind(EdgeKind.ACTIVE):
        half = random.normal(size=(6, 6))
        row((("y", edge.name), E), (edge.tail, -(half @ half.T + E)))
    x = slice(0, 6 * len(graph.nodes))
    free = x.stop - np.linalg.matrix_rank(np.concatenate(rows[:given])[:, x], tol=1e-9)
    whole = np.concatenate(rows)
    assert whole.shape[0] == whole.shape[1]
    return np.linalg.matrix_rank(whole, tol=1e-9) == len(whole), free


@pytest.mark.spec("S4-10", "S4-31", "S4-35")
@pytest.mark.parametrize("seed", range(60))
def test_rigid_bodies_in_any_graph_are_solvable_as_their_tableau_is(seed):
    """Bodies joined at random, also among themselves and more than once, with and without inertia of their own."""
    random = np.random.default_rng(seed)
    bodies = [RigidBody(f"r{k}", 1.0, np.eye(3), {"A": [1, 0, 0], "B": [0, 0, 0]})
              for k in range(random.integers(1, 5))]
    ends = ["O.o", *[f"{body.name}.{port}" for body in bodies for port in "AB"]]
    ways = [("O.o", "r0.A"), *[(f"r{random.integers(k)}.A", f"r{k}.B") for k in range(1, len(bodies))]]
    ways += [tuple(random.choice(ends, 2, replace=False)) for _ in range(random.integers(1, 6))]
    pins = [Connection(f"p{k}", str(a), str(b), Revolute()) for k, (a, b) in enumerate(ways)
            if a.split(".")[0] != b.split(".")[0]]
    network = Network("any", bodies, pins, reference={"o": [0, 0, 0]})
    names = [*[pin.name for pin in pins], *[f"at {body.name}.G" for body in bodies]]
    for _ in range(6):
        among = names if random.random() < 0.5 else names[1:len(pins)]  # or no motion against the reference
        graph = network.graph(list(random.permutation(among)[:random.integers(len(bodies) + 2)]))
        if random.random() < 0.5:
            graph = SystemGraph(tuple(edge for edge in graph.edges if edge.kind is not EdgeKind.ACTIVE))
        found = formulation(graph)
        solvable, free = tableau_rank(graph, seed)
        assert found.solvable == solvable, found.why
        assert not solvable or 6 * len(found.states) == free


@pytest.mark.spec("S4-10", "S4-31")
def test_motions_that_go_round_rigid_bodies_are_named():
    """Two bodies pinned twice, and rings of three and four: what is given round them says one motion twice."""
    for m in (2, 3, 4):
        bodies = [RigidBody(f"r{k}", 1.0, np.eye(3), {"A": [0.2, 0, 0], "B": [-0.2, 0, 0]}) for k in range(m)]
        ring = [Connection(f"p{k}", f"r{k}.A", f"r{(k + 1) % m}.B", Revolute()) for k in range(m)]
        network = Network("ring", bodies, [Connection("base", "O.o", "r0.G", Revolute()), *ring],
                          reference={"o": [0, 0, 0]})
        round_it = [f"p{k}" for k in range(m)]
        found = formulation(network.graph(round_it))
        assert not found.solvable and "close a circuit through bodies, which are rigid" in found.why
        assert all(repr(name) in found.why for name in round_it) and "base" not in found.why
        assert formulation(network.graph([*round_it[1:], "base"])).verdict == "algebraic"
        assert len(formulation(network.graph(round_it[1:])).states) == 1


def test_thirty_bodies():
    across = [str(j + 1) for j in range(30)]
    found = formulation(chain_graph(30, across))
    assert found.verdict == "algebraic" and set(found.forms.values()) == {f"b{j + 1}" for j in range(30)}
