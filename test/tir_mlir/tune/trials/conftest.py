"""A pool of one worker, shared: starting a worker takes most of a second."""

import pytest

from tir_mlir.tune.trials import Pool


@pytest.fixture(scope="session")
def pool():
    with Pool(1) as pool:
        yield pool
