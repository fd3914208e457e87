"""Keys and values in 8 bits: what is written, and what is read of it."""

import pytest

from tir_mlir import llm
from tir_mlir.errors import ArgumentError

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("sequences", [1, 3])
def test_keys_are_written_in_place_and_read_to_half_a_step(sequences):
    from tir_mlir.llm.architecture import Cache, cache_arrays, facts_of

    arrays = cache_arrays("int8", sequences, 2, 4)
    assert facts_of(arrays) == [("keys", 2, 4), ("values", 2, 4), ("key_scales", 2, 4), ("value_scales", 2, 4)]
    keys, values, *scales = arrays.values()
    torch.manual_seed(0)
    new = torch.randn(sequences, 2, 1, 4) * torch.tensor([1.0, 1000.0])[None, :, None, None]
    new[0, 0] = 0
    read, _ = Cache(keys, values, tuple(scales), torch.ones(sequences, dtype=torch.int64)).update(new, new)
    step = new.abs().amax(-1, keepdim=True) / 127
    assert ((read[:, :, 1:] - new).abs() <= step * 0.501).all()
    assert keys.abs().amax() == 127 and not read[:, :, 0].any()


def test_another_type_of_cache_is_refused(tmp_path):
    with pytest.raises(ArgumentError, match="cache='int4'; fix: one of float32, int8"):
        llm.load(tmp_path, cache="int4")
