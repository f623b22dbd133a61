"""Tables of the parts of a mechanism, and warnings about it in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from operator import eq
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import ModelWarning as ModelWarning
from cayley.errors import printable
from cayley.model.coordinate_labels import velocity_labels
from cayley.model.findings import Remark, grouped
from cayley.model.masses import IDLE, gravity_is_idle, rigid_groups, unknown_masses
from cayley.model.motors import ELASTIC, GEARED, REDUCED
from cayley.model.parts import Body, Frame, Joint
from cayley.model.physical_bodies import impossibilities
from cayley.model.rotor import Rotor
from cayley.model.spring_kinds import SpringKind
from cayley.model.tree import Tree
from cayley.showing import html_table
from cayley.tabulated import Tabulated, plain

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table as RichTable

_ROUNDING = 1e-7  # beside the largest number of a row
_JOINT_UNITS = {"lower": ("rad", "m"), "upper": ("rad", "m"), "velocity": ("rad/s", "m/s"), "effort": ("N m", "N"),
                # revolute, prismatic
                "viscous": ("N m s/rad", "N s/m"), "coulomb": ("N m", "N"), "armature": ("kg m^2", "kg")}
SMALLEST_MASS = 1e-4  # [kg], of a part of a robot
LARGEST_MASS = 1e4
LARGEST_GYRATION = 10.0  # [m]
WATER = 1e3  # [kg/m^3]
LEAD = 11340.0
CLEARLY = 0.5  # of the radius of gyration of a ball of lead: eight times as dense
FAST = 45.0, 720.0  # whole numbers between them are seldom limits of velocity in rad/s, and often in degrees/s
MOTORS = (ELASTIC, REDUCED, GEARED)  # what makes rotors parts of the mechanism
MOST_NAMED = 8  # joints in a sentence
UNEQUAL = 2.0  # how many times the one constant of a motor may be the other
_NOTHING = ("", "unknown")
_ROUNDED = 0.01  # [rad], of numbers with two or three figures


@dataclass(frozen=True, repr=False)
class TextTable(Tabulated):
    """Rows of words under headings."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def to_columns(self) -> dict[str, Array]:
        """The columns by their headings. Columns of numbers are as precise as printed, with NaN for unknown entries."""
        return {name or "number": _typed([row[k] for row in self.rows]) for k, name in enumerate(self.columns)}

    def to_dict(self) -> dict[str, Any]:
        """The title, and the rows by their headings, as plain numbers and words."""
        columns = {name: plain(column) for name, column in self.to_columns().items()}
        return {"title": self.title, "rows": [dict(zip(columns, row, strict=True))
                                              for row in zip(*columns.values(), strict=True)]}

    def __str__(self) -> str:
        widths = [max(map(len, column)) for column in zip(self.columns, *self.rows, strict=True)]
        lines = ("  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True))
                 for row in (self.columns, *self.rows))
        return "\n".join([self.title, *(f"  {line.rstrip()}" for line in lines)])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_table(self.title, self.columns, self.rows)

    def __rich__(self) -> RichTable:
        from rich.table import Table as RichTable
        from rich.text import Text
        table = RichTable(title=Text(self.title), title_justify="left")
        for column in self.columns:
            table.add_column(Text(column))
        for row in self.rows:
            table.add_row(*map(Text, row))
        return table


def _typed(words: Sequence[str]) -> Array:
    """Entries of a column as numbers, if all known entries are numbers."""
    if all(word in _NOTHING for word in words):
        return np.array(words, dtype=object)
    if all(word.isdecimal() for word in words):
        return np.array(words, dtype=int)
    try:
        return np.array([np.nan if word in _NOTHING else float(word) for word in words])
    except ValueError:
        return np.array(words, dtype=object)


