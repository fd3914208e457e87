"""Checkpoints of GPTQ, AWQ and torchao: weights as one tensor each, exactly; those that are refused."""

import json

import numpy as np
import pytest
from harness.packed_words import packed_words

from tir_mlir.errors import ArgumentError
from tir_mlir.graph.precision.formats import INT4, INT8
from tir_mlir.llm.load import precision_of_scores
from tir_mlir.llm.repeated_part import Precision
from tir_mlir.llm.rounded_files import join_rounded_tensors
from tir_mlir.llm.safetensors_files import tensors_of

K, N, GROUP = 64, 16, 32
NAMES = {"int32": "I32", "float16": "F16", "float32": "F32", "int8": "I8", "int64": "I64"}


def written(folder, arrays, metadata=None):
    facts, data = {} if metadata is None else {"__metadata__": metadata}, b""
    for name, array in arrays.items():
        end = len(data) + array.nbytes
        facts[name] = {"dtype": NAMES[str(array.dtype)], "shape": array.shape, "data_offsets": [len(data), end]}
        data += array.tobytes()
    head = json.dumps(facts).encode()
    (folder / "model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + data)
    return tensors_of(folder)


def checkpoint(method, zero=8):
    rng = np.random.default_rng(0)
    q, scales = rng.integers(0, 16, (K, N)), rng.random((K // GROUP, N)).astype("float16")
    packed = packed_words(method, q, np.full((K // GROUP, N), zero))
    arrays = {"p.qweight": packed[0], "p.qzeros": packed[1], "p.scales": scales}
    values = (q - zero) * np.repeat(scales.astype("float32"), GROUP, axis=0)
    return arrays, values.T.astype("float32")


def config(method="gptq", **others):
    how = {"quant_method": method, "bits": 4, "group_size": GROUP, "desc_act": False}
    return {"hidden_size": K, "quantization_config": {**how, **others}}


@pytest.mark.parametrize("method", ["gptq", "awq"])
@pytest.mark.parametrize("zero", [8, 5])
def test_weights_are_what_the_format_defines(tmp_path, method, zero):
    arrays, values = checkpoint(method, zero)
    files, text, group = join_rounded_tensors(tmp_path, written(tmp_path, arrays), config(method))
    assert (json.loads(text), group, files["p.weight"].shape) == ({"hidden_size": K}, GROUP, (N, K))
    np.testing.assert_allclose(files["p.weight"].read(), values, rtol=1e-6)
    assert (files["p.weight"].read_encoded().offset is None) == (zero == 8)


@pytest.mark.parametrize(("facts", "change", "words"), [
    ({"method": "bitsandbytes"}, {}, "weights by bitsandbytes in 4 bits"), ({"bits": 3}, {}, "gptq in 3 bits"),
    ({"desc_act": True}, {}, "another order"), ({"group_size": 48}, {}, "64 are no whole groups of 48"),
    ({}, {"p.scales": None}, "no tensor p.scales"),
    ({}, {"p.qzeros": np.zeros((3, 2), "int32")}, r"zeros \(3, 2\) and scales \(2, 16\) do not fit 16 x 64"),
])  # fmt: skip
def test_checkpoints_that_are_refused(tmp_path, facts, change, words):
    arrays = {**checkpoint("gptq")[0], **change}
    files = written(tmp_path, {name: array for name, array in arrays.items() if array is not None})
    with pytest.raises(ArgumentError, match=words):
        join_rounded_tensors(tmp_path, files, config(**facts))


def test_scales_that_are_not_finite_are_refused(tmp_path):
    arrays, _ = checkpoint("gptq")
    arrays["p.scales"][1, 2] = np.nan
    files = join_rounded_tensors(tmp_path, written(tmp_path, arrays), config())[0]
    with pytest.raises(ArgumentError, match=r"a scale of p.weight is not finite"):
        files["p.weight"].check("p.weight")


@pytest.mark.parametrize(("scores", "dtype"), [("floats", INT8), ("p.weight", INT4)])
def test_scores_that_the_file_has_in_more_bits_keep_eight(tmp_path, scores, dtype):
    arrays = {**checkpoint("gptq")[0], "floats": np.zeros((N, K), "float16")}
    files = join_rounded_tensors(tmp_path, written(tmp_path, arrays), config())[0]
    found = precision_of_scores(Precision(INT4, GROUP, INT8), [files["p.weight"]], files[scores])
    assert found == Precision(dtype, GROUP, INT8)


def torchao(folder, kind, bits, zero=0, group=GROUP, **facts):
    """A file as transformers writes it, and the numbers that it stands for."""
    rng = np.random.default_rng(0)
    half = 1 << (bits - 1)
    q, scale = rng.integers(-half, half, (N, K)).astype("int8"), rng.random((N, K // group)).astype("float32")
    zeros = np.full((N, K // group), zero, "int8")
    values = (q - np.float32(zero)) * scale.repeat(group, 1)
    if kind == "Int4Tensor":
        q, scale = (q[:, ::2] & 15) | (q[:, 1::2] << 4), np.ascontiguousarray(scale.T)
        zeros = -zero * scale
    parts = {"p._weight_qdata": q, "p._weight_scale": scale, "p._weight_zero_point": zeros}
    data = {"block_size": [1, group], "target_dtype": {"_type": "torch.dtype", "_data": f"int{bits}"}, **facts}
    told = {"p.weight": json.dumps({"_type": kind, "_data": data}), "format": "pt"}
    config = {"quantization_config": {"quant_method": "torchao"}}
    return join_rounded_tensors(folder, written(folder, parts, told), config), values


@pytest.mark.parametrize(("kind", "bits"), [
    ("Int8Tensor", 8), ("IntxUnpackedToInt8Tensor", 4), ("IntxUnpackedToInt8Tensor", 8), ("Int4Tensor", 4)
])  # fmt: skip
@pytest.mark.parametrize("zero", [0, 3])
def test_weights_of_torchao(tmp_path, kind, bits, zero):
    (files, _, group), values = torchao(tmp_path, kind, bits, zero)
    stored = files["p.weight"].read_encoded()
    assert list(files) == ["p.weight"] and (group, stored.bits, files["p.weight"].shape) == (GROUP, bits, (N, K))
    assert (stored.offset is None) == (zero == 0)
    for found in (stored, stored.in_groups(16)):
        np.testing.assert_allclose(found.values(), values, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("kind", "facts", "words"), [
    ("Float8Tensor", {}, "p.weight is a Float8Tensor of torchao"),
    ("Int8Tensor", {"block_size": [8, 32]}, r"of blocks \[8, 32\] do not fit 16 x 64"),
    ("IntxUnpackedToInt8Tensor", {"target_dtype": {"_data": "int3"}}, "p.weight is of int3; fix: int4 or int8"),
])  # fmt: skip
def test_weights_of_torchao_that_are_refused(tmp_path, kind, facts, words):
    with pytest.raises(ArgumentError, match=words):
        torchao(tmp_path, kind, 8, **facts)


def test_parts_of_a_weight_in_a_type_that_is_not_read_are_refused(tmp_path):
    arrays, _ = checkpoint("gptq")
    with pytest.raises(ArgumentError, match="a part of a weight is of type I64; fix: a file of F32"):
        join_rounded_tensors(tmp_path, written(tmp_path, {**arrays, "p.g_idx": np.arange(K) // GROUP}), config())


def test_a_weight_that_is_called_like_a_part_of_another_is_refused(tmp_path):
    facts = json.dumps({"_type": "Int8Tensor", "_data": {"block_size": [1, GROUP]}})
    parts = {f"p._weight_{part}": np.zeros((N, K), "int8") for part in ("scale", "zero_point")}
    inner = {"p.__weight_qdata_qdata": (N, K), "p.__weight_qdata_scale": (N, K // GROUP)}
    inner |= {"p.__weight_qdata_zero_point": (N, K // GROUP)}
    parts |= {name: np.zeros(shape, "int8") for name, shape in inner.items()}
    files = written(tmp_path, parts, {"p._weight_qdata": facts, "p.weight": facts})
    with pytest.raises(ArgumentError, match=r"no tensor p._weight_qdata"):
        join_rounded_tensors(tmp_path, files, {"quantization_config": {"quant_method": "torchao"}})


def test_groups_that_are_no_part_of_a_group_are_refused(tmp_path):
    (files, *_), _ = torchao(tmp_path, "Int8Tensor", 8)
    with pytest.raises(ArgumentError, match="groups of 32 are no groups of 24"):
        files["p.weight"].read_encoded().in_groups(24)
