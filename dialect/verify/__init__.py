"""The verifier rules of the encoding, checked after every step: structure, bounds, domains, coverage, iter kinds."""

from tir_mlir.dialect.verify.bounds import check_access
from tir_mlir.dialect.verify.coverage import covers, half_summed, left_out, point_of, point_text
from tir_mlir.dialect.verify.rules import check_mlir, is_huge, verify
from tir_mlir.dialect.verify.violation import names_of

__all__ = [
    "check_access",
    "check_mlir",
    "covers",
    "half_summed",
    "is_huge",
    "left_out",
    "names_of",
    "point_of",
    "point_text",
    "verify",
]
