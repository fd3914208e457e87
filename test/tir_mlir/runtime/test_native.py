"""Native calls that bypass Python: accepted and rejected arguments, side effects."""

import copy
import gc
import importlib.util
import platform
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest
from harness import ROOT
from programs.parsed import parse

from tir_mlir.build import build
from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.runtime.call import fast_entry

TEXT = """
@T.prim_func
def main(a: T.handle, B: T.Buffer((8, 8), "float32"), c: T.handle, d: T.handle):
    n = T.int32()
    T.func_attr({"tir.noalias": True})
    A = T.match_buffer(a, (n, 8), "float32")
    C = T.match_buffer(c, (n, 8), "float32")
    D = T.match_buffer(d, (3,), "float32", strides=[2])
    for i, j in T.grid(n, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] + B[0, vj] + D[0]
"""
NUMBERS = """func.func @f(%X: memref<6xf64> {tir.name = "X"}, %n: index {tir.name = "n"}, %a: i8 {tir.name = "a"},
    %b: i64 {tir.name = "b"}, %x: f32 {tir.name = "x"}, %y: f64 {tir.name = "y"}, %t: i1 {tir.name = "t"}) {
  %nf = arith.index_cast %n : index to i64
  %0 = arith.sitofp %nf : i64 to f64
  %1 = arith.sitofp %a : i8 to f64
  %2 = arith.sitofp %b : i64 to f64
  %3 = arith.extf %x : f32 to f64
  %5 = arith.uitofp %t : i1 to f64
  affine.store %0, %X[0] : memref<6xf64>
  affine.store %1, %X[1] : memref<6xf64>
  affine.store %2, %X[2] : memref<6xf64>
  affine.store %3, %X[3] : memref<6xf64>
  affine.store %y, %X[4] : memref<6xf64>
  affine.store %5, %X[5] : memref<6xf64>
  return
}"""


def arguments(n=4):
    a, b, c, d = np.ones((n, 8), "f4"), np.ones((8, 8), "f4"), np.zeros((n, 8), "f4"), np.ones(6, "f4")[::2]
    return [a, b, c, d]


@pytest.fixture(scope="module")
def lib():
    return build(parse(TEXT))


@pytest.fixture
def warm(lib):
    """The function, which has seen arguments that fit; and the count of calls that came to Python since."""
    main, came = build(parse(TEXT))["main"], []
    for n in (4, 5):
        main(*arguments(n))
    pack = main._packer.pack
    main._packer.pack = lambda args: came.append(args) or pack(args)
    return main, came


def test_a_call_like_an_earlier_one_does_not_come_to_python(warm):
    main, came = warm
    for n in (4, 5, 4, 4):
        args = arguments(n)
        assert main(*args) is None
        np.testing.assert_array_equal(args[2], 3)
    assert came == []
    args = arguments(6)
    main(*args)
    main(*args)
    assert len(came) == 1 and (args[2] == 3).all()


def change(i, value):
    return lambda args: [*args[:i], value(args[i]), *args[i + 1 :]]


def misaligned(array):
    memory = np.zeros(array.nbytes + 1, "i1")
    return np.frombuffer(memory.data, array.dtype, array.size, 1).reshape(array.shape)


def frozen(array):
    array.flags.writeable = False
    return array


WRONG = {
    "type": change(0, lambda a: a.astype("f8")),
    "type of the same size": change(0, lambda a: a.astype("i4")),
    "byte order": change(0, lambda a: a.astype(">f4")),
    "rank": change(0, lambda a: a[0]),
    "more dimensions": change(0, lambda a: a[None]),
    "constant extent": change(1, lambda b: b[:7]),
    "equal extents": change(2, lambda c: np.zeros((5, 8), "f4")),
    "rows apart": change(0, lambda a: np.ones((4, 16), "f4")[:, :8]),
    "transposed": change(1, lambda b: b.T),
    "another stride": change(3, lambda d: np.ones(9, "f4")[::3]),
    "strides in bytes": change(3, lambda d: np.ones(6, [("x", "f4"), ("y", "i1")])["x"]),
    "reversed": change(3, lambda d: d[::-1]),
    "address": change(0, misaligned),
    "read-only": change(2, frozen),
    "overlap": lambda args: [args[2], *args[1:]],
    "part of an overlap": lambda args: [(big := np.ones((7, 8), "f4"))[:4], args[1], big[3:], args[3]],
    "list": change(0, lambda a: a.tolist()),
    "number": change(0, lambda a: np.float32(1)),
    "none": change(2, lambda a: None),
    "too few": lambda args: args[:3],
    "too many": lambda args: [*args, 1],
    "nothing": lambda args: [],
}