@dataclass(frozen=True, repr=False)
class Report:
    """The tables of a mechanism and the warnings about it. Prints as plain text, and as tables on a Rich console."""

    heading: str
    bodies: TextTable
    joints: TextTable
    frames: TextTable
    loops: TextTable
    drives: TextTable
    motors: TextTable
    warnings: tuple[Remark, ...]
    facts: tuple[Remark, ...] = ()  # what is worth knowing and not doubtful

    @property
    def tables(self) -> tuple[TextTable, ...]:
        """Tables that are not empty."""
        return tuple(table for table in (self.bodies, self.joints, self.drives, self.motors, self.frames,
                                           self.loops) if table.rows)

    def to_dict(self) -> dict[str, Any]:
        """The tables by title, warnings and notes, as plain numbers and words. A table by itself is a frame of pandas:
        `report.joints.to_dataframe()`."""
        return {"heading": self.heading, **{table.title.lower(): table.to_dict()["rows"] for table in self.tables},
                "warnings": plain(self.warnings), "notes": plain(self.facts)}

    def about(self, what: str) -> tuple[str, ...]:
        """The names that the findings of one kind concern: `report.about("mass missing")`."""
        return tuple(name for finding in (*self.warnings, *self.facts) if finding.about == what
                     for name in finding.names)

    def __str__(self) -> str:
        warnings = [f"  {finding}" for finding in self.warnings] or ["  none"]
        facts = ["\n".join(["Notes", *[f"  {finding}" for finding in self.facts]])] if self.facts else []
        return "\n\n".join([self.heading, *map(str, self.tables), "\n".join(["Warnings", *warnings]), *facts])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        warnings = "".join(f"<li>{escape(str(finding))}</li>" for finding in (*self.warnings, *self.facts))
        tables = "".join(table._repr_html_() for table in self.tables)
        return f"<p>{escape(self.heading)}</p>{tables}<ul>{warnings}</ul>"

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.text import Text
        warnings = [Text(f"! {finding}", style="yellow")
                    for finding in self.warnings] or [Text("no warnings", style="green")]
        facts = [Text(str(finding), style="dim") for finding in self.facts]
        return Group(Text(self.heading, style="bold"), *self.tables, *warnings, *facts)


def report(tree: Tree, mobility: int | str | None = None, actuation: str | None = None) -> Report:
    """Tables of the bodies, joints, frames and loops of a mechanism, and warnings: inertias that no body can have,
    masses that are missing, very small or very large, limits that are missing or seem to be in degrees, mimic joints,
    unused frames. Its `facts` are notes, not warnings: friction that is not in the dynamics, a fixed base.

    The `mobility` of a mechanism with constraints is computed elsewhere: a number, or why there is none. So is its
    `actuation`, in words.

    >>> from cayley.model.joint_kinds import Revolute
    >>> pivot = Joint("pivot", "base", "rod", Revolute((0.0, 1.0, 0.0)))
    >>> print(report(Tree.of("rod", [Body("base"), Body("rod")], [pivot])))
    rod: 2 bodies, 1 joint, nq = 1, nv = 1, total mass 0 kg, gravity 0 0 -9.81 m/s^2
    <BLANKLINE>
    Bodies
         name  mass [kg]  centre [m]  principal moments [kg m^2]
      0  base  unknown
      1  rod   unknown
    <BLANKLINE>
    Joints
         name                                                          kind
         parent -> child                                               axis
         q  lower [rad]  upper [rad]  velocity [rad/s]  effort [N m]   ...  mimics
      0  pivot  revolute  base -> rod      0 1 0  0  -inf         inf          inf               inf           ...
    <BLANKLINE>
    Warnings
      the mass of 'rod' is missing: dynamics will raise an error
      joint 'pivot' has no limits
    """
    mass = sum(body.mass or 0.0 for body in tree.bodies)
    source = f" ({printable(tree.source)})" if tree.source else ""
    sizes = tree.sizes
    if isinstance(mobility, int):
        sizes += f", mobility {mobility}"
    if actuation is not None or tree.actuated is not None:
        sizes += ", " + (actuation or f"actuated: {', '.join(tree.actuated_joints) or 'no joint'}")
    heading = f"{tree.name}{source}: {sizes}, total mass {mass:.6g} kg, gravity {_words(tree.gravity)} m/s^2"
    open_loops = ([Remark("loops open", tuple(loop.name for loop in tree.loops), mobility)]
                  if isinstance(mobility, str) else [])
    read = [note if isinstance(note, Remark) else Remark("reading", (), note) for note in tree.notes]
    findings = [*open_loops, *_findings(tree), *read]
    return Report(heading, _bodies(tree), _joints(tree), _frames(tree), _loops(tree), _drives(tree), _motors(tree),
                  tuple(finding for finding in findings if finding.doubtful),
                  tuple(finding for finding in findings if not finding.doubtful))


# Tables


