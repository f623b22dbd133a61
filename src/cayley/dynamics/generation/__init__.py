"""Automatic generation of equations of motion of arms with elastic or rigid joints, as Mladenova's section 8 has it:
links and actuators as one family of bodies, terms by recursion or by traces, and their text in C, Fortran or Python.
"""
