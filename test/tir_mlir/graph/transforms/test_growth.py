"""The work of the stages grows with the functions of a model, not with their square."""

from types import SimpleNamespace

from harness.graphs import graph_of
from mlir import ir

from tir_mlir import te
from tir_mlir.dialect.graph import views as graph_views
from tir_mlir.dialect.ir import symbols, views
from tir_mlir.graph import builder
from tir_mlir.graph.compile import compile_graph


def chains(count):
    """A graph of this many chains of two operators, each of another width: as many groups, all different."""
    widths = [(4, 3 + number) for number in range(count)]
    return graph_of(lambda b, *xs: tuple(b.op("nn.relu", b.op("exp", x)) for x in xs), *widths)


def functions_seen(monkeypatch, count):
    """How many functions are seen in walks over the functions of modules, and in making tables of them."""
    seen = []

    def counted(root, direct_ops=views.direct_ops):
        inner = direct_ops(root)
        seen.append(len(inner) if root.name == "builtin.module" else 0)
        return inner

    def table(module):
        seen.append(len(module.regions[0].blocks[0].operations))
        return ir.SymbolTable(module)

    with monkeypatch.context() as patch:
        patch.setattr(views, "direct_ops", counted)
        patch.setattr(graph_views, "direct_ops", counted)
        patch.setattr(symbols, "ir", SimpleNamespace(SymbolTable=table))
        compile_graph(chains(count), until="pack_weights")
    return sum(seen) / count


def test_what_is_seen_of_a_module_for_each_function_does_not_grow_with_their_number(monkeypatch):
    few, many = functions_seen(monkeypatch, 4), functions_seen(monkeypatch, 24)
    assert 0 < many <= few


def test_a_program_that_is_added_is_compared_with_equal_ones_only(monkeypatch):
    read = []
    monkeypatch.setattr(
        builder, "canonical", lambda module, content=builder.canonical: read.append(1) or content(module)
    )
    graph_of(
        lambda b, *xs: tuple(b.call_te(lambda a: te.compute(a.shape, lambda i, j: a[i, j]), x) for x in xs),
        *((4, width) for width in (8, 16, 24, 8)),
    )
    assert len(read) == 4
