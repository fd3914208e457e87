"""Row-wise and elementwise programs for tests of `tir_mlir.schedules`."""

from __future__ import annotations

from programs.parsed import parse

from tir_mlir import te


def softmax(shape: tuple, axis: int = -1, dtype: str = "float32"):
    """exp(x - max) / sum along one axis."""
    x = te.placeholder(shape, dtype, name="X")
    axis %= len(shape)
    kept = tuple(n for i, n in enumerate(shape) if i != axis)
    k, m = (te.reduce_axis((0, shape[axis]), name=name) for name in "km")

    def at(index, r):
        return (*index[:axis], r, *index[axis:])

    def row(index):
        return (*index[:axis], *index[axis + 1 :])

    top = te.compute(kept, lambda *i: te.max(x[at(i, k)], axis=k), name="top")
    power = te.compute(shape, lambda *i: te.exp(x[i] - top[row(i)]), name="power")
    total = te.compute(kept, lambda *i: te.sum(power[at(i, m)], axis=m), name="total")
    out = te.compute(shape, lambda *i: power[i] / total[row(i)], name="out")
    return te.create_prim_func([x, out])


def layer_norm(rows, columns):
    """Over the last two axes, which are (columns, 3); sizes may be symbolic."""
    names = [n for n in dict.fromkeys((rows, columns)) if isinstance(n, str)]
    sizes = "".join(f"    {n} = T.int32()\n" for n in names)
    return parse(
        f"""
@T.prim_func
def main(x: T.handle, g: T.handle, y: T.handle):
{sizes}    X = T.match_buffer(x, ({rows}, {columns}, 3), "float32")
    G = T.match_buffer(g, ({columns}, 3), "float32")
    Y = T.match_buffer(y, ({rows}, {columns}, 3), "float32")
    twice = T.alloc_buffer(({rows}, {columns}, 3), "float32")
    total = T.alloc_buffer(({rows},), "float32")
    mean = T.alloc_buffer(({rows},), "float32")
    spread = T.alloc_buffer(({rows},), "float32")
    for i, j, l in T.grid({rows}, {columns}, 3):
        with T.block("twice"):
            vi, vj, vl = T.axis.remap("SSS", [i, j, l])
            twice[vi, vj, vl] = X[vi, vj, vl] * T.float32(2)
    for i, j, l in T.grid({rows}, {columns}, 3):
        with T.block("total"):
            vi, vj, vl = T.axis.remap("SRR", [i, j, l])
            with T.init():
                total[vi] = T.float32(0)
            total[vi] = total[vi] + twice[vi, vj, vl]
    for i in range({rows}):
        with T.block("mean"):
            vi = T.axis.spatial({rows}, i)
            mean[vi] = total[vi] / T.Cast("float32", 3 * {columns})
    for i, j, l in T.grid({rows}, {columns}, 3):
        with T.block("spread"):
            vi, vj, vl = T.axis.remap("SRR", [i, j, l])
            with T.init():
                spread[vi] = T.float32(0)
            spread[vi] = spread[vi] + (twice[vi, vj, vl] - mean[vi]) * (twice[vi, vj, vl] - mean[vi])
    for i, j, l in T.grid({rows}, {columns}, 3):
        with T.block("out"):
            vi, vj, vl = T.axis.remap("SSS", [i, j, l])
            Y[vi, vj, vl] = (twice[vi, vj, vl] - mean[vi]) * T.rsqrt(spread[vi] + T.float32(1)) * G[vj, vl]
"""
    )


def reduced(shape: tuple, axes: tuple[int, ...], dtype: str = "float32", op=te.sum, before=lambda x: x):
    """A reduction over some axes of a transformed input."""
    x = te.placeholder(shape, dtype, name="X")
    inner = te.compute(shape, lambda *i: before(x[i]), name="before")
    sums = {a: te.reduce_axis((0, shape[a]), name=f"r{a}") for a in axes}
    kept = [a for a in range(len(shape)) if a not in axes]

    def element(*index):
        places = {**dict(zip(kept, index, strict=False)), **sums}
        return op(inner[tuple(places[a] for a in range(len(shape)))], axis=list(sums.values()))

    c = te.compute(tuple(shape[a] for a in kept) or (1,), element, name="C")
    return te.create_prim_func([x, c])


def chain(shape: tuple, row: tuple, dtype: str = "float32"):
    """max(x * r + x, r) * x with broadcast r, one block per operator."""
    x, r = te.placeholder(shape, dtype, name="X"), te.placeholder(row, dtype, name="R")
    cut = len(shape) - len(row)

    def spread(i):
        return tuple(0 if n == 1 else j for n, j in zip(row, i[cut:], strict=True))

    times = te.compute(shape, lambda *i: x[i] * r[spread(i)], name="times")
    plus = te.compute(shape, lambda *i: times[i] + x[i], name="plus")
    relu = te.compute(shape, lambda *i: te.max(plus[i], r[spread(i)]), name="relu")
    out = te.compute(shape, lambda *i: relu[i] * x[i], name="out")
    return te.create_prim_func([x, r, out])
