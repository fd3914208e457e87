"""Operators of torch that order, write at positions that are data, read images, and transform: the results are
torch's."""

import pytest
from harness.torch_models import Family, both

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
pytestmark = pytest.mark.nightly
F = torch.nn.functional


def numbers():
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(4, 7, generator=generator)
    n = torch.randint(0, 3, (9, 4), generator=generator)
    row = torch.randn(150, generator=generator)
    i = torch.randint(0, 4, (5, 7), generator=generator)
    s = torch.randn(5, 7, generator=generator)
    return x, row, n, s, i


def with_nan(x):
    return torch.where(x > 1, float("nan"), x)


def written(x, i):
    y = x.clone()
    y[:, i[0, :2]] = 3.0
    return y


def no_diagonal(x):
    y = x[:0, :0].clone()
    y.diagonal().mul_(2)
    return y


ORDERED = {
    "topk": lambda x: torch.topk(x, 3)[0],
    "places of topk": lambda x: torch.topk(x, 2, 0, largest=False)[1],
    "topk of one": lambda x: torch.topk(x[:, :1], 1)[0],
    "topk of a long row": lambda row: torch.topk(row, 9)[1],
    "sort": lambda x: torch.sort(x)[1],
    "sort of a long row": lambda row: torch.sort(row, descending=True)[1],
    "stable sort": lambda n: torch.sort(n, dim=0, stable=True)[1],
    "sort with NaN": lambda x: torch.sort(with_nan(x), stable=True)[1],
    "sort of no rows": lambda x: torch.sort(x[:0])[0],
    "sort of zeros": lambda row: torch.sort(torch.where(row > 0, 0.0, -0.0), stable=True)[1],
    "argsort of a number": lambda x: torch.argsort(x[0, 0]),
    "kthvalue": lambda x: torch.kthvalue(x, 2)[0],
    "median": lambda x: torch.median(x, 1)[0],
    "median with NaN": lambda x: torch.median(with_nan(x), 1)[0],
    "nanmedian": lambda x: torch.nanmedian(with_nan(x), 1)[0],
    "mode": lambda n: torch.mode(n, 0)[0],
    "searchsorted": lambda x, s: torch.searchsorted(torch.sort(x)[0], s[:4]),
    "bucketize": lambda x: torch.bucketize(x, torch.tensor([-1.0, 0.0, 1.0]), right=True),
    "bucketize of NaN": lambda x: torch.bucketize(with_nan(x), torch.tensor([-1.0, 0.0, 1.0])),
    "cat of nothing": lambda x: torch.cat([x[0, :0], x[0, :0]]),
    "a write to no diagonal": no_diagonal,
    "index_put": lambda x, i, s: torch.index_put(x, (i[:, 0],), s, accumulate=True),
    "index_put of columns": written,
    "index_put of a mask": lambda x: torch.index_put(x, (x > 0,), torch.tensor(5.0)),
    "scatter": lambda x, i, s: x.scatter(0, i[:1], s[:1]),
    "scatter a number": lambda x, i: x.scatter(0, i, 2.5),
    "scatter_add": lambda x, i, s: x.scatter_add(0, i, s),
    "scatter_reduce mean": lambda x, i, s: x.scatter_reduce(0, i, s, "mean"),
    "scatter_reduce amax alone": lambda x, i, s: x.scatter_reduce(0, i, s, "amax", include_self=False),
    "scatter_reduce prod": lambda x, i, s: x.scatter_reduce(0, i, s, "prod", include_self=False),
    "masked_scatter": lambda x, row: x.masked_scatter(x > 0, row),
    "histc": lambda row: torch.histc(row, 10, -2, 2),
    "histc of its range": lambda row: torch.histc(row, 7),
    "cumprod": lambda x: torch.cumprod(x, 1),
    "cumsum of a long row": lambda row: torch.cumsum(row, 0),
    "cummax": lambda n: torch.cummax(n, 0)[1],
    "logcumsumexp": lambda x: torch.logcumsumexp(x, 1),
    "norm of any order": lambda x: torch.linalg.vector_norm(x, 2.5, 1),
    "norm of order 0": lambda n: torch.linalg.vector_norm(n.float(), 0, 1),
    "cdist": lambda x, s: torch.cdist(x, s, 1.0),
    "diagonal": lambda x: torch.diagonal(x, 2),
    "einsum of a diagonal": lambda x: torch.einsum("ii->i", x[:, :4]),
    "einsum of dots": lambda x: torch.einsum("...ij,...jk->...ik", x[None], x.T[None]),
    "embedding_bag": lambda i, x: F.embedding_bag(i.flatten(), x, torch.tensor([0, 3, 3, 9]), mode="max"),
    "embedding_bag of rows": lambda i, x: F.embedding_bag(i, x, mode="mean"),
    "as_strided": lambda x: x.as_strided((3, 4), (2, 2), 1),
    "windows": lambda x: x.unfold(1, 3, 2),
    "functions": lambda x: torch.lgamma(x) + torch.digamma(x + 3) + torch.erfc(x) + torch.erfinv(x / 4),
    "copysign": lambda x, s: torch.copysign(x, s[:4]) + torch.hypot(x, s[:4]) + torch.fmax(with_nan(x), x),
    "shifts": lambda n: (n << 2) ^ (n >> 1),
}
FAMILY = Family(ORDERED, numbers)


