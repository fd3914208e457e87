"""Models on a GPU: on the PTX machine, which checks each access, and as native code would start them."""

from __future__ import annotations

import functools
import threading
import warnings
from typing import cast

import numpy as np
import pytest
from harness import fake_cuda
from harness.device_arrays import DeviceArray as DeviceTensor
from harness.device_arrays import lending
from harness.fake_cuda import FakeCuda

from tir_mlir import build, ptx
from tir_mlir.errors import BuildError, DeviceError, DeviceMemoryError, GraphError, ScheduleWarning
from tir_mlir.graph import GraphBuilder
from tir_mlir.graph.builder import Value
from tir_mlir.runtime.drivers import cuda, device_driver
from tir_mlir.runtime.drivers.device_driver import using
from tir_mlir.runtime.gpu.device_array import DeviceArray, device_array
from tir_mlir.script import tir as T

Lent = lending(DeviceTensor)


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def mlp(rows: int | str = 7, inputs=33, hidden=20, outputs=10):
    b = GraphBuilder("main")
    x = b.input("x", (rows, inputs))
    w1, b1, w2 = (
        b.weight(n, random(*s)) for n, s in (("w1", (hidden, inputs)), ("b1", (hidden,)), ("w2", (outputs, hidden)))
    )
    y = b.op("nn.relu", b.op("add", b.op("nn.dense", x, w1), b1))
    b.output(b.op("nn.softmax", b.op("nn.dense", y, w2)))
    return b.finish()


