"""What a search is about, as attributes of its study: data, from which a worker on another machine takes part in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tir_mlir.dialect.diagnostics import TirError, TuneError
from tir_mlir.dialect.ir import enter_context, held_module
from tir_mlir.dialect.verify import structure, verify
from tir_mlir.script.mlir_text import add_missing_attributes, parse_mlir
from tir_mlir.script.module import IRModule, module_text
from tir_mlir.script.parser.source import SourceText
from tir_mlir.target import AnyTarget, Target
from tir_mlir.tune.records.recorded_program import check_code

if TYPE_CHECKING:
    from tir_mlir.tune.records.program_identity import Program

SETTINGS = "tir_mlir"
FORMAT = 1


@dataclass(frozen=True)
class StudySettings:
    """Data of a search.

    program: its text.
    space: the name of its space.
    defaults: how many candidates each of the default's decisions has, in order, by which a worker knows the space
        again.
    about: target and versions, in words.
    boards: whether candidates run on boards.
    card: the GPU or the core for which times are predicted; "": they are measured. The rest is as for `tune.tune`.
    """

    program: str
    trials: int
    space: str
    defaults: tuple[tuple[str, int], ...] = ()
    target: AnyTarget | str | None = None
    threads: int | None = None
    sizes: tuple[tuple[str, int], ...] = ()
    sampler: str = "tpe"
    seed: int | None = None
    timeout: float | None = None
    boards: bool = False
    card: str = ""
    about: str = ""

    def as_json(self) -> dict[str, object]:
        """As a value of JSON."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        if isinstance(self.target, AnyTarget):
            fields["target"] = self.target.as_json()
        return {"format": FORMAT, **fields}


def settings_of(attributes: Mapping[str, object]) -> StudySettings | None:
    """The settings that a study has; None if it has none. Raises TuneError for those of a newer version, or broken."""
    stored = attributes.get(SETTINGS)
    if not isinstance(stored, dict):
        return None
    if stored.get("format") != FORMAT:
        raise TuneError(f"its settings are of format {stored.get('format')!r}, not {FORMAT}; fix: update tir-mlir here")
    names = {f.name for f in dataclasses.fields(StudySettings)}
    try:
        fields: dict[str, Any] = {key: value for key, value in stored.items() if key in names}
        for key in ("defaults", "sizes"):
            fields[key] = tuple((str(name), int(value)) for name, value in fields[key])
        if isinstance(fields["target"], dict):
            fields["target"] = Target.from_json(fields["target"])
        fields["trials"] = int(fields["trials"])
        return StudySettings(**fields)
    except (KeyError, TypeError, ValueError) as error:
        raise TuneError(f"its settings are broken: {type(error).__name__}: {error}") from None


def text_of(program: Program) -> str:
    """A program as the text that `program_of` reads."""
    module = held_module(program)
    assert module is not None
    return module_text(module)


def program_of(text: str) -> IRModule:
    """The program of settings, checked. Nothing of it is executed here; it may call registered kernels only.

    Raises TuneError for a text that is not a valid program, or that brings or calls other native code.
    """
    with enter_context():
        try:
            module = parse_mlir(text, SourceText("study", text.splitlines(keepends=True)))
            structure.check(module)
            add_missing_attributes(module)
            check_code(module)
            structure.check_program(module)
            verify(module)
        except TuneError:
            raise
        except TirError as error:
            raise TuneError(f"its program is not valid: {str(error).splitlines()[0]}") from None
        return IRModule(module)
