"""The kinds of tasks: one line each."""

from cayley.control.tasks.kinds.center_of_mass import CenterOfMassTask
from cayley.control.tasks.kinds.damping import DampingTask
from cayley.control.tasks.kinds.gaze import GazeTask
from cayley.control.tasks.kinds.momentum import MomentumTask
from cayley.control.tasks.kinds.orientation import OrientationTask
from cayley.control.tasks.kinds.pose import PoseTask
from cayley.control.tasks.kinds.position import PositionTask
from cayley.control.tasks.kinds.posture import PostureTask
from cayley.control.tasks.kinds.relative_pose import RelativePoseTask
from cayley.control.tasks.task import ControlTask

TASKS: dict[str, type[ControlTask]] = {kind.word: kind for kind in (
    PositionTask,
    OrientationTask,
    PoseTask,
    GazeTask,
    PostureTask,
    CenterOfMassTask,
    MomentumTask,
    RelativePoseTask,
    DampingTask,
)}
