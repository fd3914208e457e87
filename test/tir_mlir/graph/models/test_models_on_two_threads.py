"""Operators and models that are large enough for two threads: what is parallel is lowered, and right."""

import pytest
from harness.torch_models import bits, compare

from tir_mlir import build
from tir_mlir.examples import models
from tir_mlir.graph.precision.formats import format_of, round_weight

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from tir_mlir import from_torch  # noqa: E402

F = torch.nn.functional


def tensors(*shapes):
    generator = torch.Generator().manual_seed(0)
    return [torch.rand(shape, generator=generator) - 0.5 for shape in shapes]


PARTS = [(32, 1024), (32, 1024), (48, 1024)]
CASES = {
    "cat": (lambda a, b, c: torch.cat([a, b, c]), PARTS),
    "cat, the last alike": (lambda a, b, c: torch.cat([c, a, b]), PARTS),
    "cat of four": (lambda a, b, c: torch.cat([a, b, a, c]), PARTS),
    "cat of columns": (lambda a, b, c: torch.cat([a, b, c], 1), [(64, 512), (64, 512), (64, 96)]),
    "cat in the middle": (lambda a, b, c: torch.cat([a, b, c], 1), [(2, 8, 2048)] * 3),
    "stack": (lambda a, b, c: torch.stack([a, b, c]), [(64, 512)] * 3),
    "stack in the middle": (lambda a, b, c: torch.stack([a, b, c], 1), [(64, 512)] * 3),
    "where": (lambda a, b: torch.where(a > 0, a, torch.where(b > 0, b, a + b)), [(128, 512)] * 2),
    "pad": (lambda a: F.pad(a, (3, 5, 2, 1)), [(128, 512)]),
    "roll": (lambda a: torch.roll(a, (3, 5), (0, 1)), [(512, 1024)]),
    "transpose": (lambda a: (a.T + 1).contiguous(), [(1100, 1030)]),
    "sum": (lambda a: a.sum(1), [(512, 520)]),
    "softmax": (lambda a: a.softmax(-1), [(96, 700)]),
    "layer norm": (lambda a, w, b: F.layer_norm(a, (768,), w, b), [(96, 768), (768,), (768,)]),
    "linear, gelu": (lambda a, w, b: F.gelu(F.linear(a, w, b)), [(96, 160), (192, 160), (192,)]),
    "convolution": (lambda a, w: F.conv2d(a, w, padding=1).relu(), [(1, 16, 32, 32), (32, 16, 3, 3)]),
    "attention": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), [(1, 4, 96, 32)] * 3),
}  # fmt: skip


@pytest.fixture(scope="module")
def family():
    """What all cases compute, and what torch does: one model of all of them, so that they are built at once."""
    inputs = {name: tensors(*shapes) for name, (_, shapes) in CASES.items()}
    places, given = {}, []
    for name, own in inputs.items():
        places[name] = slice(len(given), len(given) + len(own))
        given += own

    class Cases(torch.nn.Module):
        def forward(self, *xs):
            return [CASES[name][0](*xs[at]) for name, at in places.items()]

    model = build(from_torch(Cases(), tuple(given)), threads=2)
    results = zip(model(*map(bits, given)), map(bits, Cases()(*given)), strict=True)
    return model, dict(zip(CASES, results, strict=True))


@pytest.mark.nightly
def test_every_function_is_parallel(family):
    """But for transposed weights, which are small."""
    scripts = {name: function.script() for name, function in family[0].graph.module.prim_funcs.items()}
    serial = [name for name, script in scripts.items() if "T.parallel" not in script]
    assert len(scripts) >= len(CASES) and not [name for name in serial if not name.startswith("permute_dims")]


@pytest.mark.nightly
@pytest.mark.parametrize("name", CASES)
def test_an_operator(family, name):
    compare(*family[1][name])


@pytest.mark.few(1)
@pytest.mark.parametrize("form", ["int8", "int4"])
@pytest.mark.nightly
def test_a_decoder_of_128_tokens_with_rounded_weights(form):
    """Its hidden layer does not fit in L2, and takes the memory of one of the products that it is computed from."""
    example = models.example("llama-block", tiny=True, dim=128, heads=4, hidden=2048, tokens=128)
    built = build(from_torch(example.model, example.inputs), threads=2, weights=form)
    found = built(*map(bits, example.inputs))
    for layer in example.model.modules():
        if isinstance(layer, torch.nn.Linear):
            layer.weight.data = torch.from_numpy(round_weight(layer.weight.numpy(), format_of(form), 0).values)
    for ours, torchs in zip(found, example.model(*example.inputs), strict=True):
        compare(ours, bits(torchs), 1e-4)
