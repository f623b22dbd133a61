"""`write_report`: a mechanism on one self-contained page, for any browser, without a network.

The robot in 3-D with sliders and a motion, its tables, workspace and manipulability, equations of motion, operation
counts beside the published tables, and times. A mechanism without masses has its kinematic half. A sentence replaces
each section that does not apply, and says why."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

import cayley
from cayley.compiler.typing import Array, ArrayLike
from cayley.control.law_trial import Trial
from cayley.drawing.contact_arrows import arrow_ends, rims, touching_spots
from cayley.drawing.played import MotionLike, played
from cayley.drawing.skeleton import skeleton
from cayley.drawing.workspaces import Workspace
from cayley.errors import CayleyError, UnreachableError
from cayley.mechanism import Mechanism, load
from cayley.model.masses import check_has_masses
from cayley.model.tree import Tree
from cayley.progress import working
from cayley.showing import ReportPage
from cayley.studio import counts_section as counts
from cayley.studio.equation_section import equation_section
from cayley.studio.motion_sections import control_sections, motion_section, trial_facts
from cayley.studio.opening_motion import OpeningMotion, demonstration, floating, held, opening_motion
from cayley.studio.pictures import (
    ForcePlot,
    dh_words,
    html_table,
    informative,
    listed,
    manipulability_picture,
    payload_section,
    reachable,
    workspace_picture,
)
from cayley.studio.queries import Asked
from cayley.studio.scene import embedded, main_frame, scene_parts
from cayley.systems import System

_REACH = 1500  # points of the workspace in the 3-D view
_DIGITS = 6  # of coordinates in the motion
STEP = 0.02  # s between configurations of a motion; the page goes on evenly between them
_SCRIPTS = ("raster.js", "solids.js", "viewer.js", "loops.js")
_SPEEDS = {1.0: "1×", 0.5: "½×", 0.25: "¼×"}


def write_report(arm_or_name: Mechanism | str | os.PathLike[str], path: str | os.PathLike[str], *,
                 motion: MotionLike | None = None, payload: float = 0.0, frame: str | None = None,
                 effort: ArrayLike | None = None, law: System | Trial | None = None,
                 settings: Mapping[str, str] | None = None, progress: bool = False) -> Path:
    """Write the page of a mechanism, of a robot of the catalogue or of a file, and return where it is.
    `arm.report(...)` is the same page in Python.

    path      the file, or a folder in which it is to be `<name>.html`
    motion    a planned one, the run of a simulation, or a pair (times, configurations): drawn, with the joint forces
              that it needs beside their limits, and played in place of a move from
              the ready pose and back
    payload   the mass of a point load [kg] at the origin of `frame`, the end of the mechanism unless another is named
    effort    the greatest forces of the drives, one number or (nv), instead of those of the model
    law       a controller with the output `tau`, such as `arm.control.computed_torque(100, 20)`: tried along the
              motion, or on a step, on the mechanism with its load; or a `Trial` of one, whose `settings` are listed
    progress  shows the current step on the terminal

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_report("scara", folder)
    ...     page.name, "<canvas" in page.read_text(encoding="utf-8")
    ('scara.html', True)
    """
    arm = arm_or_name if isinstance(arm_or_name, Mechanism) else load(arm_or_name)
    place = page_place(Path(path), arm.name)
    place.write_text(_made(Page(arm, Asked(motion, payload, frame, effort, law, settings)), progress), encoding="utf-8")
    return place


def write_control_page(arm: Mechanism, trial: Trial, path: str | os.PathLike[str], *,
                       settings: Mapping[str, str] | None = None) -> Path:
    """Write the page of the trial of a controller and return its path: step response, tracking of a motion, joint
    forces beside their limits, and stability of the loop. `path` is the file, or a folder in which it is to be
    `<name>.html`. `settings` of the controller are listed."""
    place = page_place(Path(path), f"{arm.name}_control")
    times, way = played(arm.tree, (trial.tracking.t, trial.tracking["q"]), STEP)
    parts = {"source": source_html(arm), **scene_parts(arm.tree, way=way), "motion": embedded(motion_data(times, way)),
             "reach": "", "player": player(), "facts": facts_html(trial_facts(trial)),
             **sections_html(control_sections(trial, settings))}
    place.write_text(page_html(f"{arm.name}, {trial.law.name}", parts), encoding="utf-8")
    return place


def report(arm: Mechanism, *, motion: MotionLike | None = None, payload: float = 0.0, frame: str | None = None,
           effort: ArrayLike | None = None, law: System | Trial | None = None) -> ReportPage:
    """Report page that a notebook shows and `save` writes; it is computed when first shown."""
    page = Page(arm, Asked(motion, payload, frame, effort, law))
    return ReportPage(arm.name, lambda: _made(page, progress=True), page.summary)


def _made(page: Page, progress: bool) -> str:
    with working(shown=progress) as say:
        for title, make in page.steps:
            say(f"{page.arm.name}: {title}")
            make()
    return page.html()


def page_place(path: Path, name: str) -> Path:
    """The file to write, checked before any work is done."""
    if path.is_dir():
        path = path / f"{''.join(letter if letter.isalnum() or letter in '-_.' else '_' for letter in name)}.html"
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder {path.parent} does not exist: create it, or write the report elsewhere")
    return path


def motion_data(times: Array, way: Array) -> dict[str, Any]:
    """Configurations (k, nq) at even times (k) as data for the page."""
    return {"step": float(times[1] - times[0]), "q": np.round(way, _DIGITS).tolist()}


def contact_data(tree: Tree, way: Array, forces: Array | None) -> dict[str, Any]:
    """Lines of contact forces (k, c, 3) at configurations (k, nq) as data for the page: for each of these a list of
    arrows, two points each, and of the rims of cones. The largest force of all has the longest arrow."""
    if forces is None or not forces.any():
        return {}
    size = skeleton(tree, way[0]).size
    spots = [touching_spots(tree, q, each) for q, each in zip(way, forces, strict=True)]
    largest = float(np.linalg.norm(forces, axis=-1).max())
    lines = []
    for some in spots:
        arrows = [[spot.point, end] for spot, end in zip(some, arrow_ends(some, size, largest), strict=True)]
        cones = [[*rim, rim[0], spot.point, rim[8]] for spot, rim in zip(some, rims(some, size), strict=True)]
        lines.append({"arrows": np.round(arrows, _DIGITS).tolist(), "cones": np.round(cones, _DIGITS).tolist()})
    return {"contacts": lines}


def sections_html(sections: Sequence[tuple[str, str, str]]) -> dict[str, str]:
    """Links to sections, each a place, a title and a text, and the sections."""
    return {"links": "".join(f'<a href="#{place}">{title}</a>' for place, title, _ in sections),
            "sections": "".join(f'<section id="{place}"><h2>{title}</h2>{body}</section>'
                                for place, title, body in sections)}


def source_html(arm: Mechanism) -> str:
    return escape(f"Source of the model: {Path(arm.tree.source).name}. ") if arm.tree.source else ""


@dataclass
class Page:
    """The page while it is made, step by step."""

    arm: Mechanism
    asked: Asked = field(default_factory=Asked)
    sections: list[tuple[str, str, str]] = field(default_factory=list)
    facts: list[tuple[str, str]] = field(default_factory=list)
    reach: Array | None = None
    motion: OpeningMotion | None = None
    motion_note: str = ""
    way: Array | None = None
    played: dict[str, Any] | None = None
    space: Workspace | None = None
    trial: Trial | None = None

    def __post_init__(self) -> None:
        self.frame = self.asked.frame or main_frame(self.arm.tree)
        self.arm.tree.frame(self.frame)
        self.arm = self.asked.loaded(self.arm, self.frame)
        self.planned = self.asked.planned(self.arm)
        self.summary = self.arm.summary()
        self.closed = self.arm.tree.is_constrained
        try:
            check_has_masses(self.arm.tree)
            self.without_dynamics = ""
        except CayleyError as why:
            self.without_dynamics = str(why)
        mass = sum(body.mass or 0.0 for body in self.arm.bodies)
        driven = len(self.arm.tree.actuated_joints)
        self.facts += [("actuated joints", str(driven)), ("degrees of freedom", self._degrees_of_freedom()),
                       ("total mass", f"{mass:.4g} kg" if mass else "none"), *self.asked.words(self.frame)]

    def _degrees_of_freedom(self) -> str:
        return str(self.arm.loops.mobility) if self._closes() else "none, the loops cannot be closed"

    @property
    def steps(self) -> list[tuple[str, Callable[[], None]]]:
        kinematic: list[tuple[str, Callable[[], None]]] = [("tables", self._tables), ("workspace", self._workspace)]
        moving = [("motion", self._motion)] if self.planned is not None else []
        moving += [("controller", self._law)] if self.asked.law is not None else []
        if not self.arm.nv:
            return [*kinematic, *moving]
        if self.without_dynamics:
            return [*kinematic, *(moving or [("demonstration", self._demonstration)])]
        costs = ("operations", self._closed_costs if self.closed else self._counts)
        return [*kinematic, ("payload", self._payload), *(moving or [("motion", self._opening)]),
                ("equations", self._equations), costs]

    def _tables(self) -> None:
        tables = [self._denavit_hartenberg(), *[html_table(informative(table)) for table in self.summary.tables]]
        warnings = [str(finding) for finding in self.summary.warnings]
        doubts = (f"<details><summary>Warnings ({len(warnings)})</summary>{listed(warnings)}</details>" if warnings
                  else "")
        loops = counts.mobility_section(self.arm) if self.closed and self._closes() else ""
        self._add("model", "Model", loops + "".join(tables) + doubts)

    def _closes(self) -> bool:
        """True if the loops can be closed."""
        try:
            return self.arm.loops.mobility >= 0
        except UnreachableError:
            return False

    def _denavit_hartenberg(self) -> str:
        tree = self.arm.tree
        on_the_way = tree.path(tree.body_number(tree.frame(self.frame).body))
        if any(joint.motion.nv and number not in on_the_way for number, joint in enumerate(tree.joints)):
            return ""  # one leg or finger of several
        try:
            return html_table(dh_words(self.arm.dh_table(convention="modified", frame=self.frame), self.frame))
        except CayleyError:
            return ""  # not a chain that such a table can hold: the table of joints says all

    def _workspace(self) -> None:
        still = held(self.arm.tree, floating(self.arm.tree))
        space = reachable(still, self.frame)
        if not isinstance(space, Workspace) or not space.dimension:
            why = f"no joint moves the origin of {self.frame!r}" if isinstance(space, Workspace) else str(space)
            self._add("reach", "Workspace", f'<p class="note">No workspace: {escape(why)}.</p>')
            return
        self.space = space
        self.reach = space.points[:: max(1, len(space.points) // _REACH)]
        self.facts.append(("reach", f"{space.farthest:.3g} m"))
        nimble = manipulability_picture(still, self.frame)
        mapped = "<img" in nimble
        words = (f"The origin of <b>{escape(self.frame)}</b> reaches from {_length(space.nearest)} to "
                 f"{_length(space.farthest)} m from the origin of the root, {_extent(space)}.")
        if mapped:
            words += (" Manipulability is the product of the singular values of the Jacobian. It is zero at "
                      "singularities, in red.")
        pictures = f'<div class="pictures">{workspace_picture(space)}{nimble if mapped else ""}</div>'
        self._add("reach", "Workspace and manipulability" if mapped else "Workspace",
                  f"<p>{words}</p>{pictures}{'' if mapped else nimble}")

    def _payload(self) -> None:
        if self.space is not None and not any(floating(self.arm.tree)):
            self._add("payload", "Payload", payload_section(self.space, None))

    def _demonstration(self) -> None:
        self._play(demonstration(self.arm))
        self.motion_note = ("The masses are unknown, so there is no simulation: each joint in turn moves to both "
                            "sides, within its limits.")

    def _law(self) -> None:
        """Trial of a controller, which the page plays."""
        self.trial = self.asked.tried(self.arm, self.planned)
        assert self.trial is not None
        self._play((self.trial.tracking.t, self.trial.tracking["q"]))
        self.facts += [("controller", self.trial.law.name), *trial_facts(self.trial)]
        for place, title, body in control_sections(self.trial, self.asked.settings):
            self._add(f"law-{place}", title, body)

    def _play(self, motion: MotionLike) -> None:
        times, self.way = played(self.arm.tree, motion, STEP)
        self.played = motion_data(times, self.way)

    def _opening(self) -> None:
        try:
            self.motion = opening_motion(self.arm.tree)
        except CayleyError as why:
            self.motion_note = f"No motion: {why}."
            return
        self._play((self.motion.t, self.motion.configurations))

    def _motion(self) -> None:
        """The planned motion, which the page plays."""
        assert self.planned is not None
        self._play(self.planned)
        self._add("motion", "Motion", motion_section(self.arm, self.planned))

    def _equations(self) -> None:
        self._try("equations", "Equations of motion", equation_section, "No equations: ")

    def _counts(self) -> None:
        comparison = counts.compared(self.arm)
        self.facts.append(("inverse dynamics", counts.headline(comparison)))
        self._add("counts", "Operation counts", counts.counts_section(self.arm, comparison))
        self._add("times", "Times", counts.timing_section(self.arm, self.frame, comparison))

    def _closed_costs(self) -> None:
        self._try("counts", "Operation counts and times", counts.cost_section)

    def _try(self, place: str, title: str, make: Callable[[Mechanism], str], without: str = "") -> None:
        """Add a section, or the reason why there is none."""
        try:
            self._add(place, title, make(self.arm))
        except CayleyError as why:
            self._add(place, title, f'<p class="note">{without}{escape(str(why))}.</p>')

    def _add(self, place: str, title: str, body: str) -> None:
        self.sections.append((place, title, body))

    def html(self) -> str:
        """The whole page."""
        sections = self.sections
        if self.without_dynamics:
            why = f'<p class="note">Kinematics only: {escape(self.without_dynamics)}.</p>'
            sections = [*sections, ("dynamics", "Dynamics", why)]
        parts = {
            "source": source_html(self.arm), **scene_parts(self.arm.tree, reach=self.reach, way=self.way),
            "motion": embedded(self._motion_data()), "player": self._player(),
            "reach": '<label><input type="checkbox" id="show-reach"> reach</label>' if self.reach is not None else "",
            "facts": facts_html(self.facts), **sections_html(sections)}
        return page_html(self.arm.name, parts)

    def _motion_data(self) -> dict[str, Any] | None:
        return self.played if self.motion is None else {
            **(self.played or {}), "left": ForcePlot.left, "right": ForcePlot.right}

    def _player(self) -> str:
        note = self.motion_note or (self.without_dynamics and "No motion: some masses are unknown.")
        if self.played is None:
            return f'<p class="note">{escape(note)}</p>' if note else ""
        if self.motion is None:
            return player() + (f'<p class="note">{escape(self.motion_note)}</p>' if self.motion_note else "")
        plot = ForcePlot(self.motion)
        held_base = " The base is held." if any(floating(self.arm.tree)) else ""
        chosen = f"largest {len(plot.curves)} of {len(self.motion.drives)} " if plot.few else ""
        words = (f"From the ready pose to another and back in {self.motion.t[-1]:g} s.{held_base} The curves are the "
                 f"{chosen}forces of the drives, including those that hold the weight.")
        return Template(template("player.html")).substitute(plot=plot.svg(), key=plot.key(), words=escape(words))


def page_html(name: str, parts: dict[str, str], style: str = "") -> str:
    """HTML page about a mechanism, from the common template and the given parts and style."""
    return Template(template("report.html")).substitute(
        name=escape(name), version=cayley.__version__, date=date.today().isoformat(),
        style=template("report.css") + style, viewer="".join(map(template, _SCRIPTS)),
        page=template("page.js"), **parts)


def player(speed: float = 1.0) -> str:
    """Controls that play a motion: button, time, and a choice of speeds."""
    speeds = sorted({**_SPEEDS, speed: _SPEEDS.get(speed, f"{speed:.3g}×")}.items(), reverse=True)
    options = [f'<option value="{value!r}"{" selected" if value == speed else ""}>{word}</option>'
               for value, word in speeds]
    return Template(template("motion.html")).substitute(speeds="".join(options))


def facts_html(facts: Sequence[tuple[str, str]]) -> str:
    return "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts)


def _extent(space: Workspace) -> str:
    """Size of the workspace in words."""
    if space.dimension == 1:
        return "along a curve"
    if space.area is not None:
        return f"over an area of about {space.area:.3g} m²"
    return f"over a volume of about {space.volume:.3g} m³" if space.dimension == 3 else "over a surface"


def _length(value: float) -> str:
    return f"{round(value, 6):.3g}"



def template(name: str) -> str:
    return (files("cayley.studio") / "templates" / name).read_text(encoding="utf-8")