def _bodies(tree: Tree) -> TextTable:
    rows = tuple((str(k), body.name, *_mass_words(body)) for k, body in enumerate(tree.bodies))
    return TextTable("Bodies", ("", "name", "mass [kg]", "centre [m]", "principal moments [kg m^2]"), rows)


def _mass_words(body: Body) -> tuple[str, str, str]:
    if body.mass is None:
        return "unknown", "", ""
    return f"{body.mass:.6g}", _words(body.center), _words(np.linalg.eigvalsh(body.inertia))


def _joints(tree: Tree) -> TextTable:
    found = {unit for _, unit in velocity_labels(tree)}
    units = [
        " or ".join(word for word, kind in zip(words, ("rad", "m"), strict=True) if kind in found)
        for words in _JOINT_UNITS.values()]
    columns = ("", "name", "kind", "parent -> child", "axis", "q",
               *(f"{word} [{unit}]" if unit else word
                 for word, unit in zip(_JOINT_UNITS, units, strict=True)), "mimics")
    rows = tuple(
        _joint_row(k, joint, place) for k, (joint, place) in enumerate(zip(tree.joints, tree.q_slices, strict=True)))
    return TextTable("Joints", columns, rows)


def _joint_row(number: int, joint: Joint, place: slice) -> tuple[str, ...]:
    limits = joint.limits
    last = place.stop - 1
    where = "" if joint.motion.nq == 0 else str(last) if joint.motion.nq == 1 else f"{place.start}..{last}"
    moving = [
        f"{x:.4g}" if joint.motion.nv else ""
        for x in (joint.friction.viscous, joint.friction.coulomb, joint.rotor.reflected)]
    follows = ("" if joint.mimic is None
               else f"{joint.mimic.multiplier:.6g} {joint.mimic.joint} {joint.mimic.offset:+.6g}")
    bounds = [_words(bound) if np.isfinite(bound).any() or len(bound) == 1 else ""
              for bound in (limits.lower, limits.upper, limits.velocity, limits.effort)]
    return (str(number), joint.name, joint.motion.word, f"{joint.parent} -> {joint.child}",
            _words(joint.motion.keys.get("axis", ())), where, *bounds, *moving, follows)


def _drives(tree: Tree) -> TextTable:
    """The drives that are elastic, or whose rotors are known as bodies."""
    rows = tuple(_drive_row(joint) for joint in tree.joints if joint.spring is not None or joint.rotor.is_body)
    columns = ("joint", "gear", "rotor [kg m^2]", "mass [kg]", "carried by", "spring")
    return TextTable("Drives", columns, rows)


def _drive_row(joint: Joint) -> tuple[str, ...]:
    rotor = joint.rotor
    spring = "rigid" if joint.spring is None else ", ".join(
        [joint.spring.word, *[f"{key} {value if isinstance(value, str) else format(value, '.6g')}"
                              for key, value in _spring_numbers(joint.spring).items()]])
    return (joint.name, f"{rotor.gear:.6g}", f"{rotor.inertia:.6g}",
            "unknown" if rotor.mass is None else f"{rotor.mass:.6g}", rotor.carrier or joint.parent, spring)


def _motors(tree: Tree) -> TextTable:
    """The windings of motors, as their data sheets say them, and how fast the current and the free rotor follow."""
    rows = tuple((joint.name, f"{joint.rotor.gear:.6g}", f"{joint.rotor.inertia:.6g}", *_winding_words(joint.rotor))
                 for joint in tree.joints if joint.rotor.winding is not None)
    return TextTable("Motors", ("joint", "gear", "rotor [kg m^2]", "resistance [ohm]", "torque constant [N m/A]",
                            "back-emf [V s/rad]", "inductance [H]", "electrical [s]", "mechanical [s]"), rows)


def _winding_words(rotor: Rotor) -> tuple[str, ...]:
    winding = rotor.winding
    assert winding is not None
    drag = winding.torque_constant * winding.induced
    times = winding.inductance / winding.resistance, rotor.inertia * winding.resistance / drag if drag else np.inf
    return tuple(f"{x:.6g}" for x in (winding.resistance, winding.torque_constant, winding.induced, winding.inductance,
                                      *times))


def _spring_numbers(spring: SpringKind) -> dict[str, Any]:
    """Fields of a spring; Python functions are shown by their names."""
    return {key: getattr(value, "__name__", "a function") if callable(value) else value
            for key, value in spring.said.items()}


