"""The verifier rules of the encoding, checked after every step: structure, bounds, domains, coverage, iter kinds."""

from tir_mlir.dialect.verify.bounds import check_access as check_access
from tir_mlir.dialect.verify.coverage import covers as covers
from tir_mlir.dialect.verify.coverage import half_summed as half_summed
from tir_mlir.dialect.verify.coverage import left_out as left_out
from tir_mlir.dialect.verify.coverage import point_of as point_of
from tir_mlir.dialect.verify.coverage import point_text as point_text
from tir_mlir.dialect.verify.rules import check_mlir as check_mlir
from tir_mlir.dialect.verify.rules import is_huge as is_huge
from tir_mlir.dialect.verify.rules import is_verified as is_verified
from tir_mlir.dialect.verify.rules import verify as verify
from tir_mlir.dialect.verify.violation import names_of as names_of