@pytest.mark.parametrize("name", ORDERED)
def test_ordered(name):
    FAMILY.check(name)


def images():
    generator = torch.Generator().manual_seed(4)
    x = torch.randn(2, 3, 7, 6, generator=generator)
    return x, torch.randn(2, 4, 3, 2, generator=generator), torch.randn(3, 2, 4, 4, generator=generator)


GRIDS = [("bilinear", "zeros"), ("bilinear", "reflection"), ("nearest", "border"), ("bicubic", "zeros")]
IMAGES = {
    **{
        f"grid_sample {method} {padding} {corners}": lambda x, g, m=method, p=padding, c=corners: F.grid_sample(
            x, g, m, p, c
        )
        for method, padding in GRIDS
        for corners in (True, False)
    },
    "unfold": lambda x: F.unfold(x, (3, 2), 1, 1, (2, 1)),
    "fold": lambda x: F.fold(F.unfold(x, 3, padding=1), (7, 6), 3, padding=1),
    "adaptive_max_pool2d": lambda x: F.adaptive_max_pool2d(x, (3, 4), return_indices=True)[1],
    "avg_pool2d, divisor": lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, divisor_override=5),
    "pad circular": lambda x: F.pad(x, (2, 1, 0, 3), mode="circular"),
    "nearest by scale": lambda x: F.interpolate(x, scale_factor=1.7),
    "nearest-exact": lambda x: F.interpolate(x, (3, 9), mode="nearest-exact"),
    "linear by scale": lambda x: F.interpolate(x, scale_factor=0.6, mode="bilinear"),
    "cubic": lambda x: F.interpolate(x, (9, 4), mode="bicubic"),
    "smooth": lambda x: F.interpolate(x, (3, 9), mode="bicubic", antialias=True),
    "conv_transpose2d": lambda x, w: F.conv_transpose2d(x, w, None, (2, 3), 1, 1),
    "conv_transpose2d of groups": lambda x, w: F.conv_transpose2d(x[:, :2], w[:2, :1], None, 2, 0, 0, 2),
    "batch_norm of training": lambda x: F.batch_norm(x, None, None, training=True),
    "fft": lambda x: torch.view_as_real(torch.fft.fft2(x)),
    "rfft and irfft": lambda x: torch.fft.irfft(torch.fft.rfft(x, norm="ortho") * 2, n=6, norm="ortho"),
    "fft of 96 elements": lambda x: torch.fft.fft(x.flatten()[:96]).abs(),
    "stft": lambda x: torch.stft(x.flatten(1), 16, 4, window=torch.hann_window(16), return_complex=True).abs(),
    "complex pad": lambda x: torch.view_as_real(F.pad(torch.complex(x, x * 2), (1, 2), value=2.0)),
    "complex product": lambda x: torch.view_as_real(torch.complex(x, x * 2) / torch.polar(x.abs() + 1, x)),
}  # fmt: skip
PICTURES = Family(IMAGES, images)


@pytest.mark.parametrize("name", IMAGES)
def test_images(name):
    PICTURES.check(name)


def test_rows_of_groups_times_the_matrix_of_their_group():
    ops = torch.ops.aten._grouped_mm

    def model(x, w, ends):
        return ops(x, w, ends)

    generator = torch.Generator().manual_seed(0)
    x, w = torch.randn(8, 16, generator=generator), torch.randn(3, 16, 8, generator=generator)
    ((ours, wanted),) = both(model, x.bfloat16(), w.bfloat16(), torch.tensor([2, 2, 8], dtype=torch.int32))
    ours, wanted = (torch.from_numpy(v.copy()).view(torch.bfloat16).float() for v in (ours, wanted))
    torch.testing.assert_close(ours, wanted, rtol=1e-2, atol=1e-2)
