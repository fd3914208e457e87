"""Why operators of ONNX cannot be translated, where that is not for want of a translation."""

from __future__ import annotations

import re

_BRANCH = "control flow on data: a graph is one block\n  fix: export the model with Where of both results"
_LOOP = "a loop on data: a graph is one block\n  fix: export the model with the loop unrolled"
_RANDOM = "it draws random numbers, and a graph has none\n  fix: make them an input of the model"
_SIZE = "its result has a size that depends on data\n  fix: export the model with a mask, and Where"
_SEQUENCE = "a sequence is no tensor\n  fix: export the model with tensors, joined by Concat"
_REASONS = {
    r"If": _BRANCH,
    r"Loop|Scan": _LOOP,
    r"Random\w+|Multinomial|Bernoulli": _RANDOM,
    r"NonZero|Unique|Compress|NonMaxSuppression": _SIZE,
    r"Sequence\w+|ConcatFromSequence|SplitToSequence|Optional\w*": _SEQUENCE,
}


def reason(op_type: str, domain: str) -> str:
    """What to tell of an operator without a translation."""
    if domain not in ("", "ai.onnx"):
        return f"it is not known (domain {domain})"
    return next((why for names, why in _REASONS.items() if re.fullmatch(names, op_type)), "it is not known")