def _frames(tree: Tree) -> TextTable:
    rows = tuple((frame.name, frame.body, _words(np.asarray(frame.pose)[:3, 3])) for frame in tree.frames)
    return TextTable("Frames", ("name", "body", "origin [m]"), rows)


def _loops(tree: Tree) -> TextTable:
    return TextTable("Constraints" if tree.constraints else "Loops", ("name", "kind", "between"),
                 (*[(x.name, x.motion.word, f"{x.first}, {x.second}") for x in tree.loops],
                  *[(x.name, x.word, ", ".join(x.frames or x.coordinates)) for x in tree.constraints]))


def _words(values: Iterable[float]) -> str:
    """Numbers in words, without what rounding leaves of zeros, here or in the program that wrote a file."""
    given = np.asarray(tuple(values), dtype=float)
    least = _ROUNDING * np.abs(given[np.isfinite(given)]).max(initial=0.0)
    return " ".join(f"{value + 0.0 if abs(value) > least else 0.0:.4g}" for value in given)


# Warnings


def _findings(tree: Tree) -> Iterator[Remark]:
    yield from _mass_findings(tree)
    yield from _density_findings(tree)
    for body in tree.bodies:
        yield from _body_findings(body)
    for joint in tree.joints:
        if _in_degrees(joint):
            ends = " to ".join(f"{x:g}" for x in (*joint.limits.lower, *joint.limits.upper))
            yield Remark("limits in degrees", (joint.name,), f"joint {joint.name!r} is revolute and turns from {ends} "
                          "rad: if these are degrees, write radians")
    for about, has, sentence in _OF_JOINTS:
        yield from grouped(about, [joint.name for joint in tree.joints if has(joint)], sentence)
    yield from grouped("loops", [loop.name for loop in tree.loops], "loop[|s] @ couple[s|] joints. Functions that "
                       "cannot handle loops will raise an error")
    yield from grouped("constraints", [each.name for each in tree.constraints], "constraint[|s] @ couple[s|] "
                       "joints. Functions that cannot handle [it|them] will raise an error")
    yield from _motor_findings(tree)
    yield from _mimic_findings(tree)
    yield from _frame_findings(tree)
    yield from _left_out(tree)
    yield from _stands_still(tree)
    if gravity_is_idle(tree):
        yield Remark("gravity idle", (), f"gravity acts on no joint: {IDLE}", doubtful=False)


def friction_left_out(tree: Tree) -> tuple[str, ...]:
    """The joints whose friction or damping is known and not in the dynamics."""
    return () if "friction" in tree.included else tuple(
        joint.name for joint in tree.joints if joint.motion.nv and (joint.friction.viscous or joint.friction.coulomb))


def _left_out(tree: Tree) -> Iterator[Remark]:
    """Friction and rotor inertias that are known but not included in the dynamics."""
    has_rotors = {"armature", *MOTORS} & tree.included
    rotors = () if has_rotors else tuple(joint.name for joint in tree.joints if joint.rotor.reflected)
    for term, what, names in (("friction", "friction and damping", friction_left_out(tree)),
                              ("armature", "inertias of the rotors", rotors)):
        if names:
            yield Remark(f"{term} left out", names, f"the {what} of {joints_in_words(names)} are not included in "
                          f'dynamics and simulation: `arm.including("{term}")` includes them', doubtful=False)


def joints_in_words(names: Sequence[str]) -> str:
    """Names of joints in a phrase, shortened if there are many."""
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"joint{'s' if len(names) > 1 else ''} {', '.join(map(repr, names[:MOST_NAMED]))}{more}"


def _stands_still(tree: Tree) -> Iterator[Remark]:
    """Note on a fixed root with a mass and several limbs, which may be a robot that walks or flies."""
    root = set(rigid_groups(tree)[0])
    limbs = [joint for joint, parent in zip(tree.joints, tree.parents, strict=True)
             if parent in root and joint.motion.nv and joint.mimic is None]
    mass = any(tree.bodies[k].mass for k in root)
    if len(limbs) > 1 and mass and not tree.loops and not any(joint.motion.free for joint in limbs):
        name = tree.bodies[0].name
        yield Remark("fixed base", (name,), f"the root {name!r} has a mass, carries {len(limbs)} limbs and is "
                      "fixed: load a robot that walks or flies with floating_base=True", doubtful=False)


