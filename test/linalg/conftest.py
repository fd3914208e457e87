"""Lets the tests here import their neighbour, and the random programs of tools/fuzzing."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
