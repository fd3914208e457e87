"""The work of the stages grows with the functions of a model, not with their square."""

from harness.graphs import graph_of

from tir_mlir.dialect.graph import views as graph_views
from tir_mlir.dialect.ir import views
from tir_mlir.graph.compile import compile_graph


def chains(count):
    """A graph of this many chains of two operators, each of another width: as many groups, all different."""
    widths = [(4, 3 + number) for number in range(count)]
    return graph_of(lambda b, *xs: tuple(b.op("nn.relu", b.op("exp", x)) for x in xs), *widths)


def functions_seen(monkeypatch, count):
    """How many functions are seen in walks over the functions of modules."""
    seen = []

    def counted(root, direct_ops=views.direct_ops):
        inner = direct_ops(root)
        seen.append(len(inner) if root.name == "builtin.module" else 0)
        return inner

    graph = chains(count)
    with monkeypatch.context() as patch:
        patch.setattr(views, "direct_ops", counted)
        patch.setattr(graph_views, "direct_ops", counted)
        compile_graph(graph, until="pack_weights")
    return sum(seen)


def test_no_stage_walks_the_module_once_for_each_function(monkeypatch):
    few, many = functions_seen(monkeypatch, 4), functions_seen(monkeypatch, 16)
    assert 0 < many < 4.4 * few
