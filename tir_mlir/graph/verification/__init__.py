"""Graphs as one program, without schedules: interpreted, and compared with another one."""
