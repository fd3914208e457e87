"""`tvm.relax.testing.nn`: layers that write graphs."""

import numpy as np
import pytest

from tir_mlir.dialect.diagnostics import GraphError

RNG = np.random.default_rng(31)


def layers(nn):
    return nn.Sequential(nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 4, bias=False), nn.LogSoftmax())


def written(tvm, model=None):
    """A network of two products, written when its layers are made inside the function, or before it."""
    from tvm.relax.testing import nn  # type: ignore[import-not-found]

    bb = tvm.relax.BlockBuilder()
    with bb.function("main"):
        model = model or layers(nn)
        data = nn.Placeholder((2, 8), name="data")
        bb.emit_func_output(model(data), params=[data, *model.parameters()])
    return bb.get()


def check_results(tvm, module):
    arrays = [RNG.standard_normal(tuple(p.shape)).astype(np.float32) for p in module["main"].params]
    x, w, b, v = arrays
    y = np.maximum(x @ w + b, 0) @ v
    expected = y - np.log(np.exp(y).sum(1, keepdims=True))
    for again in (module, tvm.script.from_source(module.script())):
        vm = tvm.relax.VirtualMachine(tvm.compile(again, "llvm"), tvm.cpu())
        np.testing.assert_allclose(vm["main"](*map(tvm.nd.array, arrays)).numpy(), expected, rtol=1e-4, atol=1e-5)


def test_layers_made_in_the_function(tvm):
    module = written(tvm)
    names = ["data", "linear_weight", "linear_bias", "linear_weight1"]
    assert [p.name_hint for p in module["main"].params] == names
    assert list(module) == ["matmul", "add", "relu", "matmul1", "log_softmax", "main"]
    check_results(tvm, module)
    params = tvm.relax.testing.nn.init_params(module)
    assert [(p.shape, p.dtype, p.numpy().any()) for p in params] == [
        (shape, "float32", False) for shape in ((8, 6), (6,), (6, 4))
    ]


@pytest.mark.nightly
def test_layers_made_before_it(tvm):
    from tvm.relax.testing import nn  # type: ignore[import-not-found]

    module = written(tvm, layers(nn))
    assert len({p.name_hint for p in module["main"].params}) == 4
    check_results(tvm, module)


def test_a_layer_of_the_user(tvm):
    from tvm import relax, topi  # type: ignore[import-not-found]
    from tvm.relax.testing import nn  # type: ignore[import-not-found]

    class Scale(nn.Module):
        def __init__(self):
            self.parts = {"scale": nn.Parameter((4,), name="scale"), "relu": [nn.ReLU()]}

        def forward(self, input):
            return nn.emit(
                relax.op.add(self.parts["relu"][0](nn.emit_te(topi.multiply, input, self.parts["scale"])), input)
            )

    bb = relax.BlockBuilder()
    with bb.function("main"):
        x, scale = nn.Placeholder(("n", 4), name="x"), Scale()
        with bb.dataflow():
            gv = bb.emit_output(scale(x))
        bb.emit_func_output(gv, [x, *scale.parameters()])
    module = bb.get()
    vm = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    a, s = RNG.standard_normal((3, 4)).astype(np.float32), RNG.standard_normal(4).astype(np.float32)
    np.testing.assert_allclose(vm["main"](a, s).numpy(), np.maximum(a * s, 0) + a, rtol=1e-6)
    with pytest.raises(GraphError, match=r"parameter x is R\.Tensor\(\(n, 4\).*fix: give its sizes as numbers"):
        nn.init_params(module)


def test_what_is_refused(tvm):
    from tvm.relax.testing import nn  # type: ignore[import-not-found]

    with pytest.raises(GraphError, match=r"no function is being written; fix: .*bb\.function"):
        nn.ReLU()(nn.Placeholder((2,)))
    with pytest.raises(GraphError, match="the shape of w is a list or a tuple, not 3"):
        nn.Parameter(3, name="w")
    with pytest.raises(GraphError, match="the layer Module has no forward; fix: def forward"):
        nn.Module()(1)
    relu = nn.ReLU()
    relu.define_subroutine = True
    with pytest.raises(GraphError, match=r"ReLU\.define_subroutine is not supported; fix: leave it False"):
        relu(nn.Placeholder((2,)))
    with pytest.raises(AttributeError, match="checkpoint is not part of tir_mlir: graphs are run, not differentiated"):
        nn.checkpoint
