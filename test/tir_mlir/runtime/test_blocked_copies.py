"""Copies of arrays by blocks, and by threads where they are large."""

import numpy as np
import pytest

from tir_mlir.runtime import aligned_arrays


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_threads_copy_each_element_of_a_large_array(axes, monkeypatch):
    monkeypatch.setattr(aligned_arrays, "cores", lambda: 3)
    monkeypatch.setattr(aligned_arrays, "PART", 1 << 12)
    source = np.arange(7 * 65 * 129, dtype="int32").reshape(7, 65, 129).transpose(axes)
    target = np.zeros(source.shape, "int32")
    aligned_arrays.copy_into(target, source)
    np.testing.assert_array_equal(target, source)
