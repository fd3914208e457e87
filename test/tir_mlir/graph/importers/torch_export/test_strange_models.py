"""What a graph cannot be: each model is refused with its line and a way out."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import tir_mlir  # noqa: E402
from tir_mlir import te  # noqa: E402
from tir_mlir.dialect.diagnostics import GraphError  # noqa: E402

torch.set_num_threads(1)


class Decides(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x + 1
        return x - 1


class Counts(torch.nn.Module):
    def forward(self, x):
        return torch.zeros(int(x[0, 0].item())) + 1


class Transforms(torch.nn.Module):
    def forward(self, x):
        return torch.sqrt(torch.fft.rfft(x)).abs()


class Draws(torch.nn.Module):
    def forward(self, x):
        return x + torch.rand_like(x)


@pytest.mark.parametrize(
    ("model", "line", "reason", "fix"),
    [
        (Decides, "if x.sum() > 0:", "a decision that is known only when it runs", "torch.where(condition, a, b)"),
        (Counts, "int(x[0, 0].item())", "a number or a decision", "decide in Python"),
        (
            Transforms,
            "torch.sqrt(torch.fft.rfft(x))",
            "not known of complex numbers",
            "the real and the imaginary part",
        ),
        (Draws, "torch.rand_like(x)", "it draws random numbers", "or pass the numbers"),
    ],
)
def test_the_line_and_a_way_out_are_told(model, line, reason, fix):
    with pytest.raises(GraphError) as raised:
        tir_mlir.from_torch(model(), (torch.randn(3, 3),))
    text = str(raised.value)
    place = next(words for words in text.splitlines() if "test_strange_models.py:" in words)
    assert line in place and reason in text and fix in text.partition("fix: ")[2] and len(text) < 500


def test_all_refusals_are_reported_at_once():
    class Both(torch.nn.Module):
        def forward(self, x):
            return torch.sqrt(torch.fft.rfft(x)).abs(), torch.geqrf(x)

    report = tir_mlir.supported(Both(), (torch.randn(3, 3),))
    operators = [r.operator for r in report.refusals]
    assert not report and operators == ["aten.sqrt.default", "aten.geqrf.default"]
    assert all(
        r.operator in line and r.location in line
        for r, line in zip(report.refusals, report.table().splitlines()[2:], strict=False)
    )
    assert tir_mlir.supported(torch.nn.ReLU(), (torch.randn(3),))


def test_float8_is_for_weights():
    with pytest.raises(GraphError, match=r"the input x is torch.float8_e5m2\n  fix: pass it as bfloat16"):
        tir_mlir.from_torch(Draws(), (torch.zeros(2, dtype=torch.float8_e5m2),))
    with pytest.raises(GraphError, match=r"to.*: it rounds to float8, .*\n(.*\n)?  fix: bfloat16"):
        tir_mlir.from_torch(lambda x: x.to(torch.float8_e5m2).float(), (torch.zeros(2),))


@torch.library.custom_op("tir_mlir_test::twist", mutates_args=())
def twist(x: torch.Tensor) -> torch.Tensor:
    return x.flip(0) * 2


@twist.register_fake
def _(x):
    return torch.empty_like(x)


class Twists(torch.nn.Module):
    def forward(self, x):
        return twist(x) + 1


def test_a_custom_operator_is_refused_or_given():
    with pytest.raises(GraphError, match=r"tir_mlir_test.twist.default, .*\n.*return twist\(x\) \+ 1\n  fix: .*ops="):
        tir_mlir.from_torch(Twists(), (torch.randn(3),))
    given = {torch.ops.tir_mlir_test.twist.default: lambda x: te.compute((3,), lambda i: x[2 - i] * 2)}
    lib = tir_mlir.build(tir_mlir.from_torch(Twists(), (torch.randn(3),), ops=given), threads=1)
    assert lib(torch.tensor([1.0, 2.0, 3.0])).tolist() == [7, 5, 3]


class Aliases(torch.nn.Module):
    def forward(self, x):
        y = x.clone()
        row = y[0]
        row.add_(1)
        y.view(-1)[2] = 5.0
        torch.einsum("ij->ji", y)[1] = 7.0
        return y * 2


@pytest.mark.nightly
def test_writes_through_views_are_translated():
    lib = tir_mlir.build(tir_mlir.from_torch(Aliases(), (torch.zeros(2, 3),)), threads=1)
    x = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(lib(x), Aliases()(x))


class Writes(torch.nn.Module):
    def forward(self, x):
        x[0].add_(1)
        return x * 2


def test_a_write_to_an_input_is_refused():
    with pytest.raises(GraphError, match=r'forward writes to x, .*\n  fix: .*mutated="return"'):
        tir_mlir.from_torch(Writes(), (torch.zeros(2, 3),))


class Overlaps(torch.nn.Module):
    def forward(self, x):
        y = x.clone()
        y.unfold(1, 2, 1).fill_(3)
        return y


def test_a_write_to_windows_that_overlap_is_refused():
    with pytest.raises(GraphError, match="mutated that has internal overlap"):
        tir_mlir.from_torch(Overlaps(), (torch.zeros(2, 3),))


class Sparse(torch.nn.Module):
    def __init__(self, kind):
        super().__init__()
        weight = torch.eye(3)
        weight = weight.to_sparse() if kind == "coo" else weight.to_sparse_csr()
        if kind == "coo":
            self.weight = torch.nn.Parameter(weight, requires_grad=False)
        else:
            self.register_buffer("weight", weight)

    def forward(self, x):
        return torch.sparse.mm(self.weight, x) + x.unsqueeze(0).sum(0)


@pytest.mark.parametrize(("kind", "layout"), [("coo", "sparse_coo"), ("csr", "sparse_csr")])
@pytest.mark.filterwarnings("ignore:Sparse")
def test_a_sparse_weight_is_refused_by_name(kind, layout):
    """Before torch decomposes the program, which aborts the process."""
    message = rf"from_torch: weight is a tensor of layout {layout}, .*\n  fix: store weight.to_dense\(\)"
    with pytest.raises(GraphError, match=message):
        tir_mlir.from_torch(Sparse(kind).eval(), (torch.zeros(3, 3),))
    with pytest.raises(GraphError, match="example input 0 is a tensor of layout sparse_coo"):
        tir_mlir.from_torch(Writes(), (torch.zeros(2, 3).to_sparse(),))


def test_an_exported_program_with_a_sparse_weight_is_refused_by_name():
    program = torch.export.export(Writes(), (torch.zeros(2, 3),))
    program.state_dict["extra.weight"] = torch.eye(3).to_sparse()
    with pytest.raises(GraphError, match=r"extra\.weight is a tensor of layout sparse_coo"):
        tir_mlir.from_torch(program)
