"""The outer-product kernel C[m,n] += A[m,k] * B[n,k]^T for any tile size, in the llvm dialect with vectors.

Each call transposes B, by loads of 4-element segments and two rounds of shuffles, into a stack buffer Bt[k][n]. Then,
per tile, `rows` x `columns` vectors of C remain in registers over the whole k loop; each step is a fused multiply-add
of a row of Bt with a broadcast element of A, read where the caller put it. Where Bt fits the registers, it remains
there and tiles are a few rows: a loop over short code. Sums run over k in ascending order from C's value, as in the
plain loop nest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tir_mlir.runtime.kernels.registry import emit, register_kernel
from tir_mlir.target.host import Host, host

_SEGMENT = 4  # floats of 128 bits, the unit in which wide shuffles are cheap
_UNROLL = 16  # steps of k in straight line
_CHAINS = 4  # sums in flight that hide the latency of a multiply-add, with those that the CPU starts ahead
_ROLLED = "{loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}"  # LLVM need not consider it


@dataclass(frozen=True)
class Tiling:
    """Vector width in floats, and the register tile: rows of C by vectors of C."""

    lanes: int
    rows: int
    columns: int


def tiling(m: int, n: int, k: int, host: Host) -> Tiling:
    """The register tile with the most multiply-adds per load that divides m x n and fits the registers; of fewer rows
    where k steps of its columns fit as well."""
    lanes = host.vector_bits // 32
    while n % lanes:
        lanes //= 2
    if lanes < _SEGMENT:
        raise ValueError(f"outer product: n = {n} is not a multiple of {_SEGMENT}")
    vectors = n // lanes
    fits = [
        (rows * columns / (rows + columns), rows, columns)
        for rows in _divisors(m)
        for columns in _divisors(vectors)
        if rows * columns + columns + 1 <= host.registers  # accumulators, a row of Bt, the broadcast
    ]
    _, rows, columns = max(fits)
    if k >= _UNROLL:  # enough steps for a load and a store of C
        least = next((r for r in _divisors(m) if r * columns >= _CHAINS), rows)
        if least < rows and (least + k) * columns + 1 <= host.registers:
            rows = least
    return Tiling(lanes, rows, columns)


def outer_product(name: str, m: int, n: int, k: int, host: Host) -> str:
    """MLIR text of `llvm.func @name(c, a, b, stride_a, stride_b, stride_c) -> i32`; n and k are multiples of 4."""
    if k % _SEGMENT:
        raise ValueError(f"outer product: k = {k} is not a multiple of {_SEGMENT}")
    tile = tiling(m, n, k, host)
    e = _Emitter()
    args = "%c: !llvm.ptr, %a: !llvm.ptr, %b: !llvm.ptr, %stride_a: i32, %stride_b: i32, %stride_c: i32"
    e.lines.append(f"llvm.func @{name}({args}) -> i32 {{")
    rows_of_a = e.opaque("%a")  # else LLVM reads what a copy was made of, whose rows may share a set of the cache
    strides = {x: e.op(f"llvm.sext %stride_{x} : i32 to i64") for x in "abc"}
    bt = e.op(f"llvm.alloca {e.const(n * k)} x f32 {{alignment = 64 : i64}} : (i64) -> !llvm.ptr")
    _transpose(e, bt, strides["b"], n, k, tile.lanes)
    with e.loop(m, tile.rows) as (row, _), e.loop(n, tile.columns * tile.lanes) as (column, _):
        a = [e.address(rows_of_a, e.mul(e.add(row, e.const(r)), strides["a"])) for r in range(tile.rows)]
        c = [e.add(e.mul(e.add(row, e.const(r)), strides["c"]), column) for r in range(tile.rows)]
        c = [e.address("%c", e.add(position, e.const(v * tile.lanes))) for position in c for v in range(tile.columns)]
        sums = _products(e, a, e.address(bt, column), [e.load(position, tile.lanes) for position in c], n, k, tile)
        for position, value in zip(c, sums, strict=True):
            e.store(value, position, tile.lanes)
    e.lines.append(f"llvm.return {e.op('llvm.mlir.constant(0 : i32) : i32')} : i32")
    return "\n".join([*e.lines, "}"])


def _products(e: _Emitter, a: Sequence[str], bt: str, sums: Sequence[str], n: int, k: int, tile: Tiling) -> list[str]:
    """The k loop over one register tile; `a` points to its rows, `bt` to its columns."""
    step = max(d for d in _divisors(k) if d <= _UNROLL)
    with e.loop(k, step, sums, tile.lanes) as (start, sums):
        sums = list(sums)
        for i in range(step):
            k_index = e.add(start, e.const(i))
            base = e.mul(k_index, e.const(n))
            b = [
                e.load(e.address(bt, e.add(base, e.const(v * tile.lanes))), tile.lanes, aligned=True)
                for v in range(tile.columns)
            ]
            for r in range(tile.rows):
                x = e.broadcast(e.address(a[r], k_index), tile.lanes)
                for v in range(tile.columns):
                    sums[r * tile.columns + v] = e.fma(x, b[v], sums[r * tile.columns + v], tile.lanes)
        e.results = sums
    return e.results


def _transpose(e: _Emitter, bt: str, stride: str, n: int, k: int, lanes: int) -> None:
    """Bt[k][n] := B[n][k]^T, in blocks of lanes x 4."""
    with e.loop(n, lanes) as (row, _):
        rows = [e.address("%b", e.mul(e.add(row, e.const(r)), stride)) for r in range(lanes)]
        for column in range(0, k, _SEGMENT):
            # four vectors; vector r holds the segment of rows r, r + 4, r + 8, ...
            v = [
                e.concat([e.load(e.address(p, e.const(column)), _SEGMENT) for p in rows[r::_SEGMENT]])
                for r in range(_SEGMENT)
            ]
            # in each 128-bit part, a 4x4 transpose: interleave elements, then pairs
            low = [e.interleave(v[i], v[i + 1], lanes, (0, 4, 1, 5)) for i in (0, 2)]
            high = [e.interleave(v[i], v[i + 1], lanes, (2, 6, 3, 7)) for i in (0, 2)]
            for c, (x, y) in enumerate([low, low, high, high]):
                picked = e.interleave(x, y, lanes, (2, 3, 6, 7) if c % 2 else (0, 1, 4, 5))
                e.store(picked, e.address(bt, e.add(row, e.const((column + c) * n))), lanes)


def _divisors(n: int) -> list[int]:
    return [d for d in range(1, n + 1) if n % d == 0]


class _Emitter:
    """Lines of llvm-dialect text; every method adds an operation and returns the name of its result."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.results: list[str] = []
        self._constants: dict[int, str] = {}
        self._count = 0

    def fresh(self, prefix: str = "%v") -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def op(self, text: str) -> str:
        name = self.fresh()
        self.lines.append(f"{name} = {text}")
        return name

    def const(self, value: int) -> str:
        """An i64 constant, created once at the top of the function so that it dominates its uses."""
        if value not in self._constants:
            self._constants[value] = f"%i{value}"
            self.lines.insert(1, f"%i{value} = llvm.mlir.constant({value} : i64) : i64")
        return self._constants[value]

    def add(self, x: str, y: str) -> str:
        if "%i0" in (x, y):
            return y if x == "%i0" else x
        return self._fold_constants(x, y, lambda p, q: p + q) or self.op(f"llvm.add {x}, {y} overflow<nsw> : i64")

    def mul(self, x: str, y: str) -> str:
        if "%i0" in (x, y):
            return "%i0"
        return self._fold_constants(x, y, lambda p, q: p * q) or self.op(f"llvm.mul {x}, {y} overflow<nsw> : i64")

    def _fold_constants(self, x: str, y: str, combine) -> str | None:
        if x.startswith("%i") and y.startswith("%i"):
            return self.const(combine(int(x[2:]), int(y[2:])))
        return None

    def address(self, base: str, index: str) -> str:
        if index == "%i0":
            return base
        return self.op(f"llvm.getelementptr inbounds {base}[{index}] : (!llvm.ptr, i64) -> !llvm.ptr, f32")

    def opaque(self, pointer: str) -> str:
        """The same pointer, but LLVM does not know to what: memory is accessed through it as written."""
        return self.op(f'llvm.inline_asm "", "=r,0" {pointer} : (!llvm.ptr) -> !llvm.ptr')

    def load(self, pointer: str, lanes: int, aligned: bool = False) -> str:
        alignment = 4 * lanes if aligned else 4
        return self.op(f"llvm.load {pointer} {{alignment = {alignment} : i64}} : !llvm.ptr -> vector<{lanes}xf32>")

    def store(self, value: str, pointer: str, lanes: int) -> None:
        self.lines.append(f"llvm.store {value}, {pointer} {{alignment = 4 : i64}} : vector<{lanes}xf32>, !llvm.ptr")

    def broadcast(self, pointer: str, lanes: int) -> str:
        x = self.load(pointer, 1)
        return self._shuffle(x, x, 1, [0] * lanes)

    def fma(self, x: str, y: str, z: str, lanes: int) -> str:
        # fmuladd, not fma: on a CPU without fused multiply-add, fma is a library call per lane
        vector = f"vector<{lanes}xf32>"
        return self.op(f"llvm.intr.fmuladd({x}, {y}, {z}) : ({vector}, {vector}, {vector}) -> {vector}")

    def _shuffle(self, x: str, y: str, lanes: int, mask: Sequence[int]) -> str:
        return self.op(f"llvm.shufflevector {x}, {y} {list(mask)} : vector<{lanes}xf32>")

    def concat(self, parts: list[str]) -> str:
        """Equal vectors end to end; their number is a power of two."""
        lanes = _SEGMENT
        while len(parts) > 1:
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [self._shuffle(x, y, lanes, range(2 * lanes)) for x, y in pairs]
            lanes *= 2
        return parts[0]

    def interleave(self, x: str, y: str, lanes: int, pattern: Sequence[int]) -> str:
        """In each 128-bit part the four elements `pattern`: 0..3 of x's part, 4..7 of y's."""
        mask = [
            part + p if p < _SEGMENT else lanes + part + p - _SEGMENT
            for part in range(0, lanes, _SEGMENT)
            for p in pattern
        ]
        return self._shuffle(x, y, lanes, mask)

    @contextmanager
    def loop(
        self, end: int, step: int, carried: Sequence[str] = (), lanes: int = 0
    ) -> Iterator[tuple[str, Sequence[str]]]:
        """The blocks of a counted loop from 0. Yields its variable and the carried vectors; the body sets
        `self.results` to their next values, which after the loop are the final ones. No loop for a single iteration."""
        if step == end:
            self.results = []
            yield self.const(0), carried
            return
        body, done = self.fresh("^body"), self.fresh("^done")
        variable = self.fresh()
        body_args = [self.fresh() for _ in carried]
        done_args = [self.fresh() for _ in carried]
        vector = f"vector<{lanes}xf32>"
        types = ", ".join(["i64"] + [vector] * len(carried))
        self.lines.append(f"llvm.br {body}({', '.join([self.const(0), *carried])} : {types})")
        self.lines.append(f"{body}({', '.join([f'{variable}: i64', *(f'{x}: {vector}' for x in body_args)])}):")
        yield variable, body_args
        results = self.results if carried else []
        next_one = self.add(variable, self.const(step))
        condition = self.op(f'llvm.icmp "slt" {next_one}, {self.const(end)} : i64')
        exits = f"({', '.join(results)} : {', '.join([vector] * len(results))})" if results else ""
        back_edge = f"{body}({', '.join([next_one, *results])} : {types})"
        self.lines.append(f"llvm.cond_br {condition}, {back_edge}, {done}{exits} {_ROLLED}")
        head = f"({', '.join(f'{x}: {vector}' for x in done_args)})" if done_args else ""
        self.lines.append(f"{done}{head}:")
        self.results = done_args


register_kernel("tmm16", lambda: emit(outer_product("tmm16", 16, 16, 16, host())), stands_in=True)