def built(graph, target="sm_80", **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return build(graph, target=target, **options)


@pytest.fixture(scope="module")
def by_rows():
    """A model for any number of rows, and the same for this CPU."""
    graph = mlp("n")
    return built(graph), build(graph)


@pytest.mark.parametrize("rows", [1, 15, 16, 17, 127])
def test_any_number_of_rows(by_rows, rows):
    model, expected = by_rows
    x = random(rows, 33)
    with ptx.stand_in():
        np.testing.assert_allclose(model(x), expected(x), rtol=1e-4, atol=1e-6)


@pytest.mark.nightly
def test_the_same_kernels_on_the_cpu(by_rows):
    x = random(17, 33)
    np.testing.assert_allclose(built(mlp("n"), "cuda-emulated")(x), by_rows[1](x), rtol=1e-4, atol=1e-6)


def test_threads_have_arenas_of_their_own(by_rows):
    model, expected = by_rows
    inputs, results = [random(n, 33, seed=n) for n in (3, 5)], {}

    def run(driver, n):
        with using(driver):
            results[n] = model(inputs[n])

    with ptx.stand_in() as driver:
        workers = [threading.Thread(target=run, args=(driver, n)) for n in range(2)]
        for worker in workers:
            worker.start()
            worker.join()
    for n, x in enumerate(inputs):
        np.testing.assert_allclose(results[n], expected(x), rtol=1e-4, atol=1e-6)


def test_weights_are_copied_once_and_freed_with_the_model():
    model, x = built(mlp()), random(7, 33)
    with ptx.stand_in() as driver:
        model(x)
        held = driver.held_bytes
        model(x)
        assert driver.held_bytes == held >= model.memory.weights
        del model
        assert driver.held_bytes == 0


def test_arrays_on_the_device_give_arrays_on_the_device(by_rows):
    model, expected = by_rows
    x = random(5, 33)
    with ptx.stand_in():
        y = model(device_array(x))
        assert isinstance(y, DeviceArray)
        np.testing.assert_allclose(y.numpy(), expected(x), rtol=1e-4, atol=1e-6)


def results_without_work():
    """An input in another shape, a result twice, and a weight."""
    b = GraphBuilder("main")
    x = b.input("x", (3, 5))
    y = b.op("nn.relu", x)
    b.output(b.op("reshape", x, shape=(15,)), y, y, b.weight("w", random(7)))
    return b.finish()


def test_results_that_nothing_computes_are_copied_on_the_device():
    graph, x = results_without_work(), random(3, 5)
    with ptx.stand_in():
        results = built(graph)(x)
    for result, expected in zip(results, build(graph)(x), strict=True):
        np.testing.assert_array_equal(result, expected)


def test_without_a_gpu_a_call_names_both_ways_out(by_rows, monkeypatch):
    missing = functools.partial(cuda.Cuda, "libnot_there.so.1")
    monkeypatch.setattr(device_driver, "default_driver", missing)
    with pytest.raises(DeviceError, match=r'target="cuda-emulated".*with tir_mlir.ptx.stand_in\(\)'):
        by_rows[0](random(1, 33))


@pytest.mark.parametrize("memory", [1000, 3000, 5000])
def test_what_does_not_fit_says_how_much_is_needed(memory):
    needs = r"needs 3,648 bytes for weights, [\d,]+ for its arena and 1,204 for inputs and outputs on the device"
    with ptx.stand_in(memory=memory), pytest.raises(DeviceMemoryError, match=rf"bytes are in use; the model {needs}"):
        built(mlp())(random(7, 33))


# -- refusals ----------------------------------------------------------------------------------------------------------


def control():
    b = GraphBuilder("main")
    p, x = b.input("p", (), "bool"), b.input("x", (4,))
    b.output(cast(Value, b.branch(p, lambda r: r.op("exp", x), lambda r: r.op("negative", x))))
    return b.finish()


def test_branches_are_refused():
    with pytest.raises(GraphError, match=r"is a branch or a loop that data decide on, .*fix: leave target out"):
        build(control(), target="sm_80")
    y = built(control(), "cuda-emulated")(np.array(True), random(4))
    np.testing.assert_allclose(y, np.exp(random(4)), rtol=1e-6)


def test_other_targets_are_refused():
    with pytest.raises(
        BuildError, match='OpenCL is not for graphs; fix: leave target out, for this CPU, or target="cuda"'
    ):
        build(mlp(), target="opencl")


@pytest.mark.parametrize("option", [{"threads": 2}, {"libs": ["libm.so.6"]}, {"optimize": "fast"}])
def test_options_of_cpus_are_refused(option):
    (name,) = option
    with pytest.raises(BuildError, match=f"{name} is for CPUs, and sm_80 is a GPU; fix: leave it out"):
        build(mlp(), target="sm_80", **option)


def test_a_model_on_a_gpu_is_neither_profiled_nor_exported(tmp_path):
    model = built(mlp())
    with pytest.raises(BuildError, match=r"fix: model.report\(\)"):
        model.profile(random(7, 33))
    with pytest.raises(BuildError, match=r"fix: build it without a target, or model.library.export"):
        model.export(tmp_path)
    assert len(model.library.export(tmp_path / "f.ptx")) == 3


def test_each_function_and_the_whole_are_verified():
    """In tf32, whose error is told."""
    b = GraphBuilder("main")
    b.output(b.op("exp", b.op("nn.dense", b.input("x", (3, 5)), b.weight("w", random(4, 5)))))
    model = built(b.finish(), math="tf32")
    assert "T_matmul_NT: tensor_cores" in model.schedules["fused_nn_dense_exp"][0]
    verified = model.verify()
    assert verified and not verified.unchecked
    assert [*verified.functions] == ["fused_nn_dense_exp"]
    assert "by the kernels for sm_80 on the PTX machine" in str(verified)
    assert "products in tf32: of other numbers each is wrong by up to 0.001 of the sum" in str(verified)


@pytest.mark.parametrize(
    ("target", "math", "message"),
    [
        ("llvm", "tf32", 'math is for GPUs of NVIDIA; fix: leave it out, or target="cuda"'),
        ("sm_75", "tf32", r'sm_75 has no tf32; fix: CUDA\("sm_80"\) or later, or leave math out'),
        ("sm_80", "fp8", 'math of a GPU is "float32" or "tf32", not \'fp8\''),
    ],
)
def test_other_math_is_refused(target, math, message):
    with pytest.raises(BuildError, match=message):
        build(mlp(), target=target, math=math)


def test_math_is_for_graphs():
    with pytest.raises(BuildError, match=r"math is for graphs; fix: schedules.auto\(sch, target=CUDA"):
        build(running, target="sm_80", math="tf32")


def test_the_report_predicts_the_time_of_each_function(by_rows):
    report = by_rows[0].report(random(16, 33), gpu="A100")
    assert {row.function for row in report} == {"fused_nn_dense_add_nn_relu", "nn_dense_1", "nn_softmax"}
    assert report.launches == len(by_rows[0].program.launches({"n": 16})[0])
    assert report.seconds == pytest.approx(sum(row.seconds for row in report))
    assert "in 3 kernels, predicted" in str(report) or report.launches != 3


@T.prim_func
def running(A: T.Buffer((50,), "float32"), B: T.Buffer((50,), "float32")):
    """A recurrence: each element needs the one before."""
    for i in range(50):
        with T.block("B"):
            vi = T.axis.opaque(50, i)
            B[vi] = A[vi] + T.if_then_else(vi == 0, T.float32(0), B[vi - 1] * T.float32(0.5))


def test_what_no_schedule_fits_is_named():
    b = GraphBuilder("main")
    b.output(cast(Value, b.call_tir(running, [b.input("x", (50,))], [((50,), "float32")])))
    with pytest.warns(ScheduleWarning, match=r"main: no schedule for a GPU fits blocks of running: a thread computes"):
        model = build(b.finish(), target="sm_80")
    x, expected = random(50), np.zeros(50, np.float32)
    build(running)(x, expected)
    with ptx.stand_in():
        np.testing.assert_array_equal(model(x), expected)


def grown():
    """A row more of a state at each call."""
    b = GraphBuilder("main")
    x, state = b.input("x", (1, 8)), b.input("state", ("n", 8))
    longer = b.op("concat", state, x, axis=0)
    scores = b.op("nn.softmax", b.op("nn.dense", x, longer))
    b.output(b.op("matmul", scores, longer), longer)
    return b.finish()


@pytest.mark.nightly
def test_a_state_that_grows_makes_the_arena_grow():
    graph = grown()
    model, expected = built(graph), build(graph)
    state = other = random(1, 8)
    with ptx.stand_in() as driver:
        for step in range(4):
            x = random(1, 8, seed=step)
            y, state = model(x, state)
            z, other = expected(x, other)
            np.testing.assert_allclose(y, z, rtol=1e-5, atol=1e-6)
        held = driver.held_bytes
        model.free()
        assert driver.held_bytes < held


# -- native code -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cuda_library(tmp_path_factory):
    return fake_cuda.compiled(tmp_path_factory.mktemp("cuda"))


@pytest.fixture
def driver(cuda_library):
    """CUDA's driver, whose launches are written down. Its name keeps what it compiles apart in the cache."""
    driver = FakeCuda(cuda_library)
    driver.name = "fake CUDA"
    return driver


def test_one_native_call_starts_all_kernels(driver, monkeypatch):
    model, x = built(mlp()), random(7, 33)
    monkeypatch.setattr(driver, "start", None)  # a launch from Python
    with using(driver), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model(x)
        launches, loads = driver.launches(), driver.count("loads")
        model(x)
    assert launches == driver.launches() == [each.launch.kernel for each in model.program.launches({})[0]]
    assert launches[-1].startswith("nn_softmax_kernel")
    assert driver.count("loads") == loads
    held = driver.count("held")
    assert held == 2  # weights and arena
    del model
    assert driver.count("held") == 0


def test_tensors_start_all_kernels_without_python(driver):
    model = built(mlp())
    driver.fake.fake_arguments(2)
    with using(driver):
        x, y = (Lent(driver, random(*shape)) for shape in ((7, 33), (7, 10)))
        run = model._function(1)  # as a call, with memory for the result
        for _ in range(3):
            run(x, y)
        assert len(x.seen) == 1  # in Python
        assert len(driver.launches()) == 3 * len(model.program.launches({})[0])
        assert driver.launched()[1][-1] == 0x70  # the stream of the tensors' package
        assert y.address in [driver.fake.fake_word(n) for n in range(2)]


def test_an_arena_serves_one_stream(driver):
    model, stream = built(mlp()), 0x70
    other = lending(DeviceTensor, 0x90)
    with using(driver):
        run, tensors = (
            model._function(1),
            [(kind(driver, random(7, 33)), kind(driver, random(7, 10))) for kind in (Lent, other)],
        )
        before = driver.count("held")
        for x, y in (*tensors, *tensors):
            run(x, y)
            assert driver.launched()[1][-1] == (stream if isinstance(x, Lent) else 0x90)
        assert driver.count("held") == before + 3  # weights, two arenas


def test_a_start_that_fails_between_kernels_is_reported_and_not_repeated(driver):
    model, x = built(mlp()), random(7, 33)
    with using(driver), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        driver.fake.fake_fail_after(b"cuLaunchKernel", 700, 2)
        for _ in range(2):
            with pytest.raises(DeviceError, match=r"main, after its first kernel: .*illegal memory access"):
                model(x)
        assert len(driver.launches()) == 2
