"""Checks of a machine and of its programs: the C of instructions against descriptions, programs against schedules."""
