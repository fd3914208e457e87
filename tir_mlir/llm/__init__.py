"""Language models from files: weights rounded layer by layer on the way in, keys and values written in place."""

from __future__ import annotations

from tir_mlir.llm.language_model import LanguageModel
from tir_mlir.llm.load import load
from tir_mlir.llm.sampling import Sampling

__all__ = ["LanguageModel", "Sampling", "load"]
