"""Calls with tensors that DLPack's C exchange API lends, as torch's."""

import ctypes

import numpy as np
import pytest
from programs.parsed import parse

from tir_mlir.build import build
from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.runtime.call import borrowed_tensors

TEXT = """
@T.prim_func
def main(a: T.handle, B: T.Buffer((4, 3), "int32"), c: T.handle):
    n, s = T.int32(), T.int32()
    A = T.match_buffer(a, (n, 3), "int32")
    C = T.match_buffer(c, (n, 3), "int32", strides=[s, 1])
    for i, j in T.grid(n, 3):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] + B[0, vj]
"""
INT32, FLOAT32 = 0 | 32 << 8 | 1 << 16, 2 | 32 << 8 | 1 << 16


def capsule(lend, version=1):
    words = (ctypes.c_uint64 * 7)(version, 0, 0, 0, 0, ctypes.cast(lend, ctypes.c_void_p).value, 0)
    new = ctypes.PyDLL(None).PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p,) * 3
    name = ctypes.create_string_buffer(b"dlpack_exchange_api")
    kept.extend((words, lend, name))
    return new(ctypes.addressof(words), ctypes.addressof(name), None)


kept, lent = [], []


def tensor_type(version=1, **facts):
    """A new type of tensors. `facts`: what its C API says of them instead of the truth."""

    @borrowed_tensors._Lend
    def lend(value, out):
        lent.append(value)
        if value.raises:
            return -1
        array, tensor = value.array, out.contents
        value.held = (ctypes.c_int64 * 8)(*array.shape, *[0] * (4 - array.ndim), *[s // 4 for s in array.strides])
        at = ctypes.addressof(value.held)
        tensor.data, tensor.device, tensor.rank, tensor.offset = array.ctypes.data - 8, 1, array.ndim, 8
        tensor.dtype = FLOAT32 if array.dtype == np.float32 else INT32
        tensor.shape = ctypes.cast(at, ctypes.POINTER(ctypes.c_int64))
        tensor.strides = ctypes.cast(at + 32, ctypes.POINTER(ctypes.c_int64))
        for name, fact in facts.items():
            setattr(tensor, name, fact)
        return 0

    class Tensor:
        requires_grad = False
        raises = False
        __dlpack_c_exchange_api__ = capsule(lend, version)

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            if self.requires_grad:
                raise BufferError("it needs a gradient")
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return 1, 0

    return Tensor


def arrays(n=4):
    return [np.arange(3 * n, dtype="int32").reshape(n, 3), np.full((4, 3), 7, "int32"), np.zeros((n, 3), "int32")]


@pytest.fixture
def main():
    return build(parse(TEXT))["main"]


@pytest.fixture
def came(main):
    """The calls that came to Python."""
    pack, found = main._packer.pack, []
    main._packer.pack = lambda args: found.append(args) or pack(args)
    return found


def run(main, tensors, given):
    args = [t(a) for t, a in zip(tensors, given, strict=True)]
    main(*args)
    np.testing.assert_array_equal(given[2], given[0] + given[1][0])


def test_a_known_call_with_tensors_does_not_come_to_python(main, came):
    kind = tensor_type()
    for n in (4, 5, 4, 5):
        run(main, [kind] * 3, arrays(n))
    assert len(came) == 2


def test_arrays_and_tensors_mix(main, came):
    kind = tensor_type()
    for tensors in ([kind, np.asarray, kind], [np.asarray, kind, kind], [np.asarray] * 3) * 2:
        run(main, tensors, arrays())
    assert len(came) == 3


def test_strides_are_compared(main, came):
    kind = tensor_type()
    for step in (1, 2, 1, 2):
        a, b, _c = arrays()
        run(main, [kind] * 3, [a, b, np.zeros((4 * step, 3), "int32")[::step]])
    assert len(came) == 2
    with pytest.raises(ArgumentError, match="has stride 2 in dimension 1"):
        main(kind(a), kind(b), kind(np.zeros((4, 6), "int32")[:, ::2]))


def test_another_dtype_is_refused_after_a_good_call(main):
    kind = tensor_type()
    run(main, [kind] * 3, arrays())
    a, b, c = arrays()
    with pytest.raises(ArgumentError, match=r"A: .* is of type float32; int32 is needed"):
        main(kind(a.astype("float32")), kind(b), kind(c))


def test_overlap_is_refused_after_a_good_call(main):
    kind = tensor_type()
    run(main, [kind] * 3, arrays())
    a, b, _ = arrays()
    with pytest.raises(ArgumentError, match="overlap in memory"):
        main(kind(a), kind(b), kind(a))


def test_a_tensor_that_needs_a_gradient_is_refused_after_a_good_call(main):
    kind = tensor_type()
    run(main, [kind] * 3, arrays())
    a, b, c = map(kind, arrays())
    b.requires_grad = True
    with pytest.raises(ArgumentError, match=r"B: .* gives no array in main memory .it needs a gradient"):
        main(a, b, c)


def test_an_error_of_the_c_function_leads_to_python(main, came):
    kind = tensor_type()
    run(main, [kind] * 3, arrays())
    given = arrays()
    args = [kind(a) for a in given]
    args[1].raises = True
    main(*args)
    np.testing.assert_array_equal(given[2], given[0] + 7)
    assert len(came) == 2


@pytest.mark.parametrize("facts", [{"version": 2}, {"device": 2}, {"data": 64}, {"rank": 1}])
def test_a_c_function_that_lends_something_else_is_not_used(main, came, facts):
    kind = tensor_type(**facts)
    for _ in range(2):
        run(main, [kind] * 3, arrays())
    assert len(came) == 2


def test_torch(main, came):
    torch = pytest.importorskip("torch")
    for _ in range(3):
        run(main, [torch.from_numpy] * 3, arrays())
    lends = hasattr(torch.Tensor, "__dlpack_c_exchange_api__")
    assert len(came) == (1 if lends else 3)
