"""Layers of torch: products, convolutions, pools, normalizations, attention, reductions."""

import functools

import pytest
from harness.torch_models import Family, check

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
pytestmark = pytest.mark.nightly
nn, F = torch.nn, torch.nn.functional


@functools.cache
def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed + sum(shape)))


def attended(x, mask=None, **more):
    q, k, v = x.unbind(0)
    return F.scaled_dot_product_attention(q, k, v, mask, **more)


def shared(x):
    return F.scaled_dot_product_attention(x[0], x[1, :, :2], x[2, :, :2], enable_gqa=True)


PRODUCTS = Family(
    {
        "linear": lambda x: F.linear(x, random(6, 5), random(6)),
        "linear without bias": lambda x: F.linear(x, random(6, 5)),
        "linear of a vector": lambda x: F.linear(x[0, 0], random(6, 5), random(6)),
        "matmul": lambda x: x @ random(5, 3),
        "matmul of batches": lambda x: x @ x.transpose(1, 2),
        "matmul of a vector": lambda x: x @ random(5),
        "bmm": lambda x: torch.bmm(x, random(2, 5, 3)),
        "mm": lambda x: torch.mm(x[0], random(5, 3)),
        "mv": lambda x: torch.mv(x[0], random(5)),
        "dot": lambda x: torch.dot(x[0, 0], random(5)),
        "addmm": lambda x: torch.addmm(random(3), x[0], random(5, 3), beta=0.5, alpha=2),
        "baddbmm": lambda x: torch.baddbmm(random(2, 4, 3), x, random(2, 5, 3), beta=0.5),
        "einsum": lambda x: torch.einsum("bij,bkj->bki", x, x),
        "attention": lambda z: attended(z),
        "attention, causal": lambda z: attended(z, is_causal=True),
        "attention, scale": lambda z: attended(z, scale=0.3),
        "attention, mask": lambda z: attended(z, random(7, 7)),
        "attention, bool mask": lambda z: attended(z, torch.ones(7, 7, dtype=torch.bool).tril(1)),
        "attention of six axes": lambda z: attended(z[:, None, :, None], random(2, 1, 1, 7, 7)),
        "attention of three axes": lambda z: attended(z[:, 0]),
        "attention of groups": lambda z: F.scaled_dot_product_attention(
            z[0], z[1, :, :2], z[2, :, :2], enable_gqa=True
        ),
        "attention of fewer queries": lambda z: F.scaled_dot_product_attention(z[0, :, :, :3], z[1], z[2]),
    },
    lambda: (random(2, 4, 5), random(3, 2, 4, 7, 8)),
)

