"""Lets the tests here import the random programs and steps of tools/fuzzing."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
