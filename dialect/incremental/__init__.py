"""What is known of a verified program, and carried over a step so that only what the step changed is looked at again.

Facts: what each op in the body of a function contains (`contents`), where each id is and which modules were verified
(`versions`), and what depends only on the nest around an op (`structural_keys`). A step makes them stale by an edit of
an op, of an operand or of a buffer that the op uses: the code that edits tells it by the functions of
`dialect/ir/memo.py`, `contents` collects it, and finds what is left as it was. Nothing else invalidates them; an edit
that is not reported goes unverified, and is missing in the copy that the next step edits. `tools/fuzzing/untouched.py`
looks for those.

`dialect/ir/memo.py` is not here: the code that creates and edits ops, and the views of them, use it, and what is here
uses that code.
"""

from tir_mlir.dialect.incremental.contents import ChangedNests as ChangedNests
from tir_mlir.dialect.incremental.contents import FunctionContents as FunctionContents
from tir_mlir.dialect.incremental.contents import KnownModule as KnownModule
from tir_mlir.dialect.incremental.contents import StepJournal as StepJournal
from tir_mlir.dialect.incremental.contents import changed_nests as changed_nests
from tir_mlir.dialect.incremental.contents import contents_of as contents_of
from tir_mlir.dialect.incremental.contents import is_head as is_head
from tir_mlir.dialect.incremental.contents import is_untouched as is_untouched
from tir_mlir.dialect.incremental.contents import signature as signature
from tir_mlir.dialect.incremental.structural_keys import NestKey as NestKey
from tir_mlir.dialect.incremental.structural_keys import Origin as Origin
from tir_mlir.dialect.incremental.structural_keys import nest_key_in as nest_key_in
from tir_mlir.dialect.incremental.structural_keys import nest_key_of as nest_key_of
from tir_mlir.dialect.incremental.structural_keys import settled_key as settled_key
