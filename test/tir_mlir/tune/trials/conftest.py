"""A pool of one worker, shared: starting a worker takes most of a second."""

import pytest

from tir_mlir.tune.trials import TrialPool


@pytest.fixture(scope="session")
def pool():
    with TrialPool(1) as pool:
        yield pool
