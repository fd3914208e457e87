"""`te.create_prim_func` gives the module of the TVMScript that a person would write."""

import pytest

from tir_mlir import te
from tir_mlir.dialect.ir import enter_context
from tir_mlir.script import parse
from tir_mlir.script import tir as T
from tir_mlir.script.structural_equal import difference


def assert_same(func, text: str) -> None:
    head = (
        "from tvm.script import tir as T\n@T.prim_func\ndef main({}):\n"
        '    T.func_attr({{"tir.noalias": T.bool(True)}})\n'
    )
    params, _, body = text.partition("\n")
    wanted = parse(head.format(params.strip()) + body)
    with enter_context():
        found = difference(wanted.mlir, func.module.mlir, names=False)
    assert found is None, found


def buffers(*shapes: tuple, dtype: str = "float32"):
    return [te.placeholder(s, dtype, name=n) for s, n in zip(shapes, "ABXYZ", strict=False)]


def test_matmul():
    a, b = buffers((16, 24), (24, 8))
    k = te.reduce_axis((0, 24), name="k")
    c = te.compute((16, 8), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    text = """A: T.Buffer((16, 24), "float32"), B: T.Buffer((24, 8), "float32"), C: T.Buffer((16, 8), "float32")
    for i, j, k in T.grid(16, 8, 24):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""
    func = te.create_prim_func([a, b, c])
    assert_same(func, text)
    assert func.name == "main" and func.attrs["global_symbol"] == "main"
    assert func.script().count('T.block("C")') == 1


def test_intermediates_become_buffers_of_the_function():
    (a,) = buffers((16, 16))
    b = te.compute(a.shape, lambda i, j: a[i, j] + 1.0, name="B")
    c = te.compute(a.shape, lambda *i: te.max(b(*i), 0.0) * b(*i), name="C")
    text = """A: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32")
    B = T.alloc_buffer((16, 16), "float32")
    for i, j in T.grid(16, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.float32(1)
    for i, j in T.grid(16, 16):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.max(B[vi, vj], T.float32(0)) * B[vi, vj]
"""
    assert_same(te.create_prim_func([a, c]), text)


def test_an_intermediate_may_be_a_parameter():
    (a,) = buffers((16,))
    b = te.compute((16,), lambda i: a[i] + 1.0, name="B")
    c = te.compute((16,), lambda i: b[i] * 2.0, name="C")
    assert "alloc_buffer" not in te.create_prim_func([a, b, c]).script()
    assert "alloc_buffer" in te.create_prim_func([a, c]).script()


def test_operations_come_in_the_order_of_their_dependences():
    a, b = buffers((8,), (8,))
    left = te.compute((8,), lambda i: a[i] + 1.0, name="left")
    right = te.compute((8,), lambda i: b[i] + left[i], name="right")
    last = te.compute((8,), lambda i: right[i] * left[i], name="last")
    text = te.create_prim_func([a, b, last]).script()
    places = [text.index(f'T.block("{n}")') for n in ("left", "right", "last")]
    assert places == sorted(places)


def test_a_pooling_window_and_a_padding():
    (x,) = buffers((1, 3, 10))
    pad = te.compute(
        (1, 3, 12),
        lambda n, c, w: te.if_then_else(te.all(w >= 1, w < 11), x[n, c, w - 1], te.min_value(x.dtype)),
        name="pad",
    )
    r = te.reduce_axis((0, 3), name="r")
    y = te.compute((1, 3, 5), lambda n, c, w: te.max(pad[n, c, w * 2 + r], axis=r), name="pool")
    text = """X: T.Buffer((1, 3, 10), "float32"), Y: T.Buffer((1, 3, 5), "float32")
    pad = T.alloc_buffer((1, 3, 12), "float32")
    for n, c, w in T.grid(1, 3, 12):
        with T.block("pad"):
            vn, vc, vw = T.axis.remap("SSS", [n, c, w])
            pad[vn, vc, vw] = T.if_then_else(vw >= 1 and vw < 11, X[vn, vc, vw - 1], T.min_value("float32"))
    for n, c, w, r in T.grid(1, 3, 5, 3):
        with T.block("pool"):
            vn, vc, vw, vr = T.axis.remap("SSSR", [n, c, w, r])
            with T.init():
                Y[vn, vc, vw] = T.min_value("float32")
            Y[vn, vc, vw] = T.max(Y[vn, vc, vw], pad[vn, vc, vw * 2 + vr])
"""
    assert_same(te.create_prim_func([x, y]), text)


def test_a_reduction_over_several_axes_that_start_elsewhere():
    (a,) = buffers((8, 8, 8))
    k, m = te.reduce_axis((1, 7), name="k"), te.reduce_axis((0, 8), name="m")
    s = te.compute((8,), lambda i: te.min(a[i, k, m], axis=[k, m]), name="S")
    text = """A: T.Buffer((8, 8, 8), "float32"), S: T.Buffer((8,), "float32")
    for i in range(8):
        for k in range(1, 7):
            for m in range(8):
                with T.block("S"):
                    vi = T.axis.spatial(8, i)
                    vk = T.axis.reduce((1, 7), k)
                    vm = T.axis.reduce(8, m)
                    with T.init():
                        S[vi] = T.max_value("float32")
                    S[vi] = T.min(S[vi], A[vi, vk, vm])
"""
    assert_same(te.create_prim_func([a, s]), text)


def test_start_values_and_conditions_of_reductions():
    a, b = buffers((8, 8), (8,))
    k = te.reduce_axis((0, 8), name="k")
    s = te.compute((8,), lambda i: te.sum(a[i, k], axis=k, init=b[i]), name="S")
    assert "S[v_i] = B[v_i]" in te.create_prim_func([a, b, s]).script()
    t = te.compute((8,), lambda i: te.sum(a[i, k], axis=k, where=k <= i), name="S")
    text = """A: T.Buffer((8, 8), "float32"), S: T.Buffer((8,), "float32")
    for i, k in T.grid(8, 8):
        with T.block("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + T.if_then_else(vk <= vi, A[vi, vk], T.float32(0))
"""
    assert_same(te.create_prim_func([a, t]), text)


def test_symbolic_sizes():
    n, m = te.var("n"), te.size_var("m")
    a = te.placeholder((n, m), name="A")
    k = te.reduce_axis((0, m), name="k")
    s = te.compute((n,), lambda i: te.sum(a[i, k], axis=k), name="S")
    c = te.compute((n, m * 2), lambda i, j: a[i, j // 2] + s[i], name="C")
    text = """a: T.handle, c: T.handle
    n, m = T.int32(), T.int32()
    A = T.match_buffer(a, (n, m), "float32")
    C = T.match_buffer(c, (n, m * 2), "float32")
    S = T.alloc_buffer((n,), "float32")
    for i, k in T.grid(n, m):
        with T.block("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + A[vi, vk]
    for i, j in T.grid(n, m * 2):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj // 2] + S[vi]
"""
    assert_same(te.create_prim_func([a, c]), text)
    assert a.shape[0] == n and a.shape[0] != m and a.shape[0] != 3


def test_a_size_that_is_no_extent_by_itself():
    n = te.var("n")
    a = te.placeholder((n * 4,), name="A")
    b = te.compute((n * 4,), lambda i: a[i] + 1.0, name="B")
    text = """a: T.handle, b: T.handle
    n = T.int32()
    A = T.match_buffer(a, (n * 4,), "float32")
    B = T.match_buffer(b, (n * 4,), "float32")
    for i in range(n * 4):
        with T.block("B"):
            vi = T.axis.spatial(n * 4, i)
            B[vi] = A[vi] + T.float32(1)
"""
    assert_same(te.create_prim_func([a, b]), text)


def test_a_variable_as_a_parameter():
    n, x = te.var("n"), te.var("x", "float32")
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: te.if_then_else(i < n, a[i] * x, 0.0), name="B")
    text = """n: T.int32, A: T.Buffer((8,), "float32"), x: T.float32, B: T.Buffer((8,), "float32")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = T.if_then_else(vi < n, A[vi] * x, T.float32(0))
"""
    assert_same(te.create_prim_func([n, a, x, b]), text)


def argmax_reducer():
    def combine(x, y):
        first = x[1] >= y[1]
        return te.Select(first, x[0], y[0]), te.Select(first, x[1], y[1])

    return te.comm_reducer(combine, lambda t0, t1: (-1, te.min_value(t1)), name="argmax")


def test_a_reducer_of_pairs():
    idx, val = te.placeholder((8, 16), "int32", name="idx"), te.placeholder((8, 16), name="val")
    k = te.reduce_axis((0, 16), name="k")
    argmax = argmax_reducer()
    found = te.compute((8,), lambda i: argmax((idx[i, k], val[i, k]), axis=k), name="argmax")
    assert [t.dtype for t in found] == ["int32", "float32"]
    params = ["idx: T.Buffer((8, 16), 'int32')", "val: T.Buffer((8, 16), 'float32')"]
    params += ["v0: T.Buffer((8,), 'int32')", "v1: T.Buffer((8,), 'float32')"]
    text = f"""{", ".join(params)}
    for i, k in T.grid(8, 16):
        with T.block("argmax"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                v0[vi] = -1
                v1[vi] = T.min_value("float32")
            x0: T.int32 = T.Select(v1[vi] >= val[vi, vk], v0[vi], idx[vi, vk])
            x1: T.float32 = T.Select(v1[vi] >= val[vi, vk], v1[vi], val[vi, vk])
            v0[vi] = x0
            v1[vi] = x1
"""
    assert_same(te.create_prim_func([idx, val, *found]), text)


def test_a_tuple_of_values_is_one_nest_with_a_block_each():
    a, b = buffers((8, 16), (8, 16))
    c, d = te.compute((8, 16), lambda i, j: (a[i, j] + b[i, j], a[i, j] - b[i, j]), name="out")
    names = [f'{n}: T.Buffer((8, 16), "float32")' for n in "ABCD"]
    text = f"""{", ".join(names)}
    for i, j in T.grid(8, 16):
        with T.block("out.v0"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] + B[vi, vj]
        with T.block("out.v1"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = A[vi, vj] - B[vi, vj]
"""
    assert_same(te.create_prim_func([a, b, c, d]), text)


def test_tensors_without_axes():
    z = te.placeholder((), name="z")
    y = te.compute((), lambda: z() * 2.0 + z, name="y")
    text = """z: T.Buffer((), "float32"), y: T.Buffer((), "float32")
    with T.block("y"):
        vi = T.axis.spatial(1, 0)
        y[()] = z[()] * T.float32(2) + z[()]
"""
    assert_same(te.create_prim_func([z, y]), text)


@pytest.mark.parametrize(
    ("dtype", "function", "expected"),
    [
        ("float32", lambda x: te.exp(x) + te.sqrt(T.abs(x)), "T.exp(A[vi]) + T.sqrt(T.abs(A[vi]))"),
        ("float32", lambda x: T.tanh(x) / (1 + te.sigmoid(x)), "T.tanh(A[vi]) / (1 + T.sigmoid(A[vi]))"),
        ("float16", lambda x: x.astype("float32") * 2, 'T.cast(A[vi], "float32") * 2'),
        ("float32", lambda x: -x - 0.5 + 3 * x, "-A[vi] - 0.5 + 3 * A[vi]"),
        ("int32", lambda x: (7 - x) // 2 % 3, "(7 - A[vi]) // 2 % 3"),
        ("int32", lambda x: (x << 2) & 7 | (x >> 1) ^ 5, "(A[vi] << 2) & 7 | (A[vi] >> 1) ^ 5"),
        (
            "float32",
            lambda x: te.Select(te.any(x > 0, x < -1), x, 0.0),
            "T.Select(A[vi] > 0 or A[vi] < -1, A[vi], 0.0)",
        ),
        ("float32", lambda x: x == 1.0, "A[vi] == 1.0"),
        ("int64", lambda x: te.max_value("int64") - x, 'T.max_value("int64") - A[vi]'),
        ("float32", lambda x: te.power(x, 2.0) + te.floor(x), "T.pow(A[vi], 2.0) + T.floor(A[vi])"),
    ],
)
def test_expressions(dtype, function, expected):
    a = te.placeholder((8,), dtype, name="A")
    b = te.compute((8,), lambda i: function(a[i]), name="B")
    text = f"""A: T.Buffer((8,), "{dtype}"), B: T.Buffer((8,), "{b.dtype}")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = {expected}
"""
    assert_same(te.create_prim_func([a, b]), text)


def test_names_are_made_unique():
    first = te.placeholder((4,), name="A")
    second = te.compute((4,), lambda i: first[i] + 1.0, name="A")
    third = te.compute((4,), lambda A: second[A] * 2.0, name="A")
    text = te.create_prim_func([first, third]).script()
    assert 'T.block("A")' in text and 'T.block("A_1")' in text


def test_attributes_of_a_compute_are_annotations_of_its_block():
    (a,) = buffers((4,))
    b = te.compute((4,), lambda i: a[i], name="B", attrs={"keep": 1, "how": ["x", 2.5]})
    assert 'T.block_attr({"how": ["x", 2.5], "keep": 1})' in te.create_prim_func([a, b]).script()


def test_tensor_attributes():
    a, _ = buffers((4, 8), (8, 4))
    k = te.reduce_axis((0, 8), name="k")
    s = te.compute((4,), lambda i: te.sum(a[i, k], axis=k), name="S", tag="reduce")
    assert (s.ndim, s.shape, s.dtype, s.name, s.op.name, s.op.tag) == (1, (4,), "float32", "S", "S", "reduce")
    assert [x.name for x in s.op.axis] == ["i"] and s.op.reduce_axis == (k,)
    assert s.op.input_tensors == [a] and a.op.output(0) is a
    assert (k.dom.min, k.dom.extent, k.dtype) == (0, 8, "int32")
    assert repr(a[1, k]) == "A[1, k]" and (a[1, 2] * 2).dtype == "float32"
    assert a[1][2].dtype == "float32"
