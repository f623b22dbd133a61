"""Parallel machines: every working mode, every assembly mode, rates both ways, and singular postures."""

from cayley.mechanisms.parallel.actuation import Actuation, actuation
from cayley.mechanisms.parallel.assemblies import Assemblies
from cayley.mechanisms.parallel.delta import TranslationalDelta
from cayley.mechanisms.parallel.planar_3rrr import Planar3RRR
from cayley.mechanisms.parallel.singularity import ParallelSingularity, parallel_singularity
from cayley.mechanisms.parallel.stewart import StewartAssembly, StewartPlatform

__all__ = [
    "Actuation", "Assemblies", "ParallelSingularity", "Planar3RRR", "StewartAssembly", "StewartPlatform",
    "TranslationalDelta", "actuation", "parallel_singularity"]
