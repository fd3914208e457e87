"""Tensors whose sizes data decide on: memory for their bound, a count that travels with them, results that are cut."""

import ctypes
import warnings

import numpy as np
import pytest

import tir_mlir
from tir_mlir.errors import GraphError
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.compile import compile_graph
from tir_mlir.passes.lower import LoweringWarning

torch = pytest.importorskip("torch")


class Chosen(torch.nn.Module):
    """Rows that data choose, and what is computed of them."""

    def forward(self, x):
        places = torch.nonzero(x > 0)
        rows = x[x.sum(1) > 0]
        small = torch.masked_select(x, x < -1)
        y = x.clone()
        y[x < -1] = small + 1
        ordered, order = torch.sort(rows, dim=0, descending=True, stable=True)
        best = torch.topk(torch.cat([small, x[0]]), 2)[0]
        joined = torch.cat([rows, rows * 2], 1)
        products = rows @ rows.T, rows.T @ rows, rows.mean(0)
        return places, *products, joined, x[places[:, 0]], y, ordered, order, best, small.numel() * x, rows.softmax(0)


class Branched(torch.nn.Module):
    """A branch whose result has as many rows as the side that runs has chosen."""

    def forward(self, x):
        rows = torch.cond(x.sum() > 0, lambda x: x[x[:, 0] > 0] * 2, lambda x: x[:2] + 1, (x,))
        return rows, rows.sum(0), torch.arange(rows.shape[0])


class Different(torch.nn.Module):
    def forward(self, x):
        once, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
        return once, inverse, counts, once[inverse], torch.unique_consecutive(x)


class OfChosen(torch.nn.Module):
    """What is in order of elements that data choose."""

    def forward(self, x):
        mask = x > 0
        chosen = x[mask]
        once, inverse = torch.unique(chosen, return_inverse=True)
        return once, inverse, chosen.median(), chosen.nanmedian(), chosen.long().median(), chosen + x.exp()[mask]


class DifferentRows(torch.nn.Module):
    def forward(self, x):
        once = torch.unique(x, dim=1, return_inverse=True, return_counts=True)
        return *once, torch.repeat_interleave(x, x[:, 0] + 1, dim=0, output_size=5)


class Cut(torch.nn.Module):
    def forward(self, x, begin, end):
        rows = x[:, begin.item() : end.item()]
        return rows * 2, rows.sum(1)


@pytest.fixture(scope="module")
def graph():
    return tir_mlir.from_torch(Chosen(), (torch.randn(6, 4),))


@pytest.fixture(scope="module")
def model(graph):
    return tir_mlir.build(graph)


@pytest.mark.nightly
@pytest.mark.parametrize("x", [torch.arange(-11.0, 13).reshape(6, 4), -torch.ones(6, 4), torch.ones(6, 4)])
def test_results_have_as_many_rows_as_data_choose(model, x):
    for ours, theirs in zip(model(x), Chosen()(x), strict=True):
        torch.testing.assert_close(ours, theirs, equal_nan=True)


@pytest.mark.nightly
def test_a_branch_decides_on_a_size():
    lib = tir_mlir.build(tir_mlir.from_torch(Branched(), (torch.randn(4, 3),)), threads=1)
    x = torch.tensor([[1.0, 2, 3], [-1, 0, 0], [2, 2, 2], [0, 0, 0]])
    for given, rows in ((x, x[x[:, 0] > 0] * 2), (-x, 1 - x[:2]), (x.flip(1) - 0.5, None)):
        want = (given[given[:, 0] > 0] * 2) if rows is None else rows
        for ours, theirs in zip(lib(given), (want, want.sum(0), torch.arange(len(want))), strict=True):
            torch.testing.assert_close(ours, theirs)


@pytest.mark.nightly
def test_each_stage_is_verified(graph):
    compile_graph(graph, verify=True)


