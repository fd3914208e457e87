"""Arenas of a checked program, whose floats have other sizes than those of the program."""