@pytest.mark.parametrize("kind", WRONG)
def test_mismatched_arguments_get_the_same_message(warm, kind):
    wrong = WRONG[kind](arguments())
    with pytest.raises(ArgumentError) as first:
        build(parse(TEXT))["main"]._slow(*wrong)
    for _ in range(2):
        with pytest.raises(ArgumentError) as later:
            warm[0](*wrong)
        assert str(later.value) == str(first.value)


def test_an_unknown_keyword_is_refused(warm):
    with pytest.raises(ArgumentError, match="main has no parameter 'd'"):
        warm[0](*arguments()[:3], d=arguments()[3])


def test_other_arrays_are_still_taken(warm):
    class Subclass(np.ndarray):
        pass

    class Lender:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    main, _ = warm
    for wrap in (lambda a: a.view(Subclass), Lender, lambda a: a.view(np.dtype("f4", metadata={"x": 1}))):
        args = arguments()
        main(wrap(args[0]), *args[1:])
        assert (args[2] == 3).all()
    read_only = arguments()
    main(frozen(read_only[0]), *read_only[1:])
    assert (read_only[2] == 3).all()


def test_buffers_that_may_overlap_do(parse):
    add = """func.func @f(%X: memref<4xf32> {tir.name = "X"}, %Y: memref<4xf32> {tir.name = "Y"})
        attributes {tir.attrs = {tir.noalias = false}} {
      affine.for %i = 0 to 4 {
        %x = affine.load %X[%i] : memref<4xf32>
        %y = arith.addf %x, %x : f32
        affine.store %y, %Y[%i] : memref<4xf32>
      }
      return
    }"""
    double, x = build(parse(add)), np.ones(4, "f4")
    for _ in range(3):
        double(x, x)
    assert (x == 8).all()


def test_many_shapes(warm):
    main, came = warm
    for n in [*range(3 * fast_entry.PLANS), *range(3 * fast_entry.PLANS)]:
        args = arguments(n)
        main(*args)
        assert (args[2] == 3).all()
    came.clear()
    for n in range(3 * fast_entry.PLANS - fast_entry.PLANS, 3 * fast_entry.PLANS):
        main(*arguments(n))
    assert came == []  # the last ones are remembered


def test_numbers_by_value(parse):
    f, x = build(parse(NUMBERS))["f"], np.zeros(6)
    for n, a, b, single, double, t in [(3, -7, 1 << 62, 0.1, 0.1, True), (3, 127, -(1 << 63), -2.5, 1e300, False)] * 2:
        f(x, n, a, b, single, double, t)
        assert x.tolist() == [n, a, float(b), float(np.float32(single)), double, t]
    f(x, 4, np.int8(1), np.int64(2), 3, np.float32(4), np.bool_(True))
    assert x.tolist() == [4, 1, 2, 3, 4, 1]
    good = [x, 3, 1, 2, 3.0, 4.0, True]
    for place, wrong in [(1, -1), (2, 128), (2, True), (2, 1.0), (3, 1 << 63), (4, True), (5, "1"), (6, 1), (1, None)]:
        f(*good)
        with pytest.raises(ArgumentError, match=f"argument {place}"):
            f(*good[:place], wrong, *good[place + 1 :])


def test_references_stay_even(lib):
    main, args = lib["main"], arguments()

    def calls():
        for _ in range(1000):
            main(*args)
            with pytest.raises(ArgumentError):
                main(args[1], *args[1:])
        gc.collect()

    kept = [*args, main, main._slow, np.dtype("f4"), *([] if sys.version_info >= (3, 12) else [None])]
    calls()
    changes = []
    for _ in range(3):  # what other tests left behind is freed at any time, but not in each run
        counts = [sys.getrefcount(each) for each in kept]
        calls()
        changes.append([abs(sys.getrefcount(each) - before) for each, before in zip(kept, counts, strict=True)])
    assert all(min(of_one) < 900 for of_one in zip(*changes, strict=True))  # one a call would be 1,000


