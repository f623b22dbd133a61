"""Parallel machines: every working mode, every assembly mode, rates both ways, and singular postures."""

from cayley.machines.parallel.delta import TranslationalDelta
from cayley.machines.parallel.legs import Actuation, Assemblies, ParallelSingularity, actuation, parallel_singularity
from cayley.machines.parallel.planar_3rrr import Planar3RRR
from cayley.machines.parallel.stewart import StewartAssembly, StewartPlatform

__all__ = [
    "Actuation", "Assemblies", "ParallelSingularity", "Planar3RRR", "StewartAssembly", "StewartPlatform",
    "TranslationalDelta", "actuation", "parallel_singularity"]
