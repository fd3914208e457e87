"""The rows of whole models of `make gpu`: a wrong result is told, whatever it is."""

import numpy as np
import pytest

from contest import WrongResult
from models_on_gpu import _check


def test_results_within_rounding_are_right():
    right = np.array([1.0, -8.0], np.float32)
    _check("m", [right + 1e-3], [right])


@pytest.mark.parametrize("error", [0.1, np.nan, np.inf])
def test_other_results_are_named(error):
    right = np.array([1.0, -8.0], np.float32)
    with pytest.raises(WrongResult, match="bert is wrong on the GPU: by"):
        _check("bert", [right + np.float32(error)], [right])
