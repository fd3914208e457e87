"""C99 for a CPU without libraries: statements of a function, in the text of a caller."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from mlir import ir

from tir_mlir.dialect.ir import Buffer, dtypes
from tir_mlir.dialect.ir.op_views import FuncOp, ReturnOp, isa
from tir_mlir.runtime.gpu.source.buffers import BufferView
from tir_mlir.runtime.gpu.source.dialects import Dialect
from tir_mlir.runtime.gpu.source.expressions import CExpression, Range
from tir_mlir.runtime.gpu.source.kernel_printer import KernelPrinter, Unit

_ROUND = """static inline {type} {name}({type} x) {{
  const {type} limit = {limit}; /* all numbers from here on are whole */
  if (!(x < limit && x > -limit)) return x;
  union {{ {type} value; uint{bits}_t bits; }} old = {{ x }}, made;
  int{bits}_t whole = (int{bits}_t)x;
  {type} rest = x - ({type})whole;
  (void)rest;
{step}  made.value = ({type})whole;
  made.bits = (made.bits & ~{sign}) | (old.bits & {sign});
  return made.value;
}}"""
_STEPS = {
    "rint": (
        "  if (rest > {half} || (rest == {half} && whole % 2 != 0)) ++whole;\n"
        "  if (rest < -{half} || (rest == -{half} && whole % 2 != 0)) --whole;\n"
    ),
    "round": "  if (rest >= {half}) ++whole;\n  if (rest <= -{half}) --whole;\n",
    "floor": "  if (rest < 0) --whole;\n",
    "ceil": "  if (rest > 0) ++whole;\n",
    "trunc": "",
}
_FLOATS = (
    ("f32", {"type": "float", "bits": 32, "limit": "8388608.0f", "sign": "UINT32_C(0x80000000)", "half": "0.5f"}),
    ("f64", {"type": "double", "bits": 64, "limit": "4503599627370496.0", "sign": "UINT64_C(0x8000000000000000)",
             "half": "0.5"}),
)  # fmt: skip
_AS = """static inline {to} {name}({of} x) {{
  union {{ {of} old; {to} made; }} same = {{ x }};
  return same.made;
}}"""
_ABSOLUTE = """static inline {type} fabs_{name}({type} x) {{
  union {{ {type} value; uint{bits}_t bits; }} same = {{ x }};
  same.bits &= ~{sign};
  return same.value;
}}"""
_COPYSIGN = """static inline {type} copysign_{name}({type} x, {type} of) {{
  union {{ {type} value; uint{bits}_t bits; }} made = {{ x }}, sign = {{ of }};
  made.bits = (made.bits & ~{sign}) | (sign.bits & {sign});
  return made.value;
}}"""
_EXTREMUM = """static inline {type} {name}({type} a, {type} b) {{
  union {{ {type} value; uint{bits}_t bits; }} zero = {{ a }}, other = {{ b }};
  if (a != a) return {nan_a};
  if (b != b) return {nan_b};
  if (a > b || a < b) return a {order} b ? a : b;
  zero.bits {join} other.bits; /* of 0 and -0 */
  return zero.value;
}}"""
_SQRT = """static inline float sqrt_f32(float x) {
  if (!(x > 0)) return x == 0 ? x : (x - x) / (x - x);
  union { float value; uint32_t bits; } same = { x };
  int32_t power = (int32_t)(same.bits >> 23);
  uint64_t digits = same.bits & UINT32_C(0x7fffff), root = 0;
  if (power == 255) return x;
  if (power == 0) {
    power = 1;
    while (digits < UINT32_C(0x800000)) { digits *= 2; --power; }
  } else {
    digits += UINT32_C(0x800000);
  }
  power -= 127;
  if (power % 2 != 0) { digits *= 2; --power; }
  digits <<= 25;
  for (uint64_t bit = UINT64_C(1) << 24; bit > 0; bit >>= 1)
    if ((root + bit) * (root + bit) <= digits) root += bit;
  root = (root + 1) >> 1;
  same.bits = (uint32_t)((power / 2 + 126) * 8388608 + (int32_t)root);
  return same.value;
}"""


def _helpers() -> dict[str, str]:
    made = {
        "floor_div": "#define floor_div(a, b) ((a) / (b) - ((a) % (b) != 0 && ((a) % (b) < 0) != ((b) < 0)))",
        "floor_mod": "#define floor_mod(a, b) ((a) % (b) + ((a) % (b) < 0 ? (b) : 0))",
        "least": "#define least(a, b) ((a) < (b) ? (a) : (b))",
        "most": "#define most(a, b) ((a) > (b) ? (a) : (b))",
        "absolute": "#define absolute(a) ((a) < 0 ? 0 - (uint64_t)(a) : (uint64_t)(a))",
        "sqrt_f32": _SQRT,
        "rsqrt_f32": "static inline float rsqrt_f32(float x) {\n  return 1.0f / sqrt_f32(x);\n}",
    }
    for name, words in _FLOATS:
        for step, text in _STEPS.items():
            made[f"{step}_{name}"] = _ROUND.format(name=f"{step}_{name}", step=text.format(**words), **words)
        made[f"copysign_{name}"] = _COPYSIGN.format(name=name, **words)
        made[f"fabs_{name}"] = _ABSOLUTE.format(name=name, **words)
        for number, of, to in ((words["bits"], f"int{words['bits']}_t", words["type"]),):
            made[f"as_f{number}"] = _AS.format(name=f"as_f{number}", of=of, to=to)
            made[f"as_i{number}"] = _AS.format(name=f"as_i{number}", of=to, to=of)
        for function, order, join in (("max", ">", "&="), ("min", "<", "|=")):
            same = {**words, "order": order, "join": join}
            name_ = f"{function}imum_{name}"
            made[name_] = _EXTREMUM.format(**same, name=name_, nan_a="a", nan_b="b")
            name_ = f"f{function}_{name}"
            made[name_] = _EXTREMUM.format(**same, name=name_, nan_a="b", nan_b="a")
    return made


C99 = Dialect(
    name="C99",
    inline="static inline ",
    types=MappingProxyType(
        {"i1": "bool", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t", "f32": "float",
         "f64": "double"}
    ),
    index64="int64_t",
    index32="int32_t",
    pointers=MappingProxyType({"global": "", "shared": "", "local": ""}),
    restrict="restrict ",
    barrier="",
    ids=MappingProxyType({}),
    vectors=(),
    vector_types=(),
    components="",
    infinity=MappingProxyType({"f32": "as_f32(INT32_C(0x7f800000))", "f64": "as_f64(INT64_C(0x7ff0000000000000))"}),
    bits=MappingProxyType(
        {("f32", "i32"): "as_i32({})", ("i32", "f32"): "as_f32({})", ("f64", "i64"): "as_i64({})",
         ("i64", "f64"): "as_f64({})"}
    ),
    functions=MappingProxyType({"max": "most", "min": "least"}),
    suffix=False,
    headers=MappingProxyType({}),
    helpers=MappingProxyType(_helpers()),
    has_library=False,
)  # fmt: skip
"""Uses nothing but the headers of a freestanding implementation, <stdint.h> and <stdbool.h>."""


@dataclass
class CText:
    """What the functions of a C99 file share: `helper(name)` asks for one, `head()` defines those asked for."""

    unit: Unit = field(default_factory=lambda: Unit(C99))

    def helper(self, name: str) -> str:
        return self.unit.helper(name)

    def head(self) -> list[str]:
        return self.unit.head()

    def statements(
        self,
        function: ir.Operation,
        pointers: Sequence[str],
        variables: Sequence[tuple[str, Range]],
        taken: Collection[str],
        depth: int,
    ) -> list[str]:
        """The lines of the body of a function of buffers, then indices, at a depth of indentation.

        pointers: the C names of the buffers; variables: the C expressions of the indices, and their ranges; taken:
        names that mean something else there. Errors: BuildError for what C99 without a library has nothing for.
        """
        assert isa(function, FuncOp)
        printer = _StatementPrinter(function, self.unit)
        return printer.lines(pointers, variables, taken, depth)


class _StatementPrinter(KernelPrinter):
    """Prints the body of a function of a CPU, whose arguments have names already."""

    def lines(
        self,
        pointers: Sequence[str],
        variables: Sequence[tuple[str, Range]],
        taken: Collection[str],
        depth: int,
    ) -> list[str]:
        self._names |= set(taken)
        arguments = list(self._body.arguments)
        for argument, pointer in zip(arguments, pointers, strict=False):
            self._places[argument] = self._place(argument, pointer)
        for argument, (text, interval) in zip(arguments[len(pointers) :], variables, strict=True):
            self._values[argument] = CExpression(text, 15 if text.isidentifier() else 0)
            self._ranges[argument] = interval
        self._block(self._body, depth)
        return self._lines

    def _place(self, argument: ir.Value, pointer: str) -> BufferView:
        """A buffer at a pointer: what is loaded from one of unsigned numbers is taken as signed, as MLIR has it."""
        type_ = ir.MemRefType(argument.type)
        is_unsigned = dtypes.is_unsigned(Buffer(argument).dtype)
        read_as = C99.type(str(type_.element_type)) if is_unsigned else ""
        view = BufferView.of_type(pointer, type_)
        return BufferView(view.name, view.offset, view.sizes, view.strides, view.space, view.element, read_as)

    def _statement(self, op: ir.Operation, depth: int) -> None:
        if not isa(op, ReturnOp):
            super()._statement(op, depth)
