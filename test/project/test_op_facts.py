"""A fact about an op stands in its record, in `dialect/ops`: no other file has a table of ops."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from harness import ROOT
from project.test_layers import sources

from tir_mlir.dialect.ir import op_views
from tir_mlir.dialect.ir.context import context
from tir_mlir.dialect.ir.op_traits import OPS
from tir_mlir.dialect.ir.op_views import CopyOp, ReadOp, StoreOp, UpdateOp

OP = re.compile(r"(affine|arith|math|memref|scf|vector|func|builtin)\.[a-z][\w.]*")
QUOTED = re.compile(rf"""["']({OP.pattern}|load|store)["']""")
TABLE = ROOT / "dialect" / "ops"


def _names(nodes: list[ast.expr | None]) -> list[str]:
    texts = [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return [text for text in texts if OP.fullmatch(text)]


def _is_table(node: ast.AST, parent: ast.AST) -> bool:
    """Whether a literal lists two ops. No table are: the ops of a body in order, `names == ["arith.cmpi", "scf.if"]`; a
    set of the table and one or two ops more, `ALLOCS | {"memref.subview"}`; functions or words for messages by op."""
    if isinstance(node, (ast.Tuple, ast.Set, ast.List)):
        if isinstance(node, ast.List) and isinstance(parent, ast.Compare):
            return False
        few = isinstance(node, ast.Set) and isinstance(parent, ast.BinOp) and len(node.elts) <= 2
        return len(_names(list(node.elts))) > 1 and not few
    if isinstance(node, ast.Dict) and len(_names(list(node.keys))) > 1:
        values = [v.value for v in node.values if isinstance(v, ast.Constant)]
        return any(not isinstance(v, str) or " " not in v for v in values)
    return False


@cache
def tables(path: Path) -> list[str]:
    """The positions in a file with a table of ops, or with an op recognized by a part of its name."""
    text = path.read_text(encoding="utf-8")
    return list(_tables(path, text)) if QUOTED.search(text) else []


def _tables(path: Path, text: str) -> Iterator[str]:
    for parent in ast.walk(ast.parse(text)):
        if isinstance(parent, ast.Compare) and isinstance(parent.left, ast.Constant) and parent.left.value in _PARTS:
            if ast.unparse(parent.comparators[0]).endswith("name"):
                yield f"{path.relative_to(ROOT)}:{parent.lineno}: {ast.unparse(parent)}"
        for node in ast.iter_child_nodes(parent):
            if _is_table(node, parent):
                yield f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}: {ast.unparse(node)[:80]}"


_PARTS = ("load", "store")


def test_no_other_file_lists_ops():
    bad = [place for path in sources() if path.parent != TABLE for place in tables(path)]
    assert not bad, "ask tir_mlir.dialect.ir.op_traits, or add a fact to the records of dialect/ops:\n" + "\n".join(bad)


def test_few_files_name_a_load():
    """A new memory op is a row: what names a load in a file of its own would have to be read for it."""
    spelled = {str(p.relative_to(ROOT)) for p in sources() if '"affine.load"' in p.read_text(encoding="utf-8")}
    assert spelled == {"dialect/ops/memory.py"}


def test_a_row_names_an_op_of_mlir():
    registry = context()
    for name in OPS:
        registry.get_dialect_descriptor(name.partition(".")[0])
    assert not [name for name in OPS if not registry.is_registered_operation(name)]
    assert {row.unsigned for row in OPS.values() if row.unsigned} <= OPS.keys()


def test_a_memory_op_says_what_it_does():
    """An op that accesses a buffer has one of the classes from which the analyses take it."""
    for name in op_views.AccessOp.names:
        kinds = [kind for kind in (ReadOp, StoreOp, UpdateOp, CopyOp) if name in kind.names]
        assert len(kinds) == 1, name
