"""The rows of whole models of `make gpu`: a wrong result is told, whatever it is."""

import numpy as np
import pytest

from contest import WrongResult
from models_on_gpu import TimedModel, _check


def test_results_within_rounding_are_right():
    right = np.array([1.0, -8.0], np.float32)
    _check(TimedModel("m"), [right + 1e-3], [right])


@pytest.mark.parametrize("error", [0.1, np.nan, np.inf])
def test_other_results_are_named(error):
    right = np.array([1.0, -8.0], np.float32)
    with pytest.raises(WrongResult, match="bert in float32 is wrong on the GPU: by"):
        _check(TimedModel("bert"), [right + np.float32(error)], [right])
