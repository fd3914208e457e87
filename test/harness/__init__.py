"""How tests run programs, look into them, and read the documents that they check."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The checkout."""
