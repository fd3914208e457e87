"""What is known of a verified program, and carried over a step so that only what the step changed is looked at again.

Facts: what each op in the body of a function contains (`nests`), the versions of a program and what a step edits
(`versions`), and what depends only on the nest around an op (`structural_keys`). Nothing but edits makes them stale.

`dialect/ir/memo.py` is not here: the code that creates and edits ops, and the views of them, use it, and what is here
uses that code.
"""

from tir_mlir.dialect.incremental.nests import FunctionContents as FunctionContents
from tir_mlir.dialect.incremental.nests import is_head as is_head
from tir_mlir.dialect.incremental.structural_keys import NestKey as NestKey
from tir_mlir.dialect.incremental.structural_keys import Origin as Origin
from tir_mlir.dialect.incremental.structural_keys import nest_key_in as nest_key_in
from tir_mlir.dialect.incremental.structural_keys import nest_key_of as nest_key_of
from tir_mlir.dialect.incremental.structural_keys import settled_key as settled_key
from tir_mlir.dialect.incremental.versions import ChangedNests as ChangedNests
from tir_mlir.dialect.incremental.versions import StepJournal as StepJournal
from tir_mlir.dialect.incremental.versions import Version as Version
from tir_mlir.dialect.incremental.versions import changed_nests as changed_nests
from tir_mlir.dialect.incremental.versions import contents_of as contents_of
from tir_mlir.dialect.incremental.versions import step_journal as step_journal
