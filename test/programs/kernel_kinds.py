"""Programs of each kind that `schedules.auto` has a rule for on a GPU, of any sizes."""

from programs.short import each, nest, program, sblock

ZERO = "T.float32(0)"


def product(m, n, k, left_turned=False, right_turned=False, dtype="float32", out="float32", batch=0):
    """C[i, j] += A[i, k] * B[k, j], or of turned operands, or a batch of them."""
    sizes, b = (f"{batch}x", "vb, ") if batch else ("", "")
    shapes = (f"{k}x{m}" if left_turned else f"{m}x{k}", f"{n}x{k}" if right_turned else f"{k}x{n}", f"{m}x{n}")
    left, right = (
        f"A[{b}vk, vi]" if left_turned else f"A[{b}vi, vk]",
        f"B[{b}vj, vk]" if right_turned else f"B[{b}vk, vj]",
    )
    if out != dtype:
        left, right = (f'T.Cast("{out}", {x})' for x in (left, right))
    buffers = " ".join(f"{n}:{sizes}{s}:{t}" for n, s, t in zip("ABC", shapes, (dtype, dtype, out), strict=True))
    c = f"C[{b}vi, vj]"
    axes = f"C {f'b:{batch} ' if batch else ''}i:{m} j:{n} k:{k}R"
    return program(buffers, each(axes, f"{c} = {c} + {left} * {right}", init=f"{c} = T.{out}(0)"))


def dense(m, n, k):
    """max(A W^T + V, 0) + R: bias, activation and residual after a product."""
    return program(
        f"A:{m}x{k} W:{n}x{k} V:{n} R:{m}x{n} B:{m}x{n} c:{m}x{n}",
        each(f"c i:{m} j:{n} k:{k}R", "c[vi, vj] = c[vi, vj] + A[vi, vk] * W[vj, vk]", init=f"c[vi, vj] = {ZERO}"),
        each(f"B i:{m} j:{n}", f"B[vi, vj] = T.max(c[vi, vj] + V[vj], {ZERO}) + R[vi, vj]"),
    )


