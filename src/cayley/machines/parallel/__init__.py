"""Parallel machines: every working mode, every assembly mode, rates both ways, and singular postures."""

from cayley.lazy_names import former_names
from cayley.machines.parallel.delta import TranslationalDelta
from cayley.machines.parallel.legs import Assemblies, LegActuation, ParallelSingularity, actuation, parallel_singularity
from cayley.machines.parallel.planar_3rrr import Planar3RRR
from cayley.machines.parallel.stewart import StewartAssembly, StewartPlatform

__all__ = [
    "Assemblies", "LegActuation", "ParallelSingularity", "Planar3RRR", "StewartAssembly", "StewartPlatform",
    "TranslationalDelta", "actuation", "parallel_singularity"]

__getattr__ = former_names(__name__, {"Actuation": "LegActuation"})
