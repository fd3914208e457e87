"""Back ends, one a kind of target: the stages of its compilations, their cache, how code is loaded and exported."""

from tir_mlir.targets.registry import back_end_of, register, register_kind
from tir_mlir.targets.stages import BackEnd, BuildOptions, Compilation, Passes, Stage

__all__ = ["BackEnd", "BuildOptions", "Compilation", "Passes", "Stage", "back_end_of", "register", "register_kind"]
