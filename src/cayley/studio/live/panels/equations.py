"""Panel with the equations of motion and operation counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from cayley.compiler.kernel import Kernel
from cayley.errors import CayleyError
from cayley.model.masses import unknown_masses
from cayley.showing import escape, html_table
from cayley.studio.live.panels.panel import Panel

if TYPE_CHECKING:
    from cayley.mechanism import Mechanism

_STYLE = """<style>.cayley-box {max-height: 60vh; overflow: auto; font-size: .8em; padding: 0 .8em .8em}
.cayley-box table {border-collapse: collapse; width: 100%} .cayley-box td, .cayley-box th {padding: .15em .4em;
text-align: left; border-bottom: 1px solid rgba(128,128,128,.3)} .cayley-box td + td {text-align: right}
.cayley-box caption {text-align: left; font-weight: 600; padding-bottom: .3em}
.cayley-box pre {white-space: pre-wrap} .cayley-box .equation {margin: .35em 0; overflow-x: auto}</style>"""


class EquationsPanel(Panel):
    """Equations of motion and operation counts, computed on demand."""

    folder = "Equations and counts"
    without_motion = "No joint moves."

    def build(self) -> None:
        buttons = self.gui.add_button_group("Compute", ("counts", "equations"),
                                            hint="Operation counts, or the equations of motion")
        self._box = self.gui.add_html("")
        buttons.on_click(lambda event: self.robot.view.post((self, "work"), lambda: self.work_out(event.target.value)))

    def work_out(self, what: str) -> None:
        """Show the "counts" or the "equations"."""
        self._fill("<p>One moment.</p>", what)
        arm = self.robot.arm
        frame = self.robot.frame

        def work() -> Callable[[], None]:
            found = counts_html(arm, frame) if what == "counts" else equations_html(arm)
            return lambda: self._fill(found, what)

        self.robot.view.aside(work)

    @property
    def content(self) -> str:
        """HTML that is shown."""
        return self._box.content

    def _fill(self, html: str, what: str) -> None:
        label = escape(f"{what} of {self.robot.name}")
        self._box.content = (f'{_STYLE}<div class="cayley-box" tabindex="0" role="region" aria-label="{label}">{html}'
                             "</div>")


def counts_html(arm: Mechanism, frame: str) -> str:
    """Multiplications, additions and trigonometric functions of the main functions."""
    rows = []
    for name, kernel in _kernels(arm, frame).items():
        try:
            count = kernel().operations()
            rows.append((name, str(count.multiplications), str(count.additions)))
        except CayleyError as why:
            rows.append((name, "", str(why)[:80]))
    return html_table("Operations for one state", ("function", "×", "+"), rows)


def _kernels(arm: Mechanism, frame: str) -> dict[str, Callable[[], Kernel]]:
    found: dict[str, Callable[[], Kernel]] = {
        f"pose of {frame}": lambda: arm.pose.of(frame), f"Jacobian of {frame}":
        lambda: arm.jacobian.of(frame, axes="world")}
    if not unknown_masses(arm.tree):
        found |= {"inverse dynamics": lambda: arm.inverse_dynamics, "mass matrix": lambda: arm.inertia_matrix,
                  "forward dynamics": lambda: arm.forward_dynamics}
    return found


def equations_html(arm: Mechanism) -> str:
    """The equations of motion as the report has them."""
    from cayley.studio.equation_section import equation_section
    if unknown_masses(arm.tree):
        return f"<p>{escape(arm.name)} has bodies of unknown mass, so there are no equations of motion.</p>"
    return equation_section(arm)
