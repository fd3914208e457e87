"""`describe` in a process of its own, with the arguments FOLDER CHUNK CONTEXT BATCH CACHE ANSWER
PARENT BYTES SECONDS."""

from __future__ import annotations

import gc
import os
import sys
import warnings
from pathlib import Path

from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.processes.limits import die_with_parent, limit

_LEFT_OUT = ("torchao", "torchvision", "torchaudio", "PIL", "sklearn")
"""What transformers imports where it is installed, for images, sounds, weights in few bits, drafts of tokens: no layer
of a language model is made of it."""


def main(folder: str, chunk: str, context: str, batch: str, cache: str, answer: str) -> None:
    """Write the description, or the text of an error."""
    gc.disable()  # a seventh of the time, for a process that ends soon
    warnings.simplefilter("ignore")
    sys.modules |= dict.fromkeys(_LEFT_OUT)  # as if it were not installed
    import torch

    from tir_mlir.llm.describe import describe

    torch.set_num_threads(1)  # nothing large is computed, and a copy of a process has no threads
    try:
        found = describe(Path(folder), int(chunk), int(context), int(batch), cache).text()
    except TirError as error:
        found = f"error: {error}"
    Path(answer).write_text(found)


def run() -> None:
    """Describe as the arguments of this process say, and end it: at the latest when its parent ends, or when it has
    taken the seconds that the last argument says. That before it tells the bytes that it may take."""
    *arguments, parent, memory, seconds = sys.argv[1:]
    die_with_parent(int(parent))
    limit(int(memory), int(seconds))
    main(*arguments)
    sys.stderr.flush()
    os._exit(0)  # to take what torch and transformers made apart takes a second
