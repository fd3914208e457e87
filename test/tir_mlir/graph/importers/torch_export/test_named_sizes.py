"""Operators of torch whose widths, windows and results are expressions of named sizes."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
F = torch.nn.functional

import tir_mlir  # noqa: E402
from tir_mlir.dialect.diagnostics import ArgumentError, GraphError  # noqa: E402
from tir_mlir.graph.importers.aten.aten_shapes import pad_by_sizes  # noqa: E402
from tir_mlir.graph.importers.emitter import OperatorEmitter  # noqa: E402


def to_multiple(x):
    n = x.shape[1]
    width = (n + 7) // 8 * 8
    return F.pad(x, (0, width - n)).view(x.shape[0], width // 8, 8).mean(-1)


def padded(mode):
    return lambda x: F.pad(x[:, None], (-x.shape[1] % 4, -x.shape[1] % 4), mode=mode)


def by_half(x):
    return F.pad(x, (0, x.shape[1] // 2), value=2.5)


def cut(x):
    return F.pad(x, (-2, x.shape[1] // 3))


def spectrum(x):
    return torch.stft(x, 16, 4, window=torch.hann_window(16), return_complex=True).abs()


FORWARDS = {
    "to a multiple": to_multiple,
    "replicate": padded("replicate"),
    "reflect": padded("reflect"),
    "circular": lambda x: F.pad(x[:, None], (x.shape[1] // 2, 0), mode="circular"),
    "by half": by_half,
    "cut off": cut,
    "unfold": lambda x: x.unfold(1, 4, 2).sum(-1),
    "stft": spectrum,
}


@pytest.mark.few(2)
@pytest.mark.parametrize("forward", FORWARDS.values(), ids=FORWARDS)
def test_sizes_that_vary(forward):
    dims = ({0: "b", 1: torch.export.Dim("n", min=20)},)
    lib = tir_mlir.build(tir_mlir.from_torch(forward, (torch.randn(2, 41),), dynamic_shapes=dims), threads=1)
    for shape in ((3, 32), (1, 47)):
        x = torch.randn(shape)
        torch.testing.assert_close(lib(x), forward(x), rtol=1e-5, atol=1e-5)


Dim = torch.export.Dim
IMAGES = {
    "attention of two batches": (lambda x: F.scaled_dot_product_attention(x, x, x), {0: "a", 1: "b"}, (3, 2, 8, 6, 4)),
    "pixel_unshuffle": (lambda x: F.pixel_unshuffle(x, 2), {3: 2 * Dim("h"), 4: 2 * Dim("w")}, (2, 3, 8, 6, 2)),
    "pixel_shuffle": (lambda x: F.pixel_shuffle(x, 2), {2: 4 * Dim("c")}, (2, 3, 12, 6, 4)),
    "channel_shuffle": (lambda x: F.channel_shuffle(x[0], 2), {2: 2 * Dim("c")}, (2, 3, 6, 6, 4)),
    "narrow from the end": (lambda x: x.narrow(2, -3, 2), {2: Dim("c", min=4)}, (2, 3, 5, 6, 4)),
    "compared with a size": (lambda x: (x + x.shape[2]) < x.shape[2], {2: "c"}, (2, 3, 5, 6, 4)),
    "numbers of sizes": (
        lambda x: x.clamp(min=-x.shape[2], max=x.shape[2]) % x.shape[2] + torch.full((4,), x.shape[2]), {2: "c"},
        (2, 3, 2, 6, 4),
    ),
}  # fmt: skip


@pytest.mark.few(1)
@pytest.mark.parametrize("name", IMAGES)
def test_images_of_sizes_that_vary(name):
    forward, dims, shape = IMAGES[name]
    example = torch.randn(2, 3, 8, 6, 4)
    graph = tir_mlir.from_torch(forward, (example,), dynamic_shapes=(dims,))
    lib = tir_mlir.build(graph, threads=1, optimize="fast")
    for x in (example, torch.randn(shape) * 4):
        torch.testing.assert_close(lib(x), forward(x), rtol=1e-5, atol=1e-5)


@pytest.mark.nightly
@pytest.mark.parametrize("of_rows", [False, True], ids=["offsets", "rows"])
def test_bags_of_named_sizes(of_rows):
    """As many bags as there are offsets or rows, of as many indices as there are."""

    def forward(table, indices, offsets):
        return F.embedding_bag(indices, table, None if of_rows else offsets)

    def inputs(bags):
        indices = torch.arange(2 * bags) % 9
        return torch.randn(9, 4), indices.view(bags, 2) if of_rows else indices, torch.arange(0, 2 * bags, 2)

    dims = ({}, {0: "m" if of_rows else 2 * Dim("b")}, {0: "b"})
    graph = tir_mlir.from_torch(forward, inputs(3), dynamic_shapes=dims)
    lib = tir_mlir.build(graph, threads=1, optimize="fast")
    given = inputs(4)
    torch.testing.assert_close(lib(*given), forward(*given), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("more", [{"include_last_offset": True}, {"padding_idx": 1}], ids=["last offset", "padding"])
def test_what_asks_for_the_number_of_bags(more):
    def forward(table, indices, offsets):
        return F.embedding_bag(indices, table, offsets, **more)

    given = (torch.randn(9, 4), torch.arange(6), torch.tensor([0, 2, 4]))
    words = r"the number of bags is b, which is known only when the model runs\n.*\n  fix: make this dimension static"
    with pytest.raises(GraphError, match=words):
        tir_mlir.from_torch(forward, given, dynamic_shapes=({}, {}, {0: "b"}))


@pytest.mark.parametrize("least", [None, 3], ids=["any", "from 3"])
def test_a_size_that_forward_makes_an_expression_of_another(least):
    def forward(x, z):
        return x + z[:, ::2]

    dims = tuple({1: torch.export.Dim(name, min=least) if least else name} for name in "nm")
    graph = tir_mlir.from_torch(forward, (torch.randn(2, 11), torch.randn(2, 21)), dynamic_shapes=dims)
    lib = tir_mlir.build(graph, threads=1)
    for m in (20, 31):
        x, z = torch.randn(2, (m + 1) // 2), torch.randn(2, m)
        torch.testing.assert_close(lib(x, z), forward(x, z))
    with pytest.raises(ArgumentError, match=r"x: (?s:.*)has extent 9 in dimension 1"):
        lib(torch.randn(2, 9), torch.randn(2, 20))


def test_a_mode_that_there_is_not():
    with pytest.raises(GraphError, match=r"padding of mode 'edgy'(?s:.*)fix: one of constant, edge, reflect, wrap"):
        pad_by_sizes(OperatorEmitter(None), None, [(0, "n")], "edgy", 0, "pad")
