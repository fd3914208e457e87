"""Files of models that mean harm: mutations of good ones."""

import copy
import json
import struct

import numpy as np

VALUES = [
    None, True, -1, 0, 1, 3, 2**31, 2**63 - 1, 2**63, 2**64, 10**9, 10**40, -(2**63), 0.5, 1e308, "", "x", "../x",
    "/etc/passwd", "F32", "I64", "a\0b", [], [[]], [0], [0, 0], [-1, 4], [2**62, 2**62], {}, {"a": {}}, "é" * 50,
]  # fmt: skip


def mutated_objects(value, rng, count):
    """Copies of a JSON value, in each of which one to three places have another value, are gone, or are new."""
    for _ in range(count):
        whole = [copy.deepcopy(value)]
        for _ in range(rng.integers(1, 4)):
            _mutate(whole, rng)
        yield whole[0]


def _mutate(whole, rng):
    places = list(_places(whole))
    holder, key = places[rng.integers(len(places))]
    other = VALUES[rng.integers(len(VALUES))]
    match rng.integers(4):
        case 0 if isinstance(holder, dict):
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[f"{key}x" if isinstance(key, str) else "x"] = copy.deepcopy(holder[key])
        case _:
            holder[key] = other


def _places(holder):
    for key, value in holder.items() if isinstance(holder, dict) else enumerate(holder):
        yield holder, key
        if isinstance(value, (dict, list)):
            yield from _places(value)


def mutated_bytes(data, rng, count, header):
    """Copies of bytes that are cut, repeated, or have other bytes or numbers in the first `header` of them."""
    numbers = [0, 1, 255, 2**31, 2**32 - 1, 2**61, 2**63, 2**64 - 1]
    for _ in range(count):
        found = bytearray(data)
        for _ in range(rng.integers(1, 4)):
            at = int(rng.integers(0, max(min(header, len(found)), 1)))
            match rng.integers(5):
                case 0:
                    del found[at:]
                case 1:
                    found[at : at + 8] = struct.pack("<Q", numbers[rng.integers(len(numbers))])
                case 2:
                    found[at : at + 4] = struct.pack("<I", numbers[rng.integers(5)])
                case 3:
                    found[at:at] = found[at : at + int(rng.integers(1, 64))]
                case _:
                    found[at : at + 1] = bytes([int(rng.integers(256))])
        yield bytes(found)


def safetensors(head, data):
    """A file with a header, given as JSON or as bytes."""
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    return len(text).to_bytes(8, "little") + text + data


def gguf(facts, tensors):
    """A GGUF file. facts: by key, numbers and texts; tensors: by name, float32."""

    def text(word):
        return struct.pack("<Q", len(word.encode())) + word.encode()

    kinds = {int: "<II", float: "<If"}
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(facts))
    for key, value in facts.items():
        head += text(key)
        if isinstance(value, str):
            head += struct.pack("<I", 8) + text(value)
        elif isinstance(value, list):
            head += struct.pack("<IIQ", 9, 4, len(value)) + struct.pack(f"<{len(value)}I", *value)
        else:
            head += struct.pack(kinds[type(value)], 4 if isinstance(value, int) else 6, value)
    data = b""
    for name, array in tensors.items():
        shape = array.shape[::-1]
        head += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(data))
        data += array.astype(np.float32).tobytes()
        data += b"\0" * (-len(data) % 32)
    return head + b"\0" * (-len(head) % 32) + data, len(head)