def _motor_findings(tree: Tree) -> Iterator[Remark]:
    """Warnings on torque and back-emf constants that differ: in SI units they are equal."""
    for joint in tree.joints:
        winding = joint.rotor.winding
        if winding is None or not winding.induced:
            continue
        if not 1 / UNEQUAL <= winding.induced / winding.torque_constant <= UNEQUAL:
            yield Remark("motor constants doubtful", (joint.name,),
                          f"the motor of joint {joint.name!r} has a back-emf of {winding.induced:.6g} V s/rad and a "
                          f"torque constant of {winding.torque_constant:.6g} N m/A, which are about equal in these "
                          "units: check the units of both, for example V/krpm or mN m/A")


def _mass_findings(tree: Tree) -> Iterator[Remark]:
    groups = rigid_groups(tree)
    bodies = tree.bodies
    yield from grouped("mass missing", [bodies[k].name for k in unknown_masses(tree)],
                       "the mass[|es] of @ [is|are] missing: dynamics will raise an error")
    known = [group for group in groups[1:] if any(bodies[k].mass is not None for k in group)]
    yield from grouped("only a frame", [bodies[k].name for group in known for k in group if bodies[k].mass is None],
                       "[body|bodies] @ [has|have] no mass: [it counts as a frame|they count as frames] of the "
                       "[body that it is|bodies that they are] fixed to")
    carrying = {parent for joint, parent in zip(tree.joints, tree.parents, strict=True) if joint.motion.nv}
    spinning = {motor + 1 for motor in tree.motors.values() if tree.joints[motor].rotor.inertia}
    tips = [group for group in known if not (carrying | spinning) & set(group)
            and not any(bodies[k].mass for k in group)]
    yield from grouped("massless tip", [bodies[group[0]].name for group in tips],
                       "[body @ moves, has|bodies @ move, have] no mass and [carries|carry] none: the inertia matrix "
                       "will be singular")


def _density_findings(tree: Tree) -> Iterator[Remark]:
    """Warnings on masses that may be in grams: bodies denser than lead, or a robot heavier than a block of water."""
    heavy = [body for body in tree.bodies if body.mass]
    dense = [body.name for body in heavy if body.inertia.any() and (body.mass or 0.0) <= LARGEST_MASS
             and _gyration(body) < CLEARLY * _gyration_of_lead(body.mass or 0.0)]
    total = sum(body.mass or 0.0 for body in heavy)
    length = _length(tree)
    if length and total > WATER * length**3:
        yield Remark("masses in grams", tuple(body.name for body in heavy),
                      f"the robot is {length:.3g} m long and has a mass of {total:.4g} kg, more than a block of water "
                      "of that length: if masses are in grams, write kg; if lengths are not in metres, write metres")
    elif len(dense) > len(heavy) / 2:
        yield Remark("masses in grams", tuple(dense),
                      f"bodies {', '.join(map(repr, dense))} are denser than lead, by their moments of inertia: if "
                      "masses are in grams, write kg; if moments are not in kg m^2, write these")
    else:
        yield from grouped("denser than lead", dense, "[body @ is|bodies @ are] denser than lead: [its|their] moments "
                           "of inertia are too small for [its mass|their masses]")


def _gyration(body: Body) -> float:
    """The radius of gyration about the principal axis of the largest moment [m]."""
    with np.errstate(over="ignore"):  # of a mass that is next to nothing
        return float(np.sqrt(max(np.linalg.eigvalsh(body.inertia)[2], 0.0) / (body.mass or np.inf)))


def _gyration_of_lead(mass: float) -> float:
    """Radius of gyration [m] of a ball of lead of this mass."""
    return float(np.sqrt(0.4) * np.cbrt(3 * mass / (4 * np.pi * LEAD)))


def _length(tree: Tree) -> float:
    """Approximate length [m] along the joints to the end of the farthest body."""
    along = [0.0]
    for joint, parent in zip(tree.joints, tree.parents, strict=True):
        along.append(along[parent] + float(np.linalg.norm(np.asarray(joint.placement)[:3, 3])))
    return max(there + float(np.linalg.norm(body.center)) + 3 * _gyration(body)
               for there, body in zip(along, tree.bodies, strict=True))