def test_code_goes_with_its_last_function():
    lib = build(parse(TEXT))
    main, driver, slow = lib["main"], weakref.ref(lib._driver), weakref.ref(lib["main"]._slow)
    del lib
    gc.collect()
    assert driver() is not None
    main(*arguments())
    del main
    gc.collect()
    assert driver() is None and slow() is None


def test_it_is_made_by_build_only(lib):
    main = lib["main"]
    assert repr(main).startswith("<compiled main(A: Buffer[(n, 8)") and main.name == "main"
    assert [p.name for p in main.signature.params] == ["A", "B", "C", "D"] and "compiled function" in main.__doc__
    assert copy.copy(main) is main and lib.main is main
    for make in (type(main), lambda: object.__new__(type(main))):
        with pytest.raises(TypeError):
            make()
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        main.nothing


def test_every_spelling_calls_the_same(lib):
    for call in (lib, lib["main"], lib.main):
        args = arguments()
        call(*args)
        assert (args[2] == 3).all()
    assert (
        "main" in lib
        and len(lib) == 1
        and list(lib) == ["main"]
        and lib == lib
        and hash(lib) != hash(build(parse(TEXT)))
    )


def test_threads_do_not_meet(lib):
    wrong = []

    def work(n):
        args = arguments(n)
        args[0][:] = n
        for _ in range(500):
            args[2][:] = 0
            lib["main"](*args)
            if not (args[2] == n + 2).all():
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 9)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


@pytest.mark.nightly
def test_other_threads_run_during_a_long_call():
    slow = build(
        parse("""
@T.prim_func
def main(X: T.Buffer((64,), "float32"), n: T.int32):
    for r, i in T.grid(n, 64):
        with T.block("X"):
            vr, vi = T.axis.remap("RS", [r, i])
            X[vi] = T.exp(X[vi]) - T.float32(1)
""")
    )["main"]
    x, rounds = np.ones(64, "f4"), 1
    took = 0.0
    while took < 0.2:
        rounds *= 2
        start = time.perf_counter()
        slow(x, rounds)
        took = time.perf_counter() - start
    for _ in range(3):  # the second and third do not come to Python
        ticks: list[float] = []
        done = threading.Event()

        def tick(ticks=ticks, done=done):
            while not done.is_set():
                ticks.append(time.perf_counter())
                time.sleep(0.001)

        thread = threading.Thread(target=tick)
        thread.start()
        start = time.perf_counter()
        slow(x, rounds)
        end = time.perf_counter()
        done.set()
        thread.join()
        assert len([t for t in ticks if start < t < end]) >= 5


def test_without_an_entry_python_serves(monkeypatch):
    monkeypatch.setattr(fast_entry, "_made", [None])
    lib, args = build(parse(TEXT)), arguments()
    assert type(lib["main"]).__module__ == "tir_mlir.runtime.call.function"
    for call in (lib, lib["main"], lib.main):
        call(*args)
    assert (args[2] == 3).all()


def test_a_fork_while_the_entry_is_made():
    code = (
        "import os\nfrom tir_mlir.runtime.call import fast_entry\nfast_entry._lock.acquire()\npid = os.fork()\n"
        "if not pid: os._exit(0 if fast_entry.entry() else 1)\nprint(os.waitpid(pid, 0)[1])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "0\n", done.stderr


@pytest.mark.parametrize("field", ["_SHAPE", "_DESCR", "_DATA", "_RANK", "_TYPE", "_WRITEABLE"])
def test_another_layout_is_noticed(monkeypatch, field):
    assert fast_entry._has_expected_layouts()
    monkeypatch.setattr(fast_entry, field, getattr(fast_entry, field) + 8)
    assert not fast_entry._has_expected_layouts()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="it is made on x86-64")
@pytest.mark.parametrize("name", ["entry", "support", "half"])
def test_the_llvm_ir_is_made_of_its_source(name):
    spec = importlib.util.spec_from_file_location("entry", ROOT / "tools" / "entry.py")
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.FILES[name].with_suffix(".ll").read_text() == tool.compiled(name), "make entry"
