"""The outer-product kernel of ARM's SME: C[m, n] += the sum over k of column k of A by column k of B.

The tile C is in ZA, the accumulator of the matrix unit, over the whole sum; `fmopa` adds one outer product. The
length of the streaming vectors is asked of the CPU: a tile larger than ZA is computed in parts, a smaller one with
the other lanes off.
"""

from __future__ import annotations

_VECTOR = "vector<[4]xf32>"
_LANES = "vector<[4]xi1>"

_KERNEL = """
llvm.func @{name}(%c: !llvm.ptr, %a: !llvm.ptr, %b: !llvm.ptr, %stride_a: i32, %stride_b: i32, %stride_c: i32) -> i32
    attributes {{arm_locally_streaming, arm_new_za, no_inline}} {{
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %four = llvm.mlir.constant(4 : i64) : i64
  %m = llvm.mlir.constant({m} : i64) : i64
  %n = llvm.mlir.constant({n} : i64) : i64
  %k = llvm.mlir.constant({k} : i64) : i64
  %za0 = llvm.mlir.constant(0 : i32) : i32
  %za1 = llvm.mlir.constant(1 : i32) : i32
  %za2 = llvm.mlir.constant(2 : i32) : i32
  %sc = llvm.sext %stride_c : i32 to i64
  %sa = llvm.sext %stride_a : i32 to i64
  %sb = llvm.sext %stride_b : i32 to i64
  %none = llvm.mlir.zero : {vector}
  %granules = "llvm.intr.vscale"() : () -> i64
  %width = llvm.mul %granules, %four : i64
  llvm.br ^rows(%zero : i64)
^rows(%i: i64):
  %in_rows = {lanes_i}
  %left = llvm.sub %m, %i : i64
  %height = llvm.intr.smin(%left, %width) : (i64, i64) -> i64
  llvm.br ^columns(%zero : i64)
^columns(%j: i64):
  %in_columns = {lanes_j}
  %right = llvm.sub %n, %j : i64
  %breadth = llvm.intr.smin(%right, %width) : (i64, i64) -> i64
  %ci = llvm.mul %i, %sc : i64
  %cij = llvm.add %ci, %j : i64
  %corner = llvm.getelementptr %c[%cij] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.br ^load(%zero, %corner : i64, !llvm.ptr)
{load_c}
{products}
^write:
  llvm.br ^store(%zero, %corner : i64, !llvm.ptr)
{store_c}
^next:
  %j1 = llvm.add %j, %width : i64
  %more_columns = llvm.icmp "slt" %j1, %n : i64
  llvm.cond_br %more_columns, ^columns(%j1 : i64), ^next_rows
^next_rows:
  %i1 = llvm.add %i, %width : i64
  %more_rows = llvm.icmp "slt" %i1, %m : i64
  llvm.cond_br %more_rows, ^rows(%i1 : i64), ^done
^done:
  llvm.return %za0 : i32
}}
"""

_COLUMNS = """^sum(%t: i64):
  %at = llvm.mul %t, %sa : i64
  %ati = llvm.add %at, %i : i64
  %bt = llvm.mul %t, %sb : i64
  %btj = llvm.add %bt, %j : i64
  %pa = llvm.getelementptr %a[%ati] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %pb = llvm.getelementptr %b[%btj] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %x = llvm.intr.masked.load %pa, %in_rows, %none {{alignment = 4 : i32}}
    : (!llvm.ptr, {lanes}, {vector}) -> {vector}
  %y = llvm.intr.masked.load %pb, %in_columns, %none {{alignment = 4 : i32}}
    : (!llvm.ptr, {lanes}, {vector}) -> {vector}
  {mopa}
  %t1 = llvm.add %t, %one : i64
  %more_terms = llvm.icmp "slt" %t1, %k : i64
  llvm.cond_br %more_terms, ^sum(%t1 : i64), ^write"""

