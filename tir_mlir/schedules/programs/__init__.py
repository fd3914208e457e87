"""Schedules of whole programs."""
