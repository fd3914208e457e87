"""Element types by NumPy-style name."""

from __future__ import annotations

from functools import lru_cache

from mlir import ir

from tir_mlir.dialect.diagnostics import TirError, short_repr

_FLOATS = {"float16": ir.F16Type, "bfloat16": ir.BF16Type, "float32": ir.F32Type, "float64": ir.F64Type}
_INTS = {"bool": 1, "int8": 8, "int16": 16, "int32": 32, "int64": 64}
_UNSIGNED = {f"u{name}": width for name, width in _INTS.items() if name != "bool"}
NAMES = (*_FLOATS, *_INTS, *_UNSIGNED)


MOST_LANES = 1024
"""LLVM's code generation takes long for more."""


def to_mlir(dtype: str) -> ir.Type:
    """`"float32"` -> `f32`; `"uint8"` and `"int8"` are both `i8`; `"int8x4"` -> `vector<4xi8>`.

    Errors: TirError for an unknown type.
    """
    if isinstance(dtype, str) and is_vector(dtype):
        return ir.VectorType.get([lanes(dtype)], to_mlir(element(dtype)))
    if isinstance(dtype, str) and dtype in _FLOATS:
        return _FLOATS[dtype].get()
    if isinstance(dtype, str) and (width := _INTS.get(dtype) or _UNSIGNED.get(dtype)):
        return ir.IntegerType.get_signless(width)
    raise TirError(refusal(f'"{dtype}"' if isinstance(dtype, str) else short_repr(dtype)))


def element_type(dtype: str) -> ir.Type:
    """The same, of an element of a buffer or a scalar. Errors: TirError for a vector, too."""
    if isinstance(dtype, str) and is_vector(dtype):
        raise TirError(refusal(f'"{dtype}"'))
    return to_mlir(dtype)


def is_vector(dtype: str) -> bool:
    """Whether a name is a type of vectors: an element type and 2 to 1024 lanes, `"int8x4"`."""
    name, count = _split(dtype)
    return name in NAMES and 2 <= count <= MOST_LANES


def element(dtype: str) -> str:
    """The type of a lane: `"int8x4"` -> `"int8"`; a scalar type is its own."""
    return _split(dtype)[0]


def lanes(dtype: str) -> int:
    """The number of lanes: 4 of `"int8x4"`, 1 of a scalar type."""
    return _split(dtype)[1]


@lru_cache(maxsize=256)
def _split(dtype: str) -> tuple[str, int]:
    name, _, count = dtype.rpartition("x")
    return (name, int(count)) if name and count.isdecimal() else (dtype, 1)


def with_lanes(dtype: str, count: int) -> str:
    """A type with the elements of another and a number of lanes: `"int8"`, 4 -> `"int8x4"`."""
    return f"{element(dtype)}x{count}" if count > 1 else element(dtype)


_WAYS = {
    "complex128": "store real and imaginary parts in two float64 buffers",
    "complex": "store real and imaginary parts in two float32 buffers",
    "float8": "use float16",
    "int4": "pack two values into an int8, and shift",
    "int1": "use bool",
}


def refusal(dtype: str) -> str:
    """The message for a type that is not supported, and what to use instead."""
    way = next((text for word, text in _WAYS.items() if dtype.strip('"').removeprefix("u").startswith(word)), None)
    vector = element(dtype.strip('"')) in NAMES and dtype.strip('"') not in NAMES
    way = f"a buffer has elements of one lane; a vector value has 2 to {MOST_LANES} lanes" if vector else way
    return f"dtype {dtype} is not supported; {f'{way}; ' if way else ''}use one of {', '.join(NAMES)}"


def to_name(type_: ir.Type) -> str:
    """`f32` -> `"float32"`, `i8` -> `"int8"`, `vector<4xi8>` -> `"int8x4"`; `index` (loops, sizes) reads as
    `"int32"`, pointers as `"handle"`.

    A type does not say whether an integer is unsigned: `Buffer.dtype` and `signs.dtype_of` do.
    """
    if isinstance(type_, ir.IndexType):
        return "int32"
    for name, cls in _FLOATS.items():
        if isinstance(type_, cls):
            return name
    if isinstance(type_, ir.IntegerType):
        for name, width in _INTS.items():
            if type_.width == width:
                return name
    if isinstance(type_, ir.VectorType) and len(type_.shape) == 1:
        return f"{to_name(type_.element_type)}x{type_.shape[0]}"
    if str(type_) == "!llvm.ptr":
        return "handle"
    raise TirError(f"type {type_} has no TensorIR name")


def is_float(dtype: str) -> bool:
    return dtype in _FLOATS or element(dtype) in _FLOATS


def is_unsigned(dtype: str) -> bool:
    return dtype in _UNSIGNED or element(dtype) in _UNSIGNED


def with_sign_of(type_: ir.Type, dtype: str | None) -> str:
    """The name of a type, as an unsigned integer if `dtype` is the unsigned type of its width."""
    name = to_name(type_)
    return f"u{name}" if dtype == f"u{name}" else name


def limits(dtype: str) -> tuple[int, int]:
    """The least and the greatest integer of a type: (-128, 127) for int8, (0, 255) for uint8, (0, 1) for bool."""
    dtype = element(dtype)
    if dtype == "bool":
        return 0, 1
    width = bits(dtype)
    return (0, (1 << width) - 1) if is_unsigned(dtype) else (-(1 << width - 1), (1 << width - 1) - 1)


def fits(number: int, dtype: str) -> bool:
    """Whether an integer type can represent a number."""
    low, high = limits(dtype)
    return low <= number <= high


_SIGNIFICANT = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
"""The bits of the significand of a float type: it represents all integers of so many bits."""
_RANGES = {"float16": 5, "bfloat16": 8, "float32": 8, "float64": 11}
"""The bits of its exponent."""


def represents(wide: str, narrow: str) -> bool:
    """Whether a type represents every value of another one, so that a cast to it and back changes nothing.

        int32: int8, uint8, int16, uint16, bool       float32: float16, bfloat16, int8, uint8, int16, uint16, bool
        not int32: uint32, float16                    not float16: bfloat16, int16; not float32: int32

    A bool represents nothing else: a cast to it compares with zero.
    """
    wide, narrow = element(wide), element(narrow)
    if wide == narrow:
        return True
    if wide == "bool" or (is_float(narrow) and not is_float(wide)):
        return False
    if is_float(narrow):
        return _SIGNIFICANT[wide] >= _SIGNIFICANT[narrow] and _RANGES[wide] >= _RANGES[narrow]
    low, high = limits(narrow)
    if is_float(wide):
        return max(-low, high) <= 1 << _SIGNIFICANT[wide]
    return fits(low, wide) and fits(high, wide)


def as_signed(number: int, dtype: str) -> int:
    """The number that has the bits of an integer of a type: 200 of uint8 -> -56, as MLIR's attributes hold it."""
    return number - (1 << bits(dtype)) if is_unsigned(dtype) and number >> (bits(dtype) - 1) else number


def as_typed(number: int, dtype: str) -> int:
    """The inverse of `as_signed`: -56 -> 200 for uint8."""
    return number % (1 << bits(dtype)) if is_unsigned(dtype) else number


def bits(dtype: str) -> int:
    """Width of an element in memory in bits; a bool takes a byte."""
    dtype = element(dtype)
    if dtype == "bool":
        return 8
    return int("".join(c for c in dtype if c.isdigit()))
