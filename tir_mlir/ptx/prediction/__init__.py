"""Times of kernels, predicted from what some blocks execute and from the rates of a GPU."""

from tir_mlir.ptx.prediction.cards import CARDS, Card

__all__ = ["CARDS", "Card"]
