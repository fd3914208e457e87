"""Lets the tests here import their neighbours, and the random programs and steps of tools/fuzzing."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "tools")]