_ROWS = """^sum(%t: i64):
  %in_terms = {lanes_t}
  %rest = llvm.sub %k, %t : i64
  %terms = llvm.intr.smin(%rest, %width) : (i64, i64) -> i64
  %ai = llvm.mul %i, %sa : i64
  %ait = llvm.add %ai, %t : i64
  %bj = llvm.mul %j, %sb : i64
  %bjt = llvm.add %bj, %t : i64
  %pa = llvm.getelementptr %a[%ait] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %pb = llvm.getelementptr %b[%bjt] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.br ^load_a(%zero, %pa : i64, !llvm.ptr)
{load_a}
^then_b:
  llvm.br ^load_b(%zero, %pb : i64, !llvm.ptr)
{load_b}
^term(%u: i64):
  %slice = llvm.trunc %u : i64 to i32
  %x = llvm.call_intrinsic "llvm.aarch64.sme.read.vert.nxv4f32"(%none, %in_rows, %za1, %slice)
    : ({vector}, {lanes}, i32, i32) -> {vector}
  %y = llvm.call_intrinsic "llvm.aarch64.sme.read.vert.nxv4f32"(%none, %in_columns, %za2, %slice)
    : ({vector}, {lanes}, i32, i32) -> {vector}
  {mopa}
  %u1 = llvm.add %u, %one : i64
  %more_terms = llvm.icmp "slt" %u1, %terms : i64
  llvm.cond_br %more_terms, ^term(%u1 : i64), ^next_terms
^next_terms:
  %t1 = llvm.add %t, %width : i64
  %more_blocks = llvm.icmp "slt" %t1, %k : i64
  llvm.cond_br %more_blocks, ^sum(%t1 : i64), ^write"""

_MOPA = (
    f'llvm.call_intrinsic "llvm.aarch64.sme.mopa.nxv4f32"(%za0, %in_rows, %in_columns, %x, %y) : '
    f"(i32, {_LANES}, {_LANES}, {_VECTOR}, {_VECTOR}) -> ()"
)


def sme_outer_product(name: str, m: int, n: int, k: int, packed: bool) -> str:
    """MLIR text of `llvm.func @name(c, a, b, stride_a, stride_b, stride_c) -> i32`. packed: A is k x m and B k x n,
    with columns adjacent; else A is m x k and B n x k, which ZA transposes."""
    types = {"vector": _VECTOR, "lanes": _LANES}
    if packed:
        products = _COLUMNS.format(mopa=_MOPA, **types)
    else:
        loads = {
            "load_a": _slices("load_a", "ld1w", "%za1", "%in_terms", "%sa", "%height", "^then_b"),
            "load_b": _slices("load_b", "ld1w", "%za2", "%in_terms", "%sb", "%breadth", "^term(%zero : i64)"),
        }
        products = _ROWS.format(mopa=_MOPA, lanes_t=_whilelt("%t", "%k"), **loads, **types)
    return _KERNEL.format(
        name=name, m=m, n=n, k=k, products=products, lanes_i=_whilelt("%i", "%m"), lanes_j=_whilelt("%j", "%n"),
        load_c=_slices("load", "ld1w", "%za0", "%in_columns", "%sc", "%height", "^sum(%zero : i64)"),
        store_c=_slices("store", "st1w", "%za0", "%in_columns", "%sc", "%height", "^next"),
        **types,
    )  # fmt: skip


def _whilelt(start: str, end: str) -> str:
    """The lanes whose index from `start` on is below `end`."""
    return f'llvm.call_intrinsic "llvm.aarch64.sve.whilelt.nxv4i1.i64"({start}, {end}) : (i64, i64) -> {_LANES}'


def _slices(label: str, instruction: str, tile: str, lanes: str, stride: str, count: str, then: str) -> str:
    """A loop over rows in memory: each is a horizontal slice of a tile of ZA."""
    return f"""^{label}(%{label}_r: i64, %{label}_row: !llvm.ptr):
  %{label}_slice = llvm.trunc %{label}_r : i64 to i32
  llvm.call_intrinsic "llvm.aarch64.sme.{instruction}.horiz"({lanes}, %{label}_row, {tile}, %{label}_slice)
    : ({_LANES}, !llvm.ptr, i32, i32) -> ()
  %{label}_r1 = llvm.add %{label}_r, %one : i64
  %{label}_row1 = llvm.getelementptr %{label}_row[{stride}] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %{label}_more = llvm.icmp "slt" %{label}_r1, {count} : i64
  llvm.cond_br %{label}_more, ^{label}(%{label}_r1, %{label}_row1 : i64, !llvm.ptr), {then}"""
