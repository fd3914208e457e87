"""Programs are MLIR text."""
# ruff: noqa: E501

import numpy as np
import pytest

from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.runtime.call.arrays import Packer
from tir_mlir.runtime.call.signature import signatures

TEXT = """
#rows = affine_map<()[s0] -> (s0, 16)>
func.func @f(%A: memref<?x16xf32> {tir.name = "A", tir.shape = #rows, tir.syms = ["n"]},
             %B: memref<16x16xf32> {tir.name = "B"},
             %C: memref<?x16xf32> {tir.name = "C", tir.shape = #rows, tir.syms = ["n"]})
    attributes {tir.attrs = {tir.noalias = true}} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %A, %c0 : memref<?x16xf32>
  affine.for %i = 0 to %n {
    %a = affine.load %A[%i, 0] : memref<?x16xf32>
    %b = affine.load %B[0, 0] : memref<16x16xf32>
    %s = arith.addf %a, %b : f32
    %view = memref.subview %C[0, 0] [1, 16] [1, 1] : memref<?x16xf32> to memref<1x16xf32, strided<[16, 1]>>
    affine.store %s, %view[0, 0] : memref<1x16xf32, strided<[16, 1]>>
  }
  return
}
"""


@pytest.fixture
def packer(parse):
    def packer(text: str = TEXT) -> Packer:
        module = parse(text)
        with enter_context():
            (signature,) = signatures(module).values()
        return Packer(signature)

    return packer


def arrays(n: int = 4) -> list[np.ndarray]:
    return [np.zeros((n, 16), "float32"), np.zeros((16, 16), "float32"), np.zeros((n, 16), "float32")]


def test_signature_and_written_parameters(packer):
    signature = packer().signature
    assert (
        str(signature)
        == 'f(A: Buffer[(n, 16), "float32"], B: Buffer[(16, 16), "float32"], C: Buffer[(n, 16), "float32"])'
    )
    assert [p.written for p in signature.params] == [False, False, True]


def test_descriptors(packer):
    a, b, c = arrays(4)
    values = packer().pack([a, b, c]).values
    assert list(values[0]) == [a.ctypes.data, a.ctypes.data, 0, 4, 16, 16, 1]


def test_any_rows_when_all_agree_and_then_others(packer):
    p = packer()
    for n in (1, 0, 7, 4):
        values = p.pack(arrays(n)).values
        assert values[2][3] == n


