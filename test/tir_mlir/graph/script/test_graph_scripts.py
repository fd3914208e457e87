"""Graphs as TVMScript: what is written, what is printed, and that both are the same graph."""

import numpy as np
import pytest

from tir_mlir import topi
from tir_mlir.dialect.diagnostics import ScriptError, TirError
from tir_mlir.graph import script as R
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.expressions import Function
from tir_mlir.graph.graph import Graph
from tir_mlir.script import IRModule, parse
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T
from tir_mlir.script.structural_equal import difference

HEAD = "from tvm.script import ir as I, relax as R, tir as T\n"


def assert_round_trip(module: IRModule) -> None:
    """Printed and read again, as TVMScript and as MLIR, the module is the same."""
    assert difference(parse(module.script(show_meta=True)).mlir, module.mlir) is None
    assert difference(IRModule.from_mlir(module.text()).mlir, module.mlir) is None


@I.ir_module
class Layers:
    @T.prim_func
    def relu(x: T.handle, y: T.handle):
        n, m = T.int64(), T.int64()
        X = T.match_buffer(x, (n, m))
        Y = T.match_buffer(y, (n, m))
        for i, j in T.grid(n, m):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.max(X[vi, vj], T.float32(0))

    @R.function(private=True)
    def product(a: R.Tensor((2, 4), "float32"), b: R.Tensor((3, 4), "float32")):
        with R.dataflow():
            gv = R.exp(R.nn.dense(a, b))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((2, 4), "float32"), w: R.Tensor((3, 4), "float32")) -> R.Tensor((2, 3), "float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            lv = cls.product(x, w)  # noqa: F821
            lv1 = R.call_tir(cls.relu, (lv,), out_sinfo=R.Tensor((2, 3), "float32"))  # noqa: F821
            lv2 = R.call_dps_packed("env.scale", (lv1,), R.Tensor((2, 3), "float32"))
            lv3 = R.call_tir(relu, (lv2,), (2, 3), dtype="float32")  # noqa: F821
            gv = lv3 + R.const(1.5) * lv2
            R.output(gv)
        return gv


@pytest.mark.parametrize("name", ["R", "T", "I", "cls", "metadata"])
def test_names_that_the_text_has_a_meaning_for(name):
    b = GraphBuilder()
    x = b.input(name, (2000,))
    total = b.call_te(topi.add, x, b.constant(np.arange(2000, dtype=np.float32)), name_hint="add")
    b.output(b.op("negative", total, name_hint=name))
    module = b.finish().module
    assert f"def main({name}_: R.Tensor" in module.script(show_meta=True)
    read = parse(module.script(show_meta=True))
    assert parse(read.script(show_meta=True)).equal(read)
    array = np.linspace(0, 1, 2000, dtype=np.float32)
    result = Graph(read).build_model(threads=1)(array)
    np.testing.assert_allclose(result, -(array + np.arange(2000)), rtol=1e-5)


def test_a_module_of_both_levels_is_printed_and_read_back():
    assert_round_trip(Layers)
    assert list(Layers) == ["relu", "product", "main"]


@pytest.mark.parametrize(
    "line",
    [
        'lv: R.Tensor((2, 3), dtype="float32") = cls.product(x, w)',
        'R.call_tir(cls.relu, (lv,), out_sinfo=R.Tensor((2, 3), dtype="float32"))',
        'R.call_dps_packed("env.scale", (lv1,), out_sinfo=R.Tensor((2, 3), dtype="float32"))',
        'R.multiply(R.const(1.5, "float32"), lv2)',
        "@R.function(private=True)",
        'R.func_attr({"num_input": 1})',
        "# from tvm.script import relax as R",
    ],
)
def test_the_text_has(line):
    assert line in Layers.script()


def test_the_graph_is_upstream_ops():
    text = Layers.text()
    assert "call @relu.call" in text and 'graph.callee = "env.scale"' in text and "func.func private @product" in text


def test_a_function_alone_is_a_graph():
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")):
        lv = R.nn.softmax(x, axis=1)
        return lv

    assert isinstance(main, Function)
    assert [str(p.struct_info) for p in main.params] == ['R.Tensor((n, 4), dtype="float32")']
    assert main.body.bindings[0].value.attrs.axis == 1
    assert_round_trip(main.isolated_module)


def test_sizes_are_named_in_the_body():
    module = parse(
        HEAD
        + """
@R.function
def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("m", 4), "float32")):
    n = T.int64()
    m = T.int64()
    lv: R.Tensor((n * 4,), "float32") = R.reshape(x, (n * 4,))
    return lv
"""
    )
    assert "R.reshape(x, shape=[n * 4])" in module.script()
    assert_round_trip(module)


def test_nested_calls_are_bound_one_by_one():
    module = parse(HEAD + "@R.function\ndef main(x: R.Tensor((4,), 'float32')):\n    return R.exp(R.add(x, x))\n")
    assert [repr(b) for b in module.graphs["main"].body.bindings] == ["gv = R.add(x, x)", "gv1 = R.exp(gv)"]


def test_several_results():
    module = parse(
        HEAD
        + """
@R.function
def main(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        a = R.exp(x)
        b = R.call_dps_packed("env.two", (a,), [R.Tensor((4,), "float32"), R.Tensor((2,), "int64")])
        first, second = b
        R.output(a, second)
    return (a, second, x)
"""
    )
    assert "b: R.Tuple" not in module.script() and "first: R.Tensor((4,)" in module.script()
    assert_round_trip(module)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint8", "int64", "bool", "float16"])
@pytest.mark.parametrize("shape", [(), (1,), (2, 3)])
def test_constants(dtype, shape):
    value = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    b = GraphBuilder()
    b.output(b.constant(value))
    module = b.finish().module
    (output,) = [module.graphs["main"].body.body]
    np.testing.assert_array_equal(output.array, value)
    assert output.array.dtype == value.dtype
    assert_round_trip(module)


def test_constants_that_are_not_finite():
    b = GraphBuilder()
    b.output(b.constant(np.array([np.inf, -np.inf, np.nan], np.float32)))
    assert_round_trip(b.finish().module)


def test_large_constants_are_in_the_metadata():
    values = np.random.default_rng(0).standard_normal((40, 30)).astype(np.float32)
    b = GraphBuilder()
    b.output(b.op("exp", b.constant(values)))
    module = b.finish().module
    assert 'R.exp(metadata["relax.expr.Constant"][0])' in module.script()
    with pytest.raises(ScriptError, match="metadata"):
        parse(module.script())
    again = parse(module.script(show_meta=True))
    np.testing.assert_array_equal(again.graphs["main"].body.bindings[0].value.args[0].array, values)
    assert_round_trip(module)


def test_large_constants_are_compared():
    modules = []
    for value in (1, 2):
        b = GraphBuilder()
        b.output(b.constant(np.full(2000, value, np.float32)))
        modules.append(b.finish().module)
    assert difference(modules[0].mlir, modules[1].mlir) is not None


def test_weights_keep_their_names():
    b = GraphBuilder()
    x, w = b.input("x", ("n", 8)), b.weight("fc.weight", np.ones((4, 8), np.float32))
    b.output(b.call_te(topi.nn.relu, b.op("nn.dense", x, w)))
    module = b.finish().module
    assert 'R.func_attr({"weights": {"fc_weight": "fc.weight"}})' in module.script()
    assert_round_trip(module)


# ---- 2022


def test_the_spellings_of_2022():
    module = parse(
        """
@tvm.script.ir_module
class MyModule:
    @R.function
    def main(x: Tensor((3, 4), "float32"), y: Tensor((3, 4), "float32")) -> Tensor(None, "float32", ndim = 2):
        # block 0
        with relax.dataflow():
            lv0: Tensor((3, 4), "float32") = relax.multiply(x, y)
            lv1 = R.call_tir("env.linear", (lv0, y), (3, 4), dtype="float32")
            gv0 = relax.add(lv1, y)
            relax.output(gv0)
        return gv0
"""
    )
    assert [repr(b) for b in module.graphs["main"].body.bindings] == [
        "lv0 = R.multiply(x, y)",
        'lv1 = R.call_dps_packed(ExternFunc("env.linear"), (lv0, y))',
        "gv0 = R.add(lv1, y)",
    ]


# ---- errors


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("lv = R.ad(x, x)", r"no operator R.ad; near: add"),
        ("lv = R.nn.dense(x, x)", r"dense"),
        ("lv = R.add(x)", r"missing a required argument"),
        ("lv = R.call_tir(cls.f, (x,), R.Tensor((4,), 'float32'))", r"no attribute 'f'"),
        ("lv = R.call_tir('f', (x,))", r"out_sinfo=R.Tensor"),
        ("lv: R.Tensor((5,), 'float32') = R.exp(x)", r"the value is R.Tensor\(\(4,\).*, not R.Tensor\(\(5,\)"),
        ("lv: R.Tensor((4,), 'int32') = R.exp(x)", r"the value is"),
        ("R.exp(x)", r"the value of this line is not used"),
        ("for i in range(3): pass", r"compute in Python before it"),
        ("lv = R.exp(q)", r"NameError: name 'q'"),
        ("lv, lw = R.exp(x)", r"is not a tuple"),
        ("x.y = R.exp(x)", r"assigns to names"),
    ],
)
def test_an_error_is_at_its_line(line, message):
    text = f"{HEAD}@R.function\ndef main(x: R.Tensor((4,), 'float32')):\n    {line}\n    return x\n"
    with pytest.raises(ScriptError, match=message) as refused:
        parse(text)
    assert refused.value.lineno == 4


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("x", "parameter x needs a type"),
        ("x: R.Tensor(ndim=2)", "give its shape"),
        ("x: R.Tensor((4,), 'float32') = 3", "without defaults"),
        ("x: R.Tensor((4,), 'floaty')", "floaty"),
        ("x: 3", "the annotation of a value"),
    ],
)
def test_an_error_of_a_parameter(head, message):
    with pytest.raises(ScriptError, match=message):
        parse(f"{HEAD}@R.function\ndef main({head}):\n    return x\n")