IMAGES = Family(
    {
        "conv2d": lambda x: F.conv2d(x, random(6, 4, 3, 3), random(6)),
        "conv2d, window": lambda x: F.conv2d(x, random(6, 4, 3, 2), None, (2, 1), (1, 2), (1, 2)),
        "conv2d, groups": lambda x: F.conv2d(x, random(8, 2, 3, 3), random(8), padding=1, groups=2),
        "conv2d, depthwise": lambda x: F.conv2d(x, random(4, 1, 3, 3), None, padding=1, groups=4),
        "conv2d, same": lambda x: F.conv2d(x, random(6, 4, 3, 3), padding="same", dilation=2),
        "conv2d, same of an even kernel": lambda x: F.conv2d(x, random(6, 4, 2, 4), padding="same"),
        "conv2d, no batch": lambda x: F.conv2d(x[0], random(6, 4, 3, 3), random(6)),
        "conv1d": lambda x: F.conv1d(x[:, :, 0], random(6, 4, 3), random(6), stride=2, padding=1),
        "conv3d": lambda x: F.conv3d(x[:, :, None], random(2, 4, 1, 3, 3), random(2)),
        "conv_transpose2d": lambda x: F.conv_transpose2d(x, random(4, 3, 2, 2), random(3), stride=2),
        "conv_transpose2d, window": lambda x: F.conv_transpose2d(x, random(4, 3, 3, 3), None, 2, 1, 1),
        "conv_transpose1d": lambda x: F.conv_transpose1d(x[:, :, 0], random(4, 3, 3), stride=2),
        "max_pool2d": lambda x: F.max_pool2d(x, 3, 2, 1),
        "max_pool2d, ceil": lambda x: F.max_pool2d(x, 2, ceil_mode=True),
        "max_pool2d, dilation": lambda x: F.max_pool2d(x, (2, 3), dilation=2),
        "max_pool2d, no batch": lambda x: F.max_pool2d(x[0], 2),
        "indices of max_pool2d": lambda x: F.max_pool2d(x.round(), 3, 2, 1, return_indices=True)[1],
        "indices of max_pool2d, no batch": lambda x: F.max_pool2d(x[0], 2, return_indices=True)[1],
        "max_pool1d": lambda x: F.max_pool1d(x[:, :, 0], 2),
        "avg_pool2d": lambda x: F.avg_pool2d(x, 2),
        "avg_pool2d, padding": lambda x: F.avg_pool2d(x, 3, 2, 1),
        "avg_pool2d, padding not counted": lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
        "avg_pool2d, ceil": lambda x: F.avg_pool2d(x, 2, 2, ceil_mode=True),
        "adaptive_avg_pool2d to one": lambda x: F.adaptive_avg_pool2d(x, 1),
        "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, (3, None)),
        "adaptive_avg_pool1d": lambda x: F.adaptive_avg_pool1d(x[:, :, 0], 3),
        "batch_norm": lambda x: F.batch_norm(x, random(4), random(4).abs(), random(4, seed=1), random(4, seed=2)),
        "batch_norm, not affine": lambda x: F.batch_norm(x, random(4), random(4).abs(), eps=1e-3),
        "layer_norm": lambda x: F.layer_norm(x, (9,), random(9), random(9, seed=1)),
        "layer_norm of two axes": lambda x: F.layer_norm(x, (7, 9), random(7, 9), random(7, 9, seed=1), 1e-6),
        "layer_norm, not affine": lambda x: F.layer_norm(x, (9,)),
        "layer_norm without bias": lambda x: F.layer_norm(x, (9,), random(9)),
        "rms_norm": lambda x: F.rms_norm(x, (9,), random(9), 1e-6),
        "rms_norm, defaults": lambda x: F.rms_norm(x, (9,)),
        "group_norm": lambda x: F.group_norm(x, 2, random(4), random(4, seed=1)),
        "group_norm, not affine": lambda x: F.group_norm(x, 4),
        "instance_norm": lambda x: F.instance_norm(x, weight=random(4), bias=random(4, seed=1)),
        "local response": lambda x: F.normalize(x, dim=1),
        "sum": lambda x: x.sum(),
        "sum of axes": lambda x: x.sum((1, -1), keepdim=True),
        "sum of bool": lambda x: (x > 0).sum(2),
        "mean": lambda x: x.mean((2, 3)),
        "amax": lambda x: x.amax(-1),
        "amin": lambda x: x.amin((0, 1)),
        "max of all": lambda x: x.max(),
        "max of an axis": lambda x: x.max(1)[0],
        "place of the max": lambda x: x.max(1, keepdim=True)[1],
        "prod": lambda x: x.prod(1),
        "any": lambda x: (x > 2).any(1),
        "all": lambda x: (x > -2).all(),
        "argmax": lambda x: x.argmax(-1),
        "argmax of all": lambda x: x.argmax(),
        "argmin, kept": lambda x: x.argmin(1, keepdim=True),
        "var": lambda x: x.var(1),
        "var, no correction": lambda x: x.var((2, 3), correction=0, keepdim=True),
        "std": lambda x: x.std(-1),
        "var_mean": lambda x: torch.var_mean(x, 1, keepdim=True)[1],
        "norm": lambda x: x.norm(dim=1),
        "norm 1": lambda x: torch.linalg.vector_norm(x, 1, dim=(1, 2)),
        "norm inf": lambda x: torch.linalg.vector_norm(x, float("inf"), dim=-1),
        "logsumexp": lambda x: x.logsumexp((1, 2)),
        "cumsum": lambda x: x.cumsum(1),
        "cosine_similarity": lambda x: F.cosine_similarity(x, x + 1, dim=1),
        "softmin": lambda x: F.softmin(x, dim=1),
    },
    lambda: (random(2, 4, 7, 9),),
)


@pytest.mark.parametrize("name", PRODUCTS.functions)
def test_products(name):
    PRODUCTS.check(name)


@pytest.mark.parametrize("name", IMAGES.functions)
def test_images(name):
    IMAGES.check(name)


def test_an_encoder_layer_of_torch():
    layer = nn.TransformerEncoderLayer(16, 2, 24, batch_first=True, norm_first=True, activation="gelu")
    check(layer.eval(), random(2, 5, 16))
