"""Random schedules of random programs: an accepted step keeps the program's meaning, a refused one changes nothing.

`make check` runs a few; `TIR_FUZZ=1000` runs that many other ones. A failure shows the program and the steps.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from fuzzing.pairs.pair import tell

COUNT = int(os.environ.get("TIR_FUZZ", "60"))
SETTINGS = settings(
    max_examples=COUNT,
    deadline=None,
    database=None,
    print_blob=True,
    derandomize="TIR_FUZZ" not in os.environ,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.generate, Phase.shrink) if "TIR_FUZZ" in os.environ else (Phase.generate,),
)


@SETTINGS
@given(st.randoms(use_true_random=False))
def test_schedules_keep_the_program(random):
    tell(random)
