"""Files that cannot be read, tokens that cannot be taken, and how the next one is drawn."""

import importlib
import json

import numpy as np
import pytest

from tir_mlir import llm
from tir_mlir.errors import ArgumentError
from tir_mlir.llm import LanguageModel, Sampling
from tir_mlir.llm.checks.matching import Parameters
from tir_mlir.llm.description import Description
from tir_mlir.llm.native.load_loop import loop
from tir_mlir.llm.native.parts import ModelLimits, Parts, Rows
from tir_mlir.llm.native.rotary import without_positions
from tir_mlir.llm.safetensors_files import StoredTensor, tensors_of


def written(folder, dtype="F32", shape=(2, 3), bytes_=24, cut=0):
    fact = {"dtype": dtype, "shape": list(shape), "data_offsets": [0, bytes_]}
    head = json.dumps({"w": fact, "__metadata__": {"format": "pt"}}).encode()
    numbers = np.arange(6, dtype="float32").tobytes()
    whole = len(head).to_bytes(8, "little") + head + numbers
    (folder / "model.safetensors").write_bytes(whole[: len(whole) - cut])
    return folder


def test_rows_of_a_tensor(tmp_path):
    tensor = tensors_of(written(tmp_path))["w"]
    np.testing.assert_array_equal(tensor.read(1, 2), [[3, 4, 5]])


def test_bfloat16_is_widened_exactly(tmp_path):
    tensor = tensors_of(written(tmp_path, "BF16", (12,)))["w"]
    bits = np.frombuffer(np.arange(6, dtype="float32").tobytes(), "uint16").astype("uint32") << 16
    np.testing.assert_array_equal(tensor.read().view("uint32"), bits)


@pytest.mark.parametrize(("options", "words"), [
    ({"cut": 4}, "cut short"), ({"cut": 60}, "less than its header says"), ({"dtype": "F7"}, "of type F7"),
    ({"shape": (2, 2)}, "has 24 bytes"),
])  # fmt: skip
def test_a_file_that_is_not_whole(tmp_path, options, words):
    with pytest.raises(ArgumentError, match=words):
        tensors_of(written(tmp_path, **options))


@pytest.mark.parametrize("dtype", ["I32", "F64", "F8_E4M3"])
def test_a_parameter_in_a_type_that_is_not_floats_is_refused(tmp_path, dtype):
    tensor = StoredTensor(tmp_path / "w", dtype, (2, 3), 0)
    with pytest.raises(ArgumentError, match=f"w is of type {dtype}; fix: a file of F32, F16, BF16"):
        tensor.check("w")


def test_a_folder_without_files(tmp_path):
    with pytest.raises(ArgumentError, match="no such file"):
        tensors_of(tmp_path)


@pytest.mark.parametrize(("shapes", "words"), [
    ({"w": (2, 3), "b": (3,)}, "no tensor b; fix: the files that belong"),
    ({"w": (3, 2)}, r"w is \(2, 3\) in the file, and \(3, 2\) by config.json"),
    ({"w": (2, 3)}, "rows of 3 are no whole groups of 32"),
])  # fmt: skip
def test_files_of_another_model_are_refused_before_elements_are_read(tmp_path, monkeypatch, shapes, words):
    parameters = Parameters(shapes, {}, "model", "model.layers.", [])
    description = Description(parameters, "w", [(0, {"x": "w"})], [], "", {}, 1, without_positions(1))
    monkeypatch.setattr(importlib.import_module("tir_mlir.llm.load"), "describe_model", lambda *_: description)
    monkeypatch.setattr(np, "fromfile", None)
    (written(tmp_path) / "config.json").write_text("{}")
    with pytest.raises(ArgumentError, match=words):
        llm.load(tmp_path, "int4")
    assert not list(tmp_path.glob("**/new-*"))


@pytest.mark.parametrize(("tokens", "count", "most", "words"), [
    ([1, 10], 1, None, "token 10 is beyond the vocabulary, 0 to 9"), ([], 1, None, "fix: a token"),
    ([1] * 8, 1, None, "do not fit"), ([1] * 8, 1, 8, "more than the 8 positions of the model"),
])  # fmt: skip
def test_tokens_that_are_refused(tokens, count, most, words):
    angles = np.zeros((8, 2), "float32")
    rows = Rows("F32", angles.view("uint8"), 2)
    model = LanguageModel(Parts(ModelLimits(10, 8, 4, model=most), rows, without_positions(8), [], [], 10))
    with pytest.raises(ArgumentError, match=words):
        model.generate(tokens, count)


@pytest.fixture
def model(monkeypatch):
    """A model whose tokens are 1, 2, 3, ..."""
    angles = np.zeros((8, 2), "float32")
    limits = ModelLimits(100, 64, 4)
    found = LanguageModel(Parts(limits, Rows("F32", angles.view("uint8"), 2), without_positions(8), [], [], 10))
    monkeypatch.setattr(found, "_tokens", lambda _, count, __: ([number] for number in range(1, count + 1)))
    return found


@pytest.mark.parametrize(("stop", "tokens"), [
    (None, [1, 2, 3, 4, 5]), (3, [1, 2, 3]), ([4, 2], [1, 2]), ({4}, [1, 2, 3, 4]), (np.int64(2), [1, 2]),
    ([], [1, 2, 3, 4, 5]),
])  # fmt: skip
def test_one_of_several_tokens_ends_a_sequence(model, stop, tokens):
    assert model.generate([7], 5, stop=stop) == tokens


@pytest.mark.parametrize("stop", ["2", [1, "2"], 100, -1, [[1]], True, 2.0])
def test_what_does_not_end_a_sequence(model, stop):
    with pytest.raises(ArgumentError, match="fix: a token, or several, of the vocabulary, 0 to 99"):
        model.generate([7], 5, stop=stop)


SCORES = np.log(np.array([0.5, 0.3, 0.15, 0.05]))


@pytest.mark.parametrize(("sampling", "tokens"), [
    (Sampling(), {0}), (Sampling(1.0, top_k=2), {0, 1}), (Sampling(1.0, top_p=0.9), {0, 1, 2}),
    (Sampling(1.0), {0, 1, 2, 3}), (Sampling(1.0, top_k=3, top_p=0.6), {0, 1}),
])  # fmt: skip
def test_which_tokens_are_drawn(sampling, tokens):
    assert {sampling.token(SCORES, number) for number in range(200)} == tokens


def test_shares_of_tokens():
    drawn = np.bincount([Sampling(0.5, seed=5).token(SCORES, number) for number in range(4000)]) / 4000
    np.testing.assert_allclose(drawn, [0.6849, 0.2466, 0.0616, 0.0068], atol=0.02)


def test_numbers_are_those_of_the_operator_philox():
    from tir_mlir import build, te, topi

    state = te.placeholder((2,), "int64", name="state")
    program = build(te.create_prim_func([state, topi.philox(state, 2, 2)]))
    words = np.zeros((2, 2), "uint32")
    program(np.array([2**40 + 3, 4 * 9], "int64"), words)
    whole = words.astype("uint64")
    expected = ((whole[:, 0] << 32 | whole[:, 1]) >> 11) * 2.0**-53
    assert [loop().drawn(2**40 + 3, 9, block) for block in range(2)] == expected.tolist()


@pytest.mark.parametrize(("given", "word"), [
    ({"top_p": 0}, "top_p"), ({"temperature": float("nan")}, "temperature"), ({"seed": -1}, "seed")
])  # fmt: skip
def test_sampling_of_no_meaning_is_refused(given, word):
    with pytest.raises(ArgumentError, match=word):
        Sampling(**given)
