"""Operators of torch that move elements: shapes, parts, indices, creation."""

import pytest
from harness.torch_models import Family

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
pytestmark = pytest.mark.nightly
F = torch.nn.functional


def numbers():
    generator = torch.Generator().manual_seed(2)
    x = torch.randn(2, 3, 4, 5, generator=generator)
    n = torch.tensor([[1, 0], [2, -1]])
    m = torch.tensor([0, 3])
    return x, n, m


SHAPES = Family(
    {
        "view": lambda x: x.view(6, -1),
        "flatten": lambda x: x.flatten(1, 2),
        "unflatten": lambda x: x.unflatten(2, (2, -1)),
        "unsqueeze": lambda x: x.unsqueeze(-2),
        "squeeze": lambda x: x[:1].squeeze(),
        "squeeze an axis": lambda x: x[:, :1].squeeze(1),
        "squeeze of no effect": lambda x: x.squeeze(0),
        "transpose": lambda x: x.transpose(1, -1),
        "permute": lambda x: x.permute(0, -1, 1, 2),
        "t": lambda x: x[0, 0].t(),
        "mT": lambda x: x.mT,
        "movedim": lambda x: x.movedim(1, 3),
        "movedim of several": lambda x: x.movedim((0, 1), (-1, 0)),
        "expand": lambda x: x[:, :1].expand(-1, 3, -1, -1),
        "expand to new axes": lambda x: x[0, 0].expand(2, 4, 5),
        "cat": lambda x: torch.cat([x, x[:, :2]], 1),
        "cat of two types": lambda x, n: torch.cat([x[0, 0, :2, :2], n], -1),
        "cat with an empty one": lambda x: torch.cat([torch.zeros(0), x], -1),
        "stack": lambda x: torch.stack([x, x * 2], -1),
        "repeat": lambda x: x.repeat(2, 1, 1, 3),
        "repeat to new axes": lambda x: x[0, 0].repeat(3, 2, 1),
        "tile": lambda x: x.tile(2, 2),
        "repeat_interleave": lambda x: x.repeat_interleave(3, 1),
        "repeat_interleave of all": lambda x: x.repeat_interleave(2),
        "flip": lambda x: x.flip(0, -1),
        "roll": lambda x: x.roll((-1, 2), (2, 3)),
        "roll of all": lambda x: x.roll(7),
        "pixel_shuffle": lambda x: F.pixel_shuffle(x.reshape(1, 12, 2, 5), 2),
        "pixel_unshuffle": lambda x: F.pixel_unshuffle(x[..., :4], 2),
        "channel_shuffle": lambda x: F.channel_shuffle(x.reshape(1, 6, 4, 5), 3),
        "slice": lambda x: x[:, 1:, -3:-1, ::2],
        "slice beyond the end": lambda x: x[:, :9, 7:],
        "select": lambda x: x[:, -1, 2],
        "narrow": lambda x: x.narrow(2, 1, 2),
        "narrow from the end": lambda x: x.narrow(2, -3, 2),
        "split": lambda x: x.split(2, -1)[2],
        "split of sizes": lambda x: x.split([1, 3, 1], -1)[1],
        "chunk": lambda x: x.chunk(3, -1)[1],
        "unbind": lambda x: x.unbind(1)[2],
        "pad": lambda x: F.pad(x, (1, 2, 0, 3)),
        "pad with a number": lambda x: F.pad(x, (1, 0), value=-1.5),
        "pad that cuts": lambda x: F.pad(x, (-1, 2)),
        "pad reflect": lambda x: F.pad(x, (2, 1, 1, 0), mode="reflect"),
        "pad replicate": lambda x: F.pad(x, (2, 1, 1, 0), mode="replicate"),
        "clone": lambda x: x.clone().contiguous().detach() + 0,
        "new_zeros and write": lambda x: _painted(x),
        "slice_scatter": lambda x: torch.slice_scatter(x, x[:, :1] * 2, 1, 1, 2),
        "select_scatter": lambda x: torch.select_scatter(x, x[:, 0] * 2, 1, -1),
        "embedding": lambda x, n: F.embedding(n.abs(), x[0, 0]),
        "index_select": lambda x, m: x.index_select(3, m),
        "index": lambda x, n: x[:, n],
        "index of two axes": lambda x, n, m: x[:, n, m],
        "index of axes apart": lambda x, m: x[m % 2, :, m],
        "index of all axes": lambda x, n, m: x[m % 2, n, m, m],
        "gather": lambda x: x.gather(3, torch.tensor([[[[1, 4], [0, 0]], [[3, 2], [1, 1]]]])),
        "one_hot": lambda n: F.one_hot(n.abs(), num_classes=4),
        "arange": lambda x: x + torch.arange(5),
        "arange of floats": lambda x: x + torch.arange(0.5, 3, 0.5),
        "linspace": lambda x: x + torch.linspace(-1, 1, 5),
        "full": lambda x: torch.full((2, 3), 1.5) + x[0, 0, 0, 0],
        "full_like": lambda x: torch.full_like(x, 2) + torch.ones_like(x) + torch.zeros(5),
        "eye": lambda x: x[0, 0, :, :4] + torch.eye(4),
        "tril": lambda x: x.tril(-1),
        "triu": lambda x: x.triu(1),
        "causal mask": lambda x: torch.full((4, 4), float("-inf")).triu(1) + x[0, 0, :, :4],
        "outer": lambda x: torch.outer(x[0, 0, 0], x[0, 0, 1]),
        "meshgrid": lambda x: torch.meshgrid(x[0, 0, 0], x[0, 0, :, 0], indexing="ij")[1] * 2,
        "resize nearest": lambda x: F.interpolate(x, scale_factor=2, mode="nearest"),
        "resize nearest to a size": lambda x: F.interpolate(x, size=(7, 3), mode="nearest"),
        "resize bilinear": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
        "resize bilinear, corners": lambda x: F.interpolate(x, size=(7, 9), mode="bilinear", align_corners=True),
    },
    numbers,
)


def _painted(x):
    mask = x.new_zeros((4, 5))
    mask[1:3, :2] = 1
    mask[-1] = 2
    return x * mask


@pytest.mark.parametrize("name", SHAPES.functions)
def test_shapes(name):
    SHAPES.check(name)
