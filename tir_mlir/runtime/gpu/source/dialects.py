"""What differs between CUDA C, OpenCL C and C99: words of the language, types, functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from tir_mlir.dialect.diagnostics import BuildError

HELPERS = {
    "floor_div": "{inline}{long} floor_div({long} a, {long} b) {{\n  return a / b - (a % b < 0);\n}}",
    "floor_mod": "{inline}{long} floor_mod({long} a, {long} b) {{\n  return a % b + (a % b < 0 ? b : 0);\n}}",
    "maximum": "#define maximum(a, b) ((a) != (a) || (a) > (b) ? (a) : (b))",
    "minimum": "#define minimum(a, b) ((a) != (a) || (a) < (b) ? (a) : (b))",
}
"""Functions that a text defines if it uses them. `maximum`, `minimum`: a NaN if one of the numbers is."""


@dataclass(frozen=True)
class Dialect:
    """A C for kernels.

    types: of elements, by MLIR's name.
    vectors: widths of vector types that the language has.
    sub_group: the threads that shuffle values in OpenCL C.
    """

    name: str
    inline: str
    types: Mapping[str, str]
    index64: str
    pointers: Mapping[str, str]
    restrict: str
    barrier: str
    ids: Mapping[str, str]
    vectors: tuple[int, ...]
    vector_types: tuple[str, ...]
    components: str
    infinity: Mapping[str, str]
    bits: Mapping[tuple[str, str], str]
    functions: Mapping[str, str]
    suffix: bool
    headers: Mapping[str, str]
    sub_group: int = 1
    index32: str = "int"
    helpers: Mapping[str, str] = field(default_factory=lambda: HELPERS)
    """Functions that a text defines if it uses them."""
    has_library: bool = True
    """Whether there are functions of a math library; else the helpers are all: `floor_f32`."""

    def type(self, name: str) -> str:
        """The type of an element. Raises BuildError for one that the language lacks."""
        if name not in self.types:
            raise BuildError(f"{self.name} has no type for {name}; fix: compute in another type")
        return self.types[name]

    def unsigned_type(self, name: str) -> str:
        plain = {"signed char": "char"}.get(self.types[name], self.types[name])
        return f"unsigned {plain}" if self is CUDA_C else f"u{plain}"

    def has_vector(self, element: str, count: int) -> bool:
        return count in self.vectors and element in self.vector_types

    def vector(self, element: str, count: int) -> str:
        """The name of a vector type; of a struct with an array `s` where the language has none."""
        return f"{self.type(element).split()[-1].strip('_')}{count}"

    def component(self, element: str, count: int, number: int) -> str:
        if not self.has_vector(element, count):
            return f".s[{number}]"
        return f".{self.components[number]}" if self is CUDA_C else f".s{number:x}"

    def make_vector(self, element: str, parts: Sequence[str]) -> str:
        """A vector of some elements."""
        name = self.vector(element, len(parts))
        if not self.has_vector(element, len(parts)):
            return f"{name}{{{{{', '.join(parts)}}}}}"
        return f"make_{name}({', '.join(parts)})" if self is CUDA_C else f"({name})({', '.join(parts)})"

    def struct(self, element: str, count: int, size: int) -> str:
        name = self.vector(element, count)
        return f"struct __align__({size}) {name} {{\n  {self.type(element)} s[{count}];\n}};"

    def function(self, name: str, element: str) -> str:
        """A function of the math library for a type: `expf`, `exp`. Raises BuildError for one that there is not."""
        name = self.functions.get(name, name)
        if not self.has_library:
            if f"{name}_{element}" not in self.helpers:
                raise BuildError(
                    f"{self.name} without a library has no {name} of {element}; fix: compute it by arithmetic"
                )
            return f"{name}_{element}"
        return name + "f" if self.suffix and element != "f64" else name

    def kernel(self, name: str, parameters: Sequence[str], block: Sequence[int]) -> str:
        x, y, z = block
        if self is CUDA_C:
            head = f'extern "C" __global__ void __launch_bounds__({x * y * z}) {name}('
        else:
            lanes = f" __attribute__((intel_reqd_sub_group_size({self.sub_group})))" if self.sub_group > 1 else ""
            head = f"__kernel __attribute__((reqd_work_group_size({x}, {y}, {z}))){lanes}\nvoid {name}("
        return head + ", ".join(parameters) + ") {"

    def declare_shared(self, element: str, name: str, count: int, alignment: int) -> str:
        type_ = self.type(element)
        if self is CUDA_C:
            return f"__shared__ __align__({alignment}) {type_} {name}[{count}];"
        return f"__local {type_} {name}[{count}] __attribute__((aligned({alignment})));"

    def shuffle(self, value: str, offset: str, width: str) -> str:
        if self.sub_group > 1:
            return f"sub_group_shuffle_xor({value}, {offset})"  # remains within the width, as the offset is below it
        if self is not CUDA_C:
            raise BuildError(f"{self.name} has no shuffles; fix: build for OPENCL, which combines in shared memory")
        return f"__shfl_xor_sync(0xffffffffu, {value}, {offset}, {width})"


CUDA_C = Dialect(
    name="CUDA C",
    inline="static __device__ __forceinline__ ",
    types=MappingProxyType(
        {"i1": "bool", "i8": "signed char", "i16": "short", "i32": "int", "i64": "long long", "f16": "__half",
         "bf16": "__nv_bfloat16", "f32": "float", "f64": "double"}
    ),
    index64="long long",
    pointers=MappingProxyType({"global": "", "shared": "", "local": ""}),
    restrict="__restrict__ ",
    barrier="__syncthreads();",
    ids=MappingProxyType({"block": "blockIdx.{axis}", "thread": "threadIdx.{axis}"}),
    vectors=(2, 4),
    vector_types=("i32", "f32"),
    components="xyzw",
    infinity=MappingProxyType(
        {"f32": "__int_as_float(0x7f800000)", "f64": "__longlong_as_double(0x7ff0000000000000LL)"}
    ),
    bits=MappingProxyType(
        {("f32", "i32"): "__float_as_int({})", ("i32", "f32"): "__int_as_float({})",
         ("f64", "i64"): "__double_as_longlong({})", ("i64", "f64"): "__longlong_as_double({})",
         ("f16", "i16"): "__half_as_short({})", ("i16", "f16"): "__short_as_half({})",
         ("bf16", "i16"): "__bfloat16_as_short({})", ("i16", "bf16"): "__short_as_bfloat16({})"}
    ),
    functions=MappingProxyType({"clz": "__clz", "popcount": "__popc"}),
    suffix=True,
    headers=MappingProxyType({"f16": "#include <cuda_fp16.h>", "bf16": "#include <cuda_bf16.h>"}),
)  # fmt: skip

OPENCL_C = Dialect(
    name="OpenCL C",
    inline="static inline ",
    types=MappingProxyType(
        {"i1": "bool", "i8": "char", "i16": "short", "i32": "int", "i64": "long", "f16": "half", "f32": "float",
         "f64": "double"}
    ),
    index64="long",
    pointers=MappingProxyType({"global": "__global ", "shared": "__local ", "local": ""}),
    restrict="restrict ",
    barrier="barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    ids=MappingProxyType({"block": "get_group_id({number})", "thread": "get_local_id({number})"}),
    vectors=(2, 4, 8, 16),
    vector_types=("i8", "i16", "i32", "i64", "f16", "f32", "f64"),
    components="",
    infinity=MappingProxyType({"f32": "INFINITY", "f64": "(double)INFINITY"}),
    bits=MappingProxyType(
        {("f32", "i32"): "as_int({})", ("i32", "f32"): "as_float({})", ("f64", "i64"): "as_long({})",
         ("i64", "f64"): "as_double({})", ("f16", "i16"): "as_short({})", ("i16", "f16"): "as_half({})"}
    ),
    functions=MappingProxyType({}),
    suffix=False,
    headers=MappingProxyType(
        {"f16": "#pragma OPENCL EXTENSION cl_khr_fp16 : enable", "f64": "#pragma OPENCL EXTENSION cl_khr_fp64 : enable"}
    ),
)  # fmt: skip


def opencl_c(sub_group: int) -> Dialect:
    """OpenCL C for kernels whose threads shuffle values in sub-groups of some size, 1 without shuffles."""
    return replace(OPENCL_C, sub_group=sub_group)
