"""Texts that forked copies of the process make."""

import os

import pytest

from tir_mlir.errors import ArgumentError
from tir_mlir.processes.forked import side_by_side


def refused():
    raise ArgumentError("no such layer")


def test_texts_come_in_order_and_from_copies():
    own = os.getpid()
    texts = side_by_side([lambda n=n: f"{n} {os.getpid() == own}" for n in range(4)], 3)
    assert texts == ["0 True", "1 False", "2 False", "3 True"]


def test_what_a_copy_leaves_out_is_made_here():
    own = os.getpid()
    assert side_by_side([str, lambda: "made" if os.getpid() == own else os._exit(1)], 2) == ["", "made"]


def test_an_error_of_a_copy_is_raised():
    with pytest.raises(ArgumentError, match="no such layer"):
        side_by_side([str, refused], 2)
