from cayley.scale.points import Drawn as Drawn
from cayley.scale.points import Grid as Grid
from cayley.scale.points import Table as Table
from cayley.scale.reductions import Extremes as Extremes
from cayley.scale.reductions import Histogram as Histogram
from cayley.scale.reductions import Moments as Moments
from cayley.scale.sweeping import Swept as Swept
from cayley.scale.sweeping import sweep as sweep
