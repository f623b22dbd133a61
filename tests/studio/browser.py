"""A page in a real, headless Chromium, driven over its own pipe (the DevTools protocol): no other package is needed."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from time import monotonic

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         "--hide-scrollbars", "--mute-audio", "--disable-background-networking", "--disable-extensions",
         "--remote-debugging-pipe")
WEBGL = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")  # drawn by the processor
BEGIN = ("import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], "
         "sys.argv[3:])")
PATIENCE = 60.0  # seconds for an answer, on a busy machine


class NoBrowser(RuntimeError):
    """There is no Chromium."""


@cache
def chromium() -> str:
    """The browser's path."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        raise NoBrowser("no Chromium here: `make programs` installs what the tests run")
    return found


class Browser:
    """One page of a browser at a time; `problems` are what its console complained about."""

    def __init__(self, *more: str) -> None:
        self._profile = tempfile.TemporaryDirectory(prefix="cayley-chromium-", ignore_cleanup_errors=True)
        orders_out, orders_in = _pipe()
        answers_out, answers_in = _pipe()
        command = [sys.executable, "-c", BEGIN, str(orders_out), str(answers_in), chromium(), *FLAGS, *more,
                   f"--user-data-dir={self._profile.name}"]
        self._process = subprocess.Popen(command, pass_fds=(orders_out, answers_in), stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL)
        os.close(orders_out)
        os.close(answers_in)
        self._orders, self._answers, self._unread = orders_in, answers_out, b""
        self._number, self._session, self._target = 0, "", ""
        self.problems: list[str] = []
        self.requests: list[str] = []

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._orders)  # the browser ends when nobody gives orders
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._answers)
        self._profile.cleanup()

    def open(self, page: Path | str, *, width: int, height: int = 900, dark: bool = False, first: str = "") -> None:
        """Load a file, or an address, into a new tab of the given size; `first` is done before its own scripts."""
        self.problems, self.requests, self._session = [], [], ""
        if self._target:
            self.order("Target.closeTarget", targetId=self._target)  # which would go on drawing
        self._target = self.order("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.order("Target.attachToTarget", targetId=self._target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.order(f"{domain}.enable")
        self.order("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width
                   < 600)
        self.order("Emulation.setEmulatedMedia",
                   features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        if first:
            self.order("Page.addScriptToEvaluateOnNewDocument", source=first)
        self.order("Page.navigate", url=page if isinstance(page, str) else page.resolve().as_uri())
        self.wait("document.readyState === 'complete'")
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")

    def evaluate(self, expression: str):
        """The value of a JavaScript expression; promises are waited for."""
        answer = self.order("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression[:400]}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, expression: str) -> None:
        end = monotonic() + PATIENCE
        while not self.evaluate(expression):
            assert monotonic() < end, f"never true: {expression}"

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Press the mouse, move it in steps, let it go."""
        self._mouse("mousePressed", *start, button="left", buttons=1, clickCount=1)
        for k in range(1, 6):
            self._mouse("mouseMoved", *(a + (b - a) * k / 5 for a, b in zip(start, end, strict=True)), button="left",
                        buttons=1)
        self._mouse("mouseReleased", *end, button="left", clickCount=1)

    def wheel(self, place: tuple[float, float], amount: float) -> None:
        self._mouse("mouseWheel", *place, deltaX=0, deltaY=amount)

    def touch_drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """One finger that moves."""
        for kind, share in (("touchStart", 0.0), ("touchMove", 0.5), ("touchMove", 1.0), ("touchEnd", None)):
            places = [] if share is None else [{
                "x": start[0] + share * (end[0] - start[0]), "y": start[1] + share * (end[1] - start[1])}]
            self.order("Input.dispatchTouchEvent", type=kind, touchPoints=places)

    def key(self, name: str, text: str = "") -> None:
        """Press a key and let it go."""
        code = {"Tab": 9, "Enter": 13, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
                "ArrowDown": 40}.get(name, 0)
        for kind in ("keyDown", "keyUp"):
            self.order("Input.dispatchKeyEvent", type=kind, key=name, windowsVirtualKeyCode=code,
                       **({"text": text} if text and kind == "keyDown" else {}))

    def click(self, selector: str) -> None:
        x, y, width, height = self.box(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self._mouse(kind, x + width / 2, y + height / 2, button="left", clickCount=1)

    def press(self, key: str, times: int = 1) -> None:
        """Press a key, as ArrowRight or Enter, where the focus is."""
        code = {"Enter": 13, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35,
                " ": 32}[key]
        text = {"Enter": "\r", " ": " "}.get(key)
        for _ in range(times):
            more = {} if text is None else {"text": text}
            self.order("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **more)
            self.order("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def box(self, selector: str) -> tuple[float, float, float, float]:
        """Left, top, width and height on the screen."""
        found = f"document.querySelector({json.dumps(selector)})"
        self.evaluate(f"{found}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
        return tuple(self.evaluate(f"(b => [b.x, b.y, b.width, b.height])({found}.getBoundingClientRect())"))

    def screenshot(self, path: Path, *, whole: bool = False) -> Path:
        data = self.order("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))
        return path

    def order(self, method: str, **parameters) -> dict:
        """Send a command and wait for its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters
                   } | ({"sessionId": self._session} if self._session else {})
        os.write(self._orders, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self._notice(answer)

    def _mouse(self, kind: str, x: float, y: float, **more) -> None:
        self.order("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def _next(self) -> dict:
        while b"\0" not in self._unread:
            ready, *_ = select.select([self._answers], [], [], PATIENCE)
            assert ready, "the browser does not answer"
            more = os.read(self._answers, 1 << 20)
            assert more, f"the browser has ended with {self._process.poll()}"
            self._unread += more
        message, _, self._unread = self._unread.partition(b"\0")
        return json.loads(message)

    def _notice(self, event: dict) -> None:
        """Keep what the console complains about, and what the page asks for."""
        if event.get("sessionId", self._session) != self._session:
            return  # of a page that was left
        kind, given = event.get("method"), event.get("params", {})
        if kind == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(given["exceptionDetails"])[:500])
        elif kind == "Runtime.consoleAPICalled" and given["type"] in ("error", "warning", "assert"):
            self.problems.append(json.dumps(given["args"])[:500])
        elif kind == "Log.entryAdded" and given["entry"]["level"] in ("error", "warning"):
            self.problems.append(given["entry"]["text"])
        elif kind == "Network.requestWillBeSent" and not given["request"]["url"].startswith("data:"):
            self.requests.append(given["request"]["url"])


def _pipe() -> tuple[int, int]:
    """The ends of a pipe, with numbers other than those that the browser wants, 3 and 4."""
    ends = os.pipe()
    moved = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return moved[0], moved[1]