@pytest.mark.nightly
def test_different_elements():
    x = torch.tensor([3, 1, 3, 3, 2, 2])
    for ours, theirs in zip(tir_mlir.build(tir_mlir.from_torch(Different(), (x,)))(x), Different()(x), strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.nightly
def test_different_elements_and_the_median_of_what_data_choose():
    with warnings.catch_warnings(action="error", category=LoweringWarning):
        lib = tir_mlir.build(tir_mlir.from_torch(OfChosen(), (torch.randn(4, 3),)), threads=1)
    x = torch.tensor([[2.0, 3, -1], [2, 7, 7], [-2, 0, 7], [9, 1, 4]])
    for given in (x, -x):
        for ours, theirs in zip(lib(given), OfChosen()(given), strict=True):
            torch.testing.assert_close(ours, theirs)
    once, *_, together = lib(-x.abs())
    assert once.shape == together.shape == (0,)


@pytest.mark.nightly
def test_different_rows_and_rows_repeated_by_data():
    x = torch.tensor([[0, 0, 0], [1, 0, 1], [1, 1, 1]])
    lib = tir_mlir.build(tir_mlir.from_torch(DifferentRows(), (x,)))
    for ours, theirs in zip(lib(x), DifferentRows()(x), strict=True):
        assert torch.equal(ours, theirs)


def _branched(factor: float = 2.0, least: int = 0, rows: int = 2):
    """A branch whose sides choose rows."""
    b = GraphBuilder()
    x, p = b.input("x", (4, 3)), b.input("p", (), "bool")

    def chosen(r, x):
        first = r.op("reshape", r.op("strided_slice", x, axes=[1], begin=[0], end=[1]), shape=(4,))
        places, count = r.op("true_places", r.op("greater", first, r.constant(np.float32(0))))
        places = r.op("first_rows", places, count, rows={"size": "u0"}, least=least)
        return r.op("multiply", r.op("take", x, places, axis=0), r.constant(np.float32(factor)))

    def first(r, x):
        return r.op("strided_slice", x, axes=[0], begin=[0], end=[rows])

    b.output(b.branch(p, chosen, first, [x], counted={0: (0, "u1")}))
    return b.finish()


def test_each_stage_of_a_branch_that_decides_on_a_size_is_verified():
    graph = _branched()
    assert compile_graph(graph, until="simplify").verify(graph)  # both zeros become one


@pytest.mark.parametrize("other", [{"factor": 3.0}, {"least": 3}, {"rows": 3}], ids=["row", "count", "rows"])
def test_another_row_or_count_of_a_branch_is_told(other):
    assert not _branched(**other).verify(_branched())


@pytest.mark.nightly
def test_slices_by_numbers_from_data():
    x, places = torch.randn(2, 6), [(1, 4), (-3, -1), (0, 9), (3, 2)]
    lib = tir_mlir.build(tir_mlir.from_torch(Cut(), (x, torch.tensor(1), torch.tensor(4))), threads=1)
    for pair in places:
        given = x, *map(torch.tensor, pair)
        for ours, theirs in zip(lib(*given), Cut()(*given), strict=True):
            torch.testing.assert_close(ours, theirs)


def _rows(bound: int = 8, least: int = 0):
    b = GraphBuilder()
    x, count = b.input("x", (bound, 3)), b.input("count", (), "int64")
    return b, b.op("first_rows", x, count, rows={"size": "rows"}, least=least)


@pytest.mark.parametrize(("count", "least", "rows"), [(5, 0, 5), (-2, 0, 0), (9, 0, 8), (2, 3, 3)])
def test_a_count_is_limited(count, least, rows):
    b, first = _rows(least=least)
    b.output(b.op("sum", first, axis=[0]))
    x = np.ones((8, 3), "float32")
    assert tir_mlir.build(b.finish())(x, np.array(count)).tolist() == [rows] * 3


def test_the_arena_has_room_for_the_greatest_size():
    b, first = _rows(1000)
    b.output(b.op("sum", b.op("cumsum", first, axis=0), axis=None))
    assert tir_mlir.build(b.finish()).memory.arena >= 12000


def test_an_exported_model_tells_the_count(tmp_path):
    b, first = _rows()
    b.output(first)
    files = {path.name: path for path in tir_mlir.build(b.finish(), threads=1).export(tmp_path / "m")}
    assert ", where rows is out1[0]; behind it are no values" in files["m.h"].read_text()
    out, count = np.zeros((8, 3), "float32"), np.array(5)
    told, x = np.zeros((), "int64"), np.arange(24, dtype="float32").reshape(8, 3)
    lib = ctypes.CDLL(str(files["m.so"]))
    lib.m_open.restype = lib.m_error.restype = ctypes.c_void_p
    space = np.zeros(1 << 16, "int8")
    arena = space.ctypes.data + -space.ctypes.data % 64
    given = [x.ctypes.data, count.ctypes.data, out.ctypes.data, told.ctypes.data, arena]
    opened = ctypes.c_void_p(lib.m_open(str(files["m.safetensors"]).encode()))
    assert lib.m_run(opened, *map(ctypes.c_void_p, given)) == 0
    assert told == 5
    assert (out[:5] == x[:5]).all()


def test_a_size_stays_in_its_region():
    b = GraphBuilder()
    x, count = b.input("x", (8, 3)), b.input("count", (), "int64")
    with pytest.raises(GraphError, match="a branch or a loop returns a tensor whose size rows data in it decide on"):
        b.branch(b.op("greater", count, 2), *[lambda r: r.op("first_rows", x, count, rows={"size": "rows"})] * 2)


@pytest.mark.nightly
def test_onnx():
    onnx = pytest.importorskip("onnx")
    node, value, types = onnx.helper.make_node, onnx.helper.make_tensor_value_info, onnx.TensorProto
    nodes = [
        node("NonZero", ["x"], ["places"]),
        node("Compress", ["x", "chosen"], ["columns"], axis=1),
        node("Unique", ["n"], ["once", "first", "inverse", "counts"]),
    ]
    inputs = [value("x", types.FLOAT, [2, 3]), value("chosen", types.BOOL, [3]), value("n", types.INT64, [6])]
    names = ("places", "columns", "once", "first", "inverse", "counts")
    outputs = [value(name, types.FLOAT if name == "columns" else types.INT64, None) for name in names]
    lib = tir_mlir.build(
        tir_mlir.from_onnx(onnx.helper.make_model(onnx.helper.make_graph(nodes, "g", inputs, outputs)))
    )
    x, chosen, n = (
        np.array([[0, 1, 2], [3, 0, 0]], "float32"),
        np.array([True, False, True]),
        np.array([3, 1, 3, 3, 2, 2]),
    )
    want = [np.stack(np.nonzero(x)), x[:, chosen], *np.unique(n, True, True, True)]
    for ours, theirs in zip(lib(x, chosen, n), want, strict=True):
        np.testing.assert_array_equal(ours, theirs)
