"""What tests of the equivalence check share."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # programs that several tests share
