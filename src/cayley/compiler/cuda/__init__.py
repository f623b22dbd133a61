"""CUDA source of programs and iterations."""
