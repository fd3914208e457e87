"""Helpers for running and inspecting programs, and for reading the documents under test."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The checkout."""