REFUSED = {
    "count": (lambda a, b, c: (a, b), "f takes 3 arguments, 2 given; it is f.A: Buffer"),
    "rank": (lambda a, b, c: (a[0], b, c), "argument 0, A: .* has 1 dimensions, shape .16,.; 2 are needed"),
    "static extent": (lambda a, b, c: (a, b[:8], c), "argument 1, B: .* has extent 8 in dimension 0; 16 is needed"),
    "shape variable": (
        lambda a, b, c: (a, b, np.zeros((9, 16), "float32")),
        "argument 2, C: .* has extent 9 in dimension 0; n = 4 is needed; n = 4 comes from dimension 0 of 'A'",
    ),
    "type": (
        lambda a, b, c: (a.astype("float64"), b, c),
        r'is of type float64; float32 is needed; convert with .astype\("',
    ),
    "byte order": (lambda a, b, c: (a.astype(">f4"), b, c), "foreign byte order"),
    "strides": (lambda a, b, c: (a, b.T, c), r"B: .* is not C-contiguous: strides \(1, 16\).*np.ascontiguousarray"),
    "odd strides": (
        lambda a, b, c: (a, np.zeros((16, 66), "int8")[:, :64].view("float32"), c),
        r"B: .* strides \(66, 4\) in bytes; multiples of 4",
    ),
    "no array": (lambda a, b, c: (a, [[1.0]], c), "B: .* is a list; a NumPy array or an object with __dlpack__"),
    "a numpy() that gives none": (
        lambda a, b, c: (a, type("Tensor", (), {"numpy": lambda self: None})(), c),
        r"B: .* is a Tensor that gives no array in main memory \(its numpy\(\) gives a NoneType\)",
    ),
    "overlap": (
        lambda a, b, c: (c, b, c),
        "arguments 0, A: .*, and 2, C: .*, overlap in memory: .*'C' is written.*tir.noalias",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(packer, case):
    change, message = REFUSED[case]
    with pytest.raises(ArgumentError, match=message):
        packer().pack(change(*arrays()))


def test_read_only(packer):
    a, b, c = arrays()
    for x in (a, b, c):
        x.flags.writeable = False
    with pytest.raises(ArgumentError, match=r"C: .* is read-only; the function writes to it"):
        packer().pack([a, b, c])
    packer().pack([a, b, arrays()[2]])  # what is only read may be read-only


def test_alignment(packer):
    a, b, _ = arrays()
    c = np.zeros(4 * 64 + 1, "int8")[1:].view("float32").reshape(4, 16)
    with pytest.raises(ArgumentError, match=r"C: .* which is not a multiple of 4"):
        packer().pack([a, b, c])


def test_overlap_is_exact_and_checked_unless_allowed(packer):
    a, b, c = arrays()
    packer().pack([a, a.repeat(4, 0), c])
    packer().pack([b[:4], b, c])  # both only read
    with pytest.raises(ArgumentError, match="overlap in memory"):
        packer(TEXT.replace("tir.noalias = true", "")).pack([c, b, c])
    packer(TEXT.replace("tir.noalias = true", "tir.noalias = false")).pack([c, b, c])


def test_strided_parameters(packer):
    text = """func.func @g(%A: memref<4x4xf32, strided<[?, 1], offset: ?>> {tir.name = "A"}) { return }"""
    big = np.zeros((8, 8), "float32")
    values = packer(text).pack([big[2:6, 4:]]).values
    assert list(values[0])[2:] == [0, 4, 4, 8, 1]
    with pytest.raises(ArgumentError, match="has stride 2 in dimension 1; 1 is needed"):
        packer(text).pack([big[:4, ::2]])
    values = packer(text).pack([big[3::-1, :4]]).values
    assert list(values[0])[5:] == [-8, 1]


def test_the_stride_of_one_element_does_not_matter(packer):
    text = """func.func @g(%A: memref<1x4xf32> {tir.name = "A"}) { return }"""
    values = packer(text).pack([np.zeros((8, 4), "float32")[::8]]).values
    assert list(values[0])[5:] == [4, 1]


def test_derived_extents_bind_the_variable(packer):
    text = """func.func @g(%A: memref<?xf32> {tir.name = "A", tir.shape = affine_map<()[s0] -> (s0 * 4 + 2)>, tir.syms = ["n"]},
                           %B: memref<?xf32> {tir.name = "B", tir.shape = affine_map<()[s0] -> (s0)>, tir.syms = ["n"]},
                           %n: index {tir.name = "n"}, %x: f32 {tir.name = "x"}) { return }"""
    f32 = np.float32
    packer(text).pack([np.zeros(14, f32), np.zeros(3, f32), 3, 1.5])
    with pytest.raises(
        ArgumentError, match=r"A: .* extent 13 in dimension 0; \(\(n \* 4\) \+ 2\) = 14 is needed; n = 3 comes"
    ):
        packer(text).pack([np.zeros(13, f32), np.zeros(3, f32), 3, 1.5])
    with pytest.raises(ArgumentError, match="extent 3 in dimension 0; n = 4 is needed; n = 4 comes from argument 'n'"):
        packer(text).pack([np.zeros(18, f32), np.zeros(3, f32), 4, 1.5])
    with pytest.raises(ArgumentError, match=r"argument 2, n: int64: is 2.5 .float.; a number of type int64"):
        packer(text).pack([np.zeros(14, f32), np.zeros(3, f32), 2.5, 1.5])
    with pytest.raises(ArgumentError, match="argument 3, x: float32: is 'y'"):
        packer(text).pack([np.zeros(14, f32), np.zeros(3, f32), 3, "y"])


def test_bfloat16_is_passed_as_uint16(packer):
    text = """func.func @g(%A: memref<4xbf16> {tir.name = "A"}) { return }"""
    packer(text).pack([np.zeros(4, "uint16")])
    with pytest.raises(ArgumentError, match="view a bfloat16 array as uint16"):
        packer(text).pack([np.zeros(4, "float16")])


class Tensor:
    """A tensor of another library."""

    def __init__(self, array: np.ndarray):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Handle:
    """Something that only knows how to become an array."""

    def __init__(self, array: np.ndarray):
        self.array = array

    def numpy(self) -> np.ndarray:
        return self.array


@pytest.mark.parametrize("kind", [Tensor, Handle])
def test_other_libraries_arrays_are_not_copied(packer, kind):
    a, b, c = arrays()
    values = packer().pack([kind(a), b, kind(c)]).values
    assert values[0][1] == a.ctypes.data and values[2][1] == c.ctypes.data


def test_a_tensor_elsewhere(packer):
    class Remote(Tensor):
        def __dlpack_device__(self):
            return (2, 0)

        def __dlpack__(self, **options):
            raise BufferError("on device 2")

    a, b, c = arrays()
    with pytest.raises(ArgumentError, match=r"A: .* is a Remote that gives no array in main memory"):
        packer().pack([Remote(a), b, c])