def convolution(n, c, f, h, w, r, stride=1):
    """A padded convolution, bias and activation."""
    p = r // 2
    rows, columns = ((size + 2 * p - r) // stride + 1 for size in (h, w))
    y = "y[vn, vf, vh, vw]"
    inside = f"{p} <= vh and vh < {h + p} and {p} <= vw and vw < {w + p}"
    return program(
        f"A:{n}x{c}x{h}x{w} K:{f}x{c}x{r}x{r} V:{f} B:{n}x{f}x{rows}x{columns} "
        f"p:{n}x{c}x{h + 2 * p}x{w + 2 * p} y:{n}x{f}x{rows}x{columns}",
        each(
            f"p n:{n} c:{c} h:{h + 2 * p} w:{w + 2 * p}",
            f"p[vn, vc, vh, vw] = T.if_then_else({inside}, A[vn, vc, vh - {p}, vw - {p}], {ZERO})",
        ),
        each(
            f"y n:{n} f:{f} h:{rows} w:{columns} c:{c}R r:{r}R s:{r}R",
            f"{y} = {y} + p[vn, vc, vh * {stride} + vr, vw * {stride} + vs] * K[vf, vc, vr, vs]",
            init=f"{y} = {ZERO}",
        ),
        each(f"B n:{n} f:{f} h:{rows} w:{columns}", f"B[vn, vf, vh, vw] = T.max({y} + V[vf], {ZERO})"),
    )


def depthwise(n, c, h, w, r):
    """Each channel by its own filter."""
    y = "B[vn, vc, vh, vw]"
    return program(
        f"A:{n}x{c}x{h + r - 1}x{w + r - 1} K:{c}x{r}x{r} B:{n}x{c}x{h}x{w}",
        each(
            f"B n:{n} c:{c} h:{h} w:{w} r:{r}R s:{r}R",
            f"{y} = {y} + A[vn, vc, vh + vr, vw + vs] * K[vc, vr, vs]",
            init=f"{y} = {ZERO}",
        ),
    )


def softmax(n, m):
    return program(
        f"A:{n}x{m} B:{n}x{m} t:{n} e:{n}x{m} s:{n}",
        each(f"t i:{n} k:{m}R", "t[vi] = T.max(t[vi], A[vi, vk])", init="t[vi] = T.float32(-3e38)"),
        each(f"e i:{n} j:{m}", "e[vi, vj] = T.exp(A[vi, vj] - t[vi])"),
        each(f"s i:{n} k:{m}R", "s[vi] = s[vi] + e[vi, vk]", init=f"s[vi] = {ZERO}"),
        each(f"B i:{n} j:{m}", "B[vi, vj] = e[vi, vj] / s[vi]"),
    )


def norm(n, m):
    """A layer norm by the sum and the sum of squares."""
    mean, size = f"s[vi] / T.float32({m})", f"T.float32({m})"
    return program(
        f"A:{n}x{m} G:{m} H:{m} B:{n}x{m} s:{n} q:{n}",
        each(f"s i:{n} k:{m}R", "s[vi] = s[vi] + A[vi, vk]", init=f"s[vi] = {ZERO}"),
        each(f"q i:{n} k:{m}R", "q[vi] = q[vi] + A[vi, vk] * A[vi, vk]", init=f"q[vi] = {ZERO}"),
        each(
            f"B i:{n} j:{m}",
            f"B[vi, vj] = (A[vi, vj] - {mean}) * T.rsqrt(q[vi] / {size} - {mean} * ({mean}) + T.float32(1e-1))"
            " * G[vj] + H[vj]",
        ),
    )


def row_sums(n, m):
    return program(f"A:{n}x{m} B:{n}", each(f"B i:{n} k:{m}R", "B[vi] = B[vi] + A[vi, vk]", init=f"B[vi] = {ZERO}"))


def column_sums(n, m):
    return program(f"A:{n}x{m} B:{m}", each(f"B j:{m} k:{n}R", "B[vj] = B[vj] + A[vk, vj]", init=f"B[vj] = {ZERO}"))


def whole_sum(n, m):
    return program(f"A:{n}x{m} B:1", each(f"B u:1 i:{n}R j:{m}R", "B[vu] = B[vu] + A[vi, vj]", init=f"B[vu] = {ZERO}"))


def middle_maximum(n, m, k):
    body = "B[vi, vj] = T.max(B[vi, vj], A[vi, vk, vj])"
    return program(f"A:{n}x{k}x{m} B:{n}x{m}", each(f"B i:{n} j:{m} k:{k}R", body, init="B[vi, vj] = T.float32(-3e38)"))


def two_sums(n, m):
    """Two results of one block."""
    return program(
        f"A:{n}x{m} B:{n} C:{n}",
        each(
            f"B i:{n} k:{m}R",
            "B[vi] = B[vi] + A[vi, vk]",
            "C[vi] = C[vi] + A[vi, vk] * A[vi, vk]",
            init=f"B[vi] = {ZERO}\nC[vi] = {ZERO}",
        ),
    )


def argmax(n, m):
    """The position and the value of the greatest element of each row: the first of equal ones."""
    return program(
        f"A:{n}x{m} B:{n}:int32 C:{n}",
        each(
            f"B i:{n} k:{m}R",
            "p: T.int32 = T.Select(C[vi] >= A[vi, vk], B[vi], vk)",
            "x: T.float32 = T.Select(C[vi] >= A[vi, vk], C[vi], A[vi, vk])",
            "B[vi] = p",
            "C[vi] = x",
            init="B[vi] = 0\nC[vi] = T.float32(-3e38)",
        ),
    )


def mean_subtracted(n):
    """A single number between two arrays."""
    return program(
        f"A:{n} B:{n} s:1 m:1",
        each(f"s u:1 k:{n}R", "s[0] = s[0] + A[vk]", init=f"s[0] = {ZERO}"),
        sblock("m", "vu:1=0", f"m[0] = s[0] / T.float32({n})"),
        each(f"B i:{n}", "B[vi] = A[vi] - m[0]"),
    )


def broadcast(n, m):
    return program(
        f"A:{n}x{m} V:{m} B:{n}x{m} c:{n}x{m}",
        each(f"c i:{n} j:{m}", "c[vi, vj] = A[vi, vj] + V[vj]"),
        each(f"B i:{n} j:{m}", f"B[vi, vj] = T.max(c[vi, vj], {ZERO}) * T.float32(2)"),
    )


def transpose(n, m, dtype="float32"):
    return program(f"A:{n}x{m}:{dtype} B:{m}x{n}:{dtype}", each(f"B i:{m} j:{n}", "B[vi, vj] = A[vj, vi]"))


def concatenation(n, m):
    choice = f"T.if_then_else(vj < {m}, A[vi, vj % {m}], C[vi, vj % {m}])"
    return program(f"A:{n}x{m} C:{n}x{m} B:{n}x{2 * m}", each(f"B i:{n} j:{2 * m}", f"B[vi, vj] = {choice}"))


def gather(n, m):
    return program(f"A:{n}x{m} I:{n}:int32 B:{n}x{m}", each(f"B i:{n} j:{m}", "B[vi, vj] = A[I[vi], vj]"))


def scan(n, m):
    """Running sums of rows, by a block with a loop inside."""
    step = "B[vi, j] = A[vi, j] + T.if_then_else(j > 0, B[vi, T.max(j - 1, 0)], T.float32(0))"
    return program(
        f"A:{n}x{m} B:{n}x{m}", nest(f"i:{n}", sblock("B", f"vi:{n}=i", f"for j in range({m}):\n    {step}"))
    )
