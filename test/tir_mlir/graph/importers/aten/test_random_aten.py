"""Random numbers: those of Philox 4x32-10, of a seed and an offset that travel with the model."""

import numpy as np
import pytest

import tir_mlir
from tir_mlir.errors import GraphError

torch = pytest.importorskip("torch")
F = torch.nn.functional
MASK = 0xFFFFFFFF


def philox(counter, key):
    """Ten rounds on uint64 arrays of words below 2^32."""
    a, b, c, d = (np.asarray(word, "uint64") for word in counter)
    k, l = key  # noqa: E741
    for _ in range(10):
        low, high = a * np.uint64(0xD2511F53), c * np.uint64(0xCD9E8D57)
        a, b = (high >> np.uint64(32)) ^ b ^ np.uint64(k), high & np.uint64(MASK)
        c, d = (low >> np.uint64(32)) ^ d ^ np.uint64(l), low & np.uint64(MASK)
        k, l = (k + 0x9E3779B9) & MASK, (l + 0xBB67AE85) & MASK  # noqa: E741
    return [a, b, c, d]


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        ([0] * 4, [0] * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ([MASK] * 4, [MASK] * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_known_answers_of_random123(counter, key, words):
    assert " ".join(f"{int(word):08x}" for word in philox(counter, key)) == words


def unit(seed, draw, count, word=0):
    """Numbers of (0, 1] of one word of a block for each element."""
    words = philox([draw, 0, np.arange(count), 0], [seed & MASK, seed >> 32])
    return words[word].astype("float32") * np.float32(2**-32) + np.float32(2**-33)


class Draws(torch.nn.Module):
    def forward(self, x):
        numbers = torch.rand(7), torch.randn_like(x), F.dropout(x, 0.25, training=True), torch.randint(3, 9, (50,))
        return *numbers, torch.multinomial(x, 2), torch.empty(5).exponential_(2.0)


@pytest.fixture(scope="module")
def model():
    return tir_mlir.build(tir_mlir.from_torch(Draws(), (torch.ones(6, 4),), mutated="in_place"))


@pytest.mark.nightly
@pytest.mark.parametrize(("seed", "offset"), [(0, 0), (0x123456789ABC, 8)])
def test_numbers_are_those_of_seed_and_offset(model, seed, offset):
    state, first = torch.tensor([seed, offset]), offset // 4
    rand, randn, dropped, integers, places, waits, new = model(torch.ones(6, 4), state)
    assert new is state and state.tolist() == [seed, offset + 24]
    np.testing.assert_array_equal(rand.numpy(), unit(seed, first, 7))
    angle = unit(seed, first + 1, 24, 1) * np.float32(2 * np.pi)
    want = np.sqrt(-2 * np.log(unit(seed, first + 1, 24))) * np.sin(angle)
    np.testing.assert_allclose(randn.numpy().ravel(), want, rtol=1e-4, atol=1e-6)
    stays = np.stack([unit(seed, first + 2, 6, word) for word in range(4)], 1) < 0.75
    np.testing.assert_allclose(dropped.numpy(), np.where(stays, np.float32(4 / 3), 0), rtol=1e-6)
    words = philox([first + 3, 0, np.arange(50), 0], [seed & MASK, seed >> 32])[0]
    np.testing.assert_array_equal(integers.numpy(), words.astype("int64") % 6 + 3)
    order = np.argsort(-np.log(unit(seed, first + 4, 24)).reshape(6, 4), axis=1)  # equal weights: the least waits first
    np.testing.assert_array_equal(places.numpy(), order[:, :2])
    np.testing.assert_allclose(waits.numpy(), -np.log(unit(seed, first + 5, 5)) / 2, rtol=1e-5, atol=1e-7)


@pytest.mark.nightly
def test_positions_are_drawn_as_often_as_they_weigh():
    weights = torch.tensor([1.0, 0, 3, 4])
    draw = tir_mlir.from_torch(lambda x: torch.multinomial(x, 4000, replacement=True), (weights,), mutated="return")
    places, _ = tir_mlir.build(draw, threads=1)(weights, torch.tensor([7, 0]))
    np.testing.assert_allclose(np.bincount(places, minlength=4) / 500, weights, atol=0.15)


def test_numbers_without_a_state_are_refused():
    with pytest.raises(GraphError, match=r'rand_like: it draws .*seed is a state\n(.*\n)?  fix: mutated="return"'):
        tir_mlir.from_torch(lambda x: torch.rand_like(x), (torch.ones(3),))
