"""What is known of a verified program, and carried over a step so that only what the step changed is looked at again.

Facts: what each op in the body of a function contains (`contents`), where each id is and which modules were verified
(`versions`), and what depends only on the nest around an op (`structural_keys`). A step makes them stale by an edit of
an op, of an operand or of a buffer that the op uses: the code that edits tells it by the functions of
`dialect/ir/memo.py`, `contents` collects it, and finds what is left as it was. Nothing else invalidates them; an edit
that is not told goes unverified, and is missing in the copy that the next step edits. `tools/fuzzing/untouched.py`
looks for those.

`dialect/ir/memo.py` is not here: the code that creates and edits ops, and the views of them, use it, and what is here
uses that code.
"""

from tir_mlir.dialect.incremental.contents import (
    ChangedNests,
    FunctionContents,
    KnownModule,
    Touched,
    changed_nests,
    contents_of,
    is_head,
    is_untouched,
    signature,
)
from tir_mlir.dialect.incremental.structural_keys import NestKey, Origin, nest_key_in, nest_key_of, settled_key

__all__ = [
    "ChangedNests",
    "FunctionContents",
    "KnownModule",
    "NestKey",
    "Origin",
    "Touched",
    "changed_nests",
    "contents_of",
    "is_head",
    "is_untouched",
    "nest_key_in",
    "nest_key_of",
    "settled_key",
    "signature",
]
