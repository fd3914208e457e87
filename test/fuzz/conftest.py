"""Lets the tests here, and the workers they start, import tools/fuzzing and what is planted."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tools")]
