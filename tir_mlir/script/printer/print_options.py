"""Options of the printer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tir_mlir.script.printer.expression_text import annotation


@dataclass(frozen=True)
class Options:
    """Options of `script` and `render`; see `script` for the public ones.

    anonymous: print every name as `v`, for structural comparison.
    symbols: print `global_symbol` and visibility.
    canonical_units: print the only value of an iter of extent 1 as its binding, for structural comparison.
    show_meta: print large constants of graphs after the module.
    functions: the printed names of functions whose own are no identifiers of Python.
    """

    syntax_sugar: bool = True
    spelling: str = "block"
    anonymous: bool = False
    symbols: bool = True
    canonical_units: bool = False
    mark: Mapping[int, str] = field(default_factory=dict)
    show_meta: bool = False
    functions: Mapping[str, str] = field(default_factory=dict)

    def function(self, name: str) -> str:
        """The name that a function is printed with."""
        return self.functions.get(name, name)

    @property
    def block(self) -> str:
        return f"T.{self.spelling}"

    @property
    def block_attr(self) -> str:
        return f"T.{self.spelling}_attr"

    def annotation(self, value: object) -> str:
        """A value of an attribute. The TVM of the `sblock` spelling reads a flag as `True`, not as `T.bool(True)`."""
        return annotation(value, typed_bools=self.spelling != "sblock")

    @property
    def alloc_buffer(self) -> str:
        return "T.sblock_alloc_buffer" if self.spelling == "sblock" else "T.alloc_buffer"

    @property
    def namespace(self) -> str:
        """The TVM module that is imported as `T`."""
        return "tirx" if self.spelling == "sblock" else "tir"
