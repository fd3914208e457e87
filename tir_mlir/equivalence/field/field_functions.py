"""Runtime functions of the exact check, as MLIR text: arithmetic in the prime field p = 2^61 - 1.

    add, sub, mul, inv    the field (8 a b is hi * 2^64 + lo, so a b is hi + lo / 8);
                          inv is Euclid's algorithm: t r = a t' mod p at each step; inv(0) = 0
    mix                   splitmix64's finaliser, reduced: stands for opaque functions (exp, sqrt); times x for a
                          rounding, which is 0 for 0
    key, max, min         a total order of the elements times `state[SCALE]`, which starts where `state[ROTATION]` says;
                          the same for comparisons and max
    bottom, top           the least and greatest element of that order, for -inf and inf

Values are canonical, in [0, p).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import lcm

P = 2**61 - 1
PREFIX = "tir_check_"
STATE = PREFIX + "state"
STATE_SIZE = 64
ROTATION, POISON, OUTSIDE, OUTSIDE_SITE, OUTSIDE_INDEX, TARGET, WRITER, SCALE, UNSCALE, LOOPS = range(10)
"""Positions in the state: the order's start; a counter for poison; accesses out of bounds, the first one's site and
index; the element watched, who wrote it last (site + 1); the order's scale, and its inverse; from LOOPS on the loop
variables of the last write."""

_READ = f"""
  %state = memref.get_global @{STATE} : memref<{STATE_SIZE}xi64>
  %at = arith.constant {{offset}} : index
  %{{name}} = memref.load %state[%at] : memref<{STATE_SIZE}xi64>"""

_REDUCE = """
  %q1 = arith.andi %x, %p : i64
  %q2 = arith.shrui %x, %c61 : i64
  %q3 = arith.addi %q1, %q2 : i64
  %q4 = arith.subi %q3, %p : i64
  %r = arith.minui %q3, %q4 : i64"""

_HEAD = f"""
  %p = arith.constant {P} : i64
  %c61 = arith.constant 61 : i64"""

_MIX = f"""
  %m1 = arith.constant {0xBF58476D1CE4E5B9 - 2**64} : i64
  %m2 = arith.constant {0x94D049BB133111EB - 2**64} : i64
  %s30 = arith.constant 30 : i64
  %s27 = arith.constant 27 : i64
  %s31 = arith.constant 31 : i64
  %a1 = arith.shrui %z, %s30 : i64
  %a2 = arith.xori %z, %a1 : i64
  %a3 = arith.muli %a2, %m1 : i64
  %a4 = arith.shrui %a3, %s27 : i64
  %a5 = arith.xori %a3, %a4 : i64
  %a6 = arith.muli %a5, %m2 : i64
  %a7 = arith.shrui %a6, %s31 : i64
  %x = arith.xori %a6, %a7 : i64"""

_READ_ROTATION = _READ.format(offset=ROTATION, name="s")


def _read_scale(position: int) -> str:
    return f"""
  %scale_at = arith.constant {position} : index
  %scale = memref.load %state[%scale_at] : memref<{STATE_SIZE}xi64>"""


def _scaled_product(value: str) -> str:
    """%x: the product of a value with the scale."""
    return f"""
  %x = func.call @{PREFIX}mul(%{value}, %scale) : (i64, i64) -> i64"""


def _function(name: str, parameters: str, body: str, result: str = "i64") -> str:
    arguments = ", ".join(f"%{p}" if ":" in p else f"%{p}: i64" for p in parameters.split())
    arguments = arguments.replace(":", ": ").replace("  ", " ")
    return f"func.func private @{PREFIX}{name}({arguments}) -> {result} {{{body}\n  return %r : {result}\n}}"


def _pick(sign: str) -> str:
    return f"""
  %ka = func.call @{PREFIX}key(%a) : (i64) -> i64
  %kb = func.call @{PREFIX}key(%b) : (i64) -> i64
  %c = arith.cmpi {sign}, %ka, %kb : i64
  %r = arith.select %c, %a, %b : i64"""


def _sum(a: str, b: str) -> str:
    return f"""
  %t = arith.addi %{a}, %{b} : i64
  %u = arith.subi %t, %p : i64
  %r = arith.minui %t, %u : i64"""


# name -> the functions it calls, its text
FUNCTIONS: dict[str, tuple[tuple[str, ...], str]] = {
    "add": ((), _function("add", "a b", _HEAD + _sum("a", "b"))),
    "sub": ((), _function("sub", "a b", _HEAD + """
  %t = arith.subi %a, %b : i64
  %u = arith.addi %t, %p : i64
  %r = arith.minui %t, %u : i64""")),
    "mul": ((), _function("mul", "a b", _HEAD + """
  %c3 = arith.constant 3 : i64
  %eight = arith.shli %a, %c3 : i64
  %lo, %h = arith.mului_extended %eight, %b : i64
  %l = arith.shrui %lo, %c3 : i64"""
            + _sum("l", "h"))),
    "inv": ((), _function("inv", "a", _HEAD + """
  %zero = arith.constant 0 : i64
  %unit = arith.constant 1 : i64
  %out:4 = scf.while (%r0 = %p, %r1 = %a, %t0 = %zero, %t1 = %unit) : (i64, i64, i64, i64) -> (i64, i64, i64, i64) {
    %more = arith.cmpi ne, %r1, %zero : i64
    scf.condition(%more) %r0, %r1, %t0, %t1 : i64, i64, i64, i64
  } do {
  ^bb0(%r0: i64, %r1: i64, %t0: i64, %t1: i64):
    %q = arith.divui %r0, %r1 : i64
    %qr = arith.muli %q, %r1 : i64
    %r2 = arith.subi %r0, %qr : i64
    %qt = arith.muli %q, %t1 : i64
    %t2 = arith.subi %t0, %qt : i64
    scf.yield %r1, %r2, %t1, %t2 : i64, i64, i64, i64
  }
  %u = arith.addi %out#2, %p : i64
  %r = arith.minui %out#2, %u : i64""")),
    "mix": ((), _function("mix", "a salt", _HEAD + "\n  %z = arith.addi %a, %salt : i64" + _MIX + _REDUCE)),
    "of_int": ((), _function("of_int", "a", _HEAD + """
  %q = arith.remsi %a, %p : i64
  %q1 = arith.addi %q, %p : i64
  %r = arith.minui %q, %q1 : i64""")),
    "of_unsigned": ((), _function("of_unsigned", "a", _HEAD + """
  %r = arith.remui %a, %p : i64""")),
    "key": (("mul",), _function("key", "a",
            _HEAD + _READ_ROTATION + _read_scale(SCALE) + _scaled_product("a") + _sum("x", "s"))),
    "max": (("key",), _function("max", "a b", _pick("ugt"))),
    "min": (("key",), _function("min", "a b", _pick("ult"))),
    "bottom": (("mul",), _function("bottom", "", _HEAD + _READ_ROTATION + _read_scale(UNSCALE) + """
  %d = arith.subi %p, %s : i64
  %g = arith.remui %d, %p : i64""" + _scaled_product("g").replace("%x =", "%r ="))),
    "top": (("mul",), _function("top", "", _HEAD + _READ_ROTATION + _read_scale(UNSCALE) + """
  %one = arith.constant 1 : i64
  %d = arith.subi %p, %s : i64
  %e = arith.addi %d, %p : i64
  %f = arith.subi %e, %one : i64
  %g = arith.remui %f, %p : i64""" + _scaled_product("g").replace("%x =", "%r ="))),
    "poison": ((), _function("poison", "", _HEAD + _READ.format(offset=POISON, name="old") + f"""
  %step = arith.constant {0x9E3779B97F4A7C15 - 2**64} : i64
  %z = arith.addi %old, %step : i64
  memref.store %z, %state[%at] : memref<{STATE_SIZE}xi64>""" + _MIX + _REDUCE)),
    "clamp": ((), _function("clamp", "i:index n:index site", _READ.format(offset=OUTSIDE, name="count") + f"""
  %in = arith.cmpi ult, %i, %n : index
  %first = arith.constant 0 : index
  %r = arith.select %in, %i, %first : index
  scf.if %in {{
  }} else {{
    %one = arith.constant 1 : i64
    %more = arith.addi %count, %one : i64
    memref.store %more, %state[%at] : memref<{STATE_SIZE}xi64>
    %none = arith.constant 0 : i64
    %new = arith.cmpi eq, %count, %none : i64
    scf.if %new {{
      %where = arith.constant {OUTSIDE_SITE} : index
      memref.store %site, %state[%where] : memref<{STATE_SIZE}xi64>
      %which = arith.constant {OUTSIDE_INDEX} : index
      %wide = arith.index_cast %i : index to i64
      memref.store %wide, %state[%which] : memref<{STATE_SIZE}xi64>
    }}
  }}""", "index")),
    "wrote": ((), _function("wrote", "flat:index site", _READ.format(offset=TARGET, name="target") + f"""
  %wide = arith.index_cast %flat : index to i64
  %r = arith.cmpi eq, %wide, %target : i64
  scf.if %r {{
    %where = arith.constant {WRITER} : index
    memref.store %site, %state[%where] : memref<{STATE_SIZE}xi64>
  }}""", "i1")),
}  # fmt: skip