def _body_findings(body: Body) -> Iterator[Remark]:
    found = [("inertia not physical", violation) for violation in impossibilities(body)]
    if body.mass and not SMALLEST_MASS <= body.mass <= LARGEST_MASS:
        size = "small" if body.mass < SMALLEST_MASS else "large"
        found.append(("mass doubtful", f"the mass is very {size}: {body.mass:.3g} kg"))
    if body.mass and (gyration := _gyration(body)) > LARGEST_GYRATION:
        found.append(("inertia doubtful",
                      f"the radius of gyration is {gyration:.3g} m; moments of inertia are in kg m^2"))
    yield from (Remark(about, (body.name,), f"body {body.name!r}: {sentence}") for about, sentence in found)


def _unlimited(joint: Joint) -> bool:
    """True for a joint of one coordinate without limits, unless it turns endlessly or mimics another."""
    one_way = joint.motion.nq == 1 and not joint.motion.endless and joint.mimic is None
    return one_way and not np.isfinite([*joint.limits.lower, *joint.limits.upper]).all()


def _in_degrees(joint: Joint) -> bool:
    """True for limits beyond two turns, or whole numbers beyond one: 90 and 180 are degrees, 6.98 may be a wrist."""
    ends = [abs(x) for x in (*joint.limits.lower, *joint.limits.upper) if np.isfinite(x)]
    turns = joint.motion.wraps == (True,) and not joint.motion.endless
    return turns and any(x > 4 * np.pi + _ROUNDED or (x > 2 * np.pi + _ROUNDED and x == round(x)) for x in ends)


def _fast_in_degrees(joint: Joint) -> bool:
    turns = joint.motion.wraps == (True,) and not joint.motion.endless
    return turns and any(FAST[0] <= x <= FAST[1] and x == round(x) for x in joint.limits.velocity)


_OF_JOINTS: tuple[tuple[str, Callable[[Joint], bool], str], ...] = (
    ("limits missing", _unlimited, "joint[|s] @ [has|have] no limits"),
    ("velocity in degrees", _fast_in_degrees, "joint[|s] @ [is|are] revolute and may turn by tens of turns a second: "
     "if [its velocity limit is|their velocity limits are] in degrees/s, write rad/s"),
    ("cannot move", lambda joint: any(map(eq, joint.limits.lower, joint.limits.upper)),
     "joint[|s] @ cannot move: [its|their] limits are equal"),
    ("limits doubtful", lambda joint: min([*joint.limits.velocity, *joint.limits.effort, 1.0]) <= 0,
     "joint[|s] @ [has a velocity or effort limit that is|have velocity or effort limits that are] not positive"),
    ("friction negative", lambda joint: min(joint.friction.viscous, joint.friction.coulomb) < 0,
     "joint[|s] @ [has|have] a negative friction"))


def _mimic_findings(tree: Tree) -> Iterator[Remark]:
    followers = {joint.name: joint.mimic for joint in tree.joints if joint.mimic is not None}
    yield from grouped("mimic", list(followers), "joint[|s] @ [mimics another joint and has a coordinate of its|mimic "
                       "other joints and have coordinates of their] own, which `with_mimic_joints(q)` sets. Functions "
                       "for independent joints alone will raise an error")
    chained = [name for name, mimic in followers.items() if mimic.joint in followers]
    yield from grouped("mimic chain", chained, "joint[|s] @ [follows a joint that itself follows another|follow joints "
                       "that themselves follow others]")


def _frame_findings(tree: Tree) -> Iterator[Remark]:
    used = {name for constraint in (*tree.loops, *tree.constraints) for name in constraint.frames}
    names = {body.name for body in tree.bodies}
    yield from grouped("frame hides body", [f.name for f in tree.frames if f.name in names and not _at_origin(f)],
                       "frame[|s] @ [has the name of a body: the name means|have names of bodies: the names mean] the "
                       "frame[|s]")
    own = {"world": "the root", "body": "the frame itself"}
    for name in sorted(own.keys() & {*(b.name for b in tree.bodies[1:]), *(f.name for f in tree.frames)}, reverse=True):
        yield Remark("name of axes", (name,), f"there is a frame {name!r}: it cannot be named as axes, since "
                      f"axes={name!r} are those of {own[name]}")
    yield from grouped("frame unused", [f.name for f in tree.frames if f.name not in used and _at_origin(f)],
                       "frame[|s] @ [is unused: it is the frame of its body|are unused: they are the frames of their "
                       "bodies]")


def _at_origin(frame: Frame) -> bool:
    pose: Any = frame.pose
    return bool(np.array_equal(pose, np.eye(4)))
