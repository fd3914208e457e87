"""Numbers of 4 bits as GPTQ and AWQ pack them."""

import numpy as np


def words(numbers):
    """Numbers of 4 bits, [.., 8 n] -> [.., n], the first in the lowest bits."""
    parts = numbers.astype("uint32").reshape(*numbers.shape[:-1], -1, 8)
    return (parts << np.arange(0, 32, 4, dtype="uint32")).sum(-1, dtype="uint32").view("int32")


def packed_words(method, q, zeros):
    """`qweight` and `qzeros` of numbers (k, n) and zeros (groups, n)."""
    if method == "gptq":
        return np.ascontiguousarray(words(q.T).T), words(zeros - 1)
    order = [0, 2, 4, 6, 1, 3, 5, 7]
    return tuple(words(x.reshape(len(x), -1, 8)[:, :, order].reshape(len(x), -1)) for x in (q, zeros))