ORDERED = {"key", "max", "min", "bottom", "top"}
"""Functions whose result depends on the start of the order."""


def callee_closure(names: set[str]) -> list[str]:
    """These functions and their callees."""
    closure = set(names)
    while callees := {d for n in closure for d in FUNCTIONS[n][0]} - closure:
        closure |= callees
    return sorted(closure)


def text(names: set[str]) -> str:
    """A module with the state, these functions and their callees."""
    parts = [FUNCTIONS[n][1] for n in callee_closure(names)]
    state = f"memref.global @{STATE} : memref<{STATE_SIZE}xi64> = uninitialized"
    return "module {\n" + "\n".join([state, *parts]) + "\n}"


# --- the scale of the total order, under which the constants of a program compare as numbers do -----------------------


REACH = 1 << 40
"""Integers up to this magnitude are in their order around 0, from every start point of the order."""


def scale_of(constants: Iterable[Fraction]) -> int:
    """A number whose product with each constant is an integer of at most `REACH`, so that `max(0.0, 0.5)` is 0.5.

    Constants for which there is none, as they are too large or too fine, are left out; so their order is arbitrary.
    """
    scale = 1
    in_reach = [c for c in constants if abs(c) <= REACH]
    largest = max((abs(c) for c in in_reach), default=Fraction(0))
    for denominator in sorted({c.denominator for c in in_reach}):
        wider = lcm(scale, denominator)
        if wider <= P // 2 and wider * largest <= REACH:  # the scale itself is an element, of int64
            scale = wider
    return scale


def inverse(scale: int) -> int:
    """The inverse of a scale in the field."""
    return pow(scale, -1, P)