def test_a_graph_returns():
    with pytest.raises(ScriptError, match="returns nothing"):
        parse(f"{HEAD}@R.function\ndef main(x: R.Tensor((4,), 'float32')):\n    lv = R.exp(x)\n")


def test_graphs_do_not_call_each_other_in_a_circle():
    body = "(x: R.Tensor((4,), 'float32')):\n        return cls."
    text = f"@I.ir_module\nclass M:\n    @R.function\n    def f{body}g(x)\n    @R.function\n    def g{body}f(x)\n"
    with pytest.raises(ScriptError, match="circle: f -> g"):
        parse(text)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("R.call_tir(cls.relu, (x, x), R.Tensor((2, 4), 'float32'))", "relu has 2 parameters, and is called with 3"),
        ("R.call_tir(cls.relu, (x,), R.Tensor((2, 5), 'int32'))", "parameter 1 of relu is memref"),
        ("R.call_tir(cls.relu, (x,), R.Tensor((2, 3), 'float32'))", "m of relu is 4, and 3 in its parameter 1"),
        ("cls.product(x, x)", r"input 1 of product is \(3, 4\) float32, not \(2, 4\) float32"),
        ("cls.product(x)", "product takes 2 inputs, not 1"),
        ("cls.relu(x)", r"relu is not a graph; fix: R.call_tir\(cls.relu"),
    ],
)
def test_a_call_that_does_not_fit(call, message):
    text = Layers.script().replace('lv: R.Tensor((2, 3), dtype="float32") = cls.product(x, w)', f"lv = {call}")
    with pytest.raises(TirError, match=message):
        parse(text)
