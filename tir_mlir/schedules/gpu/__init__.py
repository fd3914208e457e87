"""Schedules for GPUs: rules that bind blocks of programs to blocks and threads."""
