"""`View`: robots in a browser, and the handle of them for scripts and notebooks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, RLock, Thread
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.drawing.canvas import round_number
from cayley.drawing.played import MotionLike
from cayley.drawing.skeleton import stands_on_legs
from cayley.drawing.views import view_of
from cayley.errors import CayleyError, GeometryError
from cayley.geometry.motions.homogeneous import check_pose
from cayley.showing import escape
from cayley.studio.live.panels import PANELS
from cayley.studio.live.panels.panel import Panel
from cayley.studio.live.robot import Robot
from cayley.studio.live.server import HOST, started, stopped
from cayley.studio.live.worker import Worker

if TYPE_CHECKING:
    from viser import ClientHandle

    from cayley.mechanism import Mechanism
    from cayley.studio.live.server import StudioServer


_HEIGHT = 720  # of the frame in a notebook [points]
_APART = 1.25  # of the sizes of robots, where nobody says where the next one stands
_LOG = logging.getLogger(__name__)


class View:
    """A page that shows robots and is moved by hand and from Python: `view.q = q`, `view.show(trajectory)`. Attributes
    of a single robot refer to the first; `view.robots` has all."""

    def __init__(self, arm: Mechanism, *, host: str = HOST, port: int | None = None) -> None:
        self.server = started(host, port)
        self._host = host
        self._lock = RLock()
        self._depth = 0
        self._closed = Event()
        self._worker = Worker(self.complain)
        self.finish = self._worker.finish
        self.is_running = self._worker.is_running
        self.robots: list[Robot] = []
        try:
            self.server.gui.configure_theme(show_logo=False, show_share_button=False, control_width="large",
                                            brand_color=(27, 108, 168))
            self.server.gui.set_panel_label("Cayley studio")
            self.server.gui.main_panel.dock_right()
            self.server.scene.configure_default_lights(cast_shadow=False)
            self.server.scene.world_axes.visible = False
            self.server.gui.add_html(spoken_names())
            self._tabs = self.server.gui.add_tab_group()
            self._ground = Ground(self.server)
            self.add(arm)
        except BaseException:
            self.close()
            raise

    def add(self, arm: Mechanism, *, at: ArrayLike | None = None) -> Robot:
        """Add a robot at a point (3) or a pose (4, 4) of the scene, by default beside the others."""
        with self.update():
            robot = Robot(self, arm, len(self.robots), self._placement(at))
            with self._tabs.add_tab(_short(arm.name)):
                self._build(robot)
            self.robots.append(robot)
            robot.place(robot.q)
            self._ground.fit(self.robots)
        return robot

    @property
    def robot(self) -> Robot:
        """The first robot."""
        return self.robots[0]

    @property
    def q(self) -> Array:
        """The configuration (nq) of the first robot; setting it moves the robot there."""
        return self.robot.q

    @q.setter
    def q(self, q: ArrayLike) -> None:
        self.robot.q = np.asarray(q, dtype=float)

    def show(self, motion: MotionLike, *, speed: float = 1.0, play: bool = True) -> View:
        """Play a motion with the first robot: the run of a simulation, a planned motion, or a pair (times,
        configurations). The page has a slider for its time."""
        self.robot.show(motion, speed=speed, play=play)
        return self

    def reach(self, pose: ArrayLike, frame: str | None = None) -> bool:
        """Bring a frame of the first robot to a pose (4, 4), as the gizmo does; whether it got there."""
        return self.robot.reach(pose, frame)

    @property
    def url(self) -> str:
        """Address of the page."""
        shown = "127.0.0.1" if self._host in ("0.0.0.0", "") else self._host
        return f"http://{shown}:{self.server.get_port()}"

    def open(self) -> View:
        """Show the page in the browser of this machine."""
        import webbrowser
        webbrowser.open(self.url)
        return self

    def wait(self) -> None:
        """Go on showing the page until the view is closed, or Ctrl-C: for scripts, which would end otherwise."""
        while not self._closed.wait(0.5):
            pass

    def close(self) -> None:
        """Stop the server and all that moves; once is enough, and twice does no harm."""
        if self._closed.is_set():
            return
        self._closed.set()
        self._worker.stop()
        stopped(self.server)

    @property
    def closed(self) -> bool:
        """True if the view was closed."""
        return self._closed.is_set()

    def __enter__(self) -> View:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._closed.is_set():
            return "<view, closed>"
        return f"<view of {', '.join(robot.name for robot in self.robots)} at {self.url}>"

    def _repr_html_(self) -> str:
        if self._closed.is_set():
            return f"<p>{escape(repr(self))}</p>"
        names = escape(", ".join(robot.name for robot in self.robots))
        return (f'<iframe title="Studio of {names}" src="{escape(self.url)}" '
                f'style="width:100%;height:{_HEIGHT}px;border:0"></iframe>')

    @property
    def floor(self) -> float:
        """The height of the floor [m]."""
        return self._ground.height

    @contextmanager
    def update(self) -> Iterator[None]:
        """Change what is shown: one thread at a time, and the page sees all changes at once."""
        with self._lock:
            if self._depth or self._closed.is_set():
                yield
                return
            self._depth += 1
            try:
                with self.server.atomic():
                    yield
            finally:
                self._depth -= 1

    def post(self, key: Hashable, action: Callable[[], None], delay: float = 0.0) -> None:
        """Run an action soon, or after a pause [s] without a new one; it replaces a waiting one of its key."""
        self._worker.post(key, self._guarded(action), delay)

    def start(self, key: Hashable, ticker: Callable[[float], None]) -> None:
        """Call a function at every tick, with the time since the last one [s]."""
        def tick(elapsed: float) -> None:
            if self._worker.is_running(key):
                with self.update():
                    ticker(elapsed)
        self._worker.start(key, tick)

    def aside(self, work: Callable[[], Callable[[], None]]) -> None:
        """Run a slow function in its own thread; the function that it returns then runs in turn."""
        def run() -> None:
            try:
                done = work()
            except Exception as error:
                self.complain(error)
            else:
                self.post(object(), done)
        Thread(target=run, name="cayley studio, aside", daemon=True).start()

    def complain(self, error: Exception) -> None:
        """Show an error on the page."""
        if self._closed.is_set():
            return
        if not isinstance(error, CayleyError):
            _LOG.error("in the studio", exc_info=error)
        for client in self.server.get_clients().values():
            client.add_notification("This cannot be done" if isinstance(error, CayleyError) else type(error).__name__,
                                    str(error)[:500], auto_close_seconds=12.0, color="red")

    def _guarded(self, action: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            if not self._closed.is_set():
                with self.update():
                    action()
        return run

    def _build(self, robot: Robot) -> None:
        """The panels of a robot, in folders."""
        gui = self.server.gui
        folders: dict[str, list[type[Panel]]] = {}
        for kind in PANELS:
            folders.setdefault(kind.folder, []).append(kind)
        for folder, kinds in folders.items():
            with gui.add_folder(folder, expand_by_default=kinds[0].expanded):
                for kind in kinds:
                    why = kind.refusal(robot)
                    if why:
                        gui.add_html(f"<p style='margin:0 1em .5em;font-size:.8em'>{escape(why)}</p>")
                    else:
                        robot.panels.append(kind(robot))

    def _placement(self, at: ArrayLike | None) -> Array:
        if at is None:
            return self._beside()
        given = np.asarray(at, dtype=float)
        if given.shape == (3,) and np.isfinite(given).all():
            placement = np.eye(4)
            placement[:3, 3] = given
            return placement
        if given.shape != (4, 4):
            raise GeometryError(f"a robot stands at a point (3) or a pose (4, 4), not {np.shape(at)}")
        check_pose(given)
        return given

    def _beside(self) -> Array:
        """A place to the right of the robots that are there."""
        placement = np.eye(4)
        if self.robots:
            last = self.robots[-1]
            placement[1, 3] = last.placement[1, 3] + _APART * last.size
        return placement


def _short(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:23]}…"


_FOV = 0.7  # [rad]
_CELLS = 4  # of the floor, in the size of the robots
_SLANT = np.array([0.8, -1.0, 0.55])  # towards the eye
_FARTHER = 0.92
_PHONE = 576  # [px]: on a narrower page the panel covers the lower part,
_FREE = 0.4  # and leaves this part of the height free


class Ground:
    """A grid, and the camera that a page begins with."""

    def __init__(self, server: StudioServer) -> None:
        self._server = server
        self.height = 0.0
        server.on_client_connect(self._make_room)

    def fit(self, robots: Sequence[Robot]) -> None:
        """Make room for robots, and for where they get to."""
        lowest = float(np.concatenate([robot.outline() for robot in robots])[:, 2].min())
        points = np.concatenate([robot.room() for robot in robots])
        low = points.min(axis=0)
        high = points.max(axis=0)
        size = float((high - low).max()) or 1.0
        rests = [robot.placement[2, 3] for robot in robots if not stands_on_legs(robot.arm.tree)]
        self.height = min([lowest, *rests])
        cell = round_number(size / _CELLS)
        middle = cell * np.round(0.5 * (low + high)[:2] / cell)
        extent = 2 * _CELLS * cell + 2 * cell * round(float((high - low)[:2].max()) / cell / 2)
        self._server.scene.add_grid(
            "/floor", width=extent, height=extent, plane="xy", cell_size=cell, section_size=4 * cell,
            cell_color=(225, 229, 234), section_color=(200, 207, 215), position=(*middle, self.height),
            infinite_grid=False)
        self._look(robots, 0.5 * (low + high), max(float(np.linalg.norm(high - low)), 1e-3))

    def _look(self, robots: Sequence[Robot], center: Array, size: float) -> None:
        towards = _SLANT / np.linalg.norm(_SLANT)
        seen = view_of(robots[0].arm.tree)
        if len(robots) == 1 and seen.flat:  # along the normal of its plane, from a little aside
            normal = robots[0].placement[:3, :3] @ seen.normal
            aside = np.array([0.0, -0.35, 0.0]) if abs(normal[2]) > 0.9 else np.array([0.0, 0.0, 0.2])
            towards = (normal + aside) / np.linalg.norm(normal + aside)
        camera = self._server.initial_camera
        camera.fov = _FOV
        camera.look_at = center
        camera.position = center + towards * (_FARTHER * size / (2 * np.tan(_FOV / 2)) + 0.15 * size)
        camera.near = 0.002 * size
        camera.far = 200.0 * size

    def _make_room(self, client: ClientHandle) -> None:
        """On a phone, show the robots above the panel."""
        begun = self._server.initial_camera
        if client.camera.image_width < _PHONE:
            away = (np.asarray(begun.position) - begun.look_at) / _FREE
            size = float(np.linalg.norm(away))
            up = np.array([0.0, 0.0, 1.0]) - away[2] / size**2 * away
            center = begun.look_at - (1.0 - _FREE) * size * np.tan(_FOV / 2) * up / np.linalg.norm(up)
            client.camera.position = center + away
            client.camera.look_at = center


_PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
_SCRIPT = """
if (!window.cayleyNames) {
  const name = () => {
    document.documentElement.lang ||= 'en';
    if (document.title !== 'Cayley studio') document.title = 'Cayley studio';
    for (const label of document.querySelectorAll('label[for]')) {
      const control = document.getElementById(label.htmlFor);
      const parts = control ? [control, ...(control.parentElement?.querySelectorAll('input') ?? []),
                               ...control.querySelectorAll('[role=slider]')] : [];
      for (const part of parts) {
        const spoken = part.matches('[role=slider], input') && !part.labels?.length;
        if (spoken && part.getAttribute('aria-label') !== label.textContent)
          part.setAttribute('aria-label', label.textContent);
      }
    }
  };
  window.cayleyNames = new MutationObserver(name);
  window.cayleyNames.observe(document.body, {childList: true, subtree: true});
  name();
}
"""


def spoken_names() -> str:
    """Invisible HTML that names the controls for screen readers."""
    script = " ".join(_SCRIPT.split()).replace('"', "&quot;")
    return f'<img alt="" hidden src="{_PIXEL}" onload="{script}">'
