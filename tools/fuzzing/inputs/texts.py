"""Mutations of text: change, drop, duplicate or move tokens, lines and characters; odd numbers and names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

TOKEN = re.compile(r"[ \t]+|\n|[\w.%@#^]+|.", re.DOTALL)
NUMBERS = (
    "0", "1", "-1", "3", "7", "16", "255", "2147483647", "2147483648", "-2147483649", "4294967296", "1 << 40",
    "9223372036854775807", "9223372036854775808", "99999999999999999999999", "1.5", "-0.0", "1e400", "0x10", "1e-9",
    "0.1",
)  # fmt: skip
CHARACTERS = "\0\t\r\x0b\x0c\x1b\x7f\\\"'`{}[]()<>%@#!?*/+-:;,.~^|&=$é中🙂\u202e\ufeff\u2028_aZ09 \n"
OPENING = "([{<"
CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}


def mutated(random: Random, text: str, odd: Sequence[str], most: int = 3) -> str:
    """Return a text with one to `most` mutations; one in six times with many."""
    count = random.randint(8, 30) if random.random() < 0.16 else random.randint(1, most)
    for _ in range(count):
        text = random.choice(CHANGES)(random, text, odd)
    return text


def changed(random: Random, text: str, odd: Sequence[str]) -> str:
    """Return a text unchanged, with one small mutation that may keep it valid, or with any mutation."""
    way = random.random()
    if way < 0.25:
        return text
    if way < 0.65:
        return random.choice((number_changed, number_changed, number_changed, name_changed, line_changed))(
            random, text, odd
        )
    return mutated(random, text, odd, most=2)


def tokens_changed(random: Random, text: str, odd: Sequence[str]) -> str:
    """Replace, drop, duplicate, swap or copy one token."""
    tokens = TOKEN.findall(text)
    places = [n for n, t in enumerate(tokens) if not t.isspace()]
    if not places:
        return random.choice(odd)
    a, b = random.choice(places), random.choice(places)
    match random.randrange(6):
        case 0:
            tokens[a] = random.choice(odd)
        case 1:
            tokens[a] = ""
        case 2:
            tokens[a] += " " + tokens[a]
        case 3:
            tokens[a], tokens[b] = tokens[b], tokens[a]
        case 4:
            tokens[a] = tokens[b]
        case _:
            tokens[a] += random.choice((" ", "")) + random.choice(odd)
    return "".join(tokens)


def number_changed(random: Random, text: str, odd: Sequence[str]) -> str:
    """Replace one number."""
    found = list(re.finditer(r"(?<![\w.])-?\d+(\.\d+)?(?![\w.])", text))
    if not found:
        return tokens_changed(random, text, odd)
    one = random.choice(found)
    return text[: one.start()] + random.choice(NUMBERS) + text[one.end() :]


def name_changed(random: Random, text: str, odd: Sequence[str]) -> str:
    """Replace one word by another of the text, or misspell it."""
    found = list(re.finditer(r"[A-Za-z_]\w*", text))
    if not found:
        return tokens_changed(random, text, odd)
    one, other = random.choice(found), random.choice(found).group()
    word = other if random.random() < 0.7 else one.group()[:-1] + random.choice("xq_1")
    return text[: one.start()] + word + text[one.end() :]


def line_changed(random: Random, text: str, odd: Sequence[str]) -> str:
    """Drop, duplicate, swap, indent or dedent one line."""
    lines = text.split("\n")
    a, b = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(6):
        case 0:
            del lines[a]
        case 1:
            lines.insert(a, lines[a])
        case 2:
            lines[a], lines[b] = lines[b], lines[a]
        case 3:
            lines[a] = "    " + lines[a]
        case 4:
            lines[a] = lines[a].removeprefix("    ")
        case _:
            lines.insert(b, lines[a])
    return "\n".join(lines)


def character_changed(random: Random, text: str, odd: Sequence[str]) -> str:
    """Drop, insert or replace one character."""
    at = random.randint(0, len(text))
    gone = random.randrange(2)
    return text[:at] + (random.choice(CHARACTERS) if random.random() < 0.7 else "") + text[at + gone :]


def cut(random: Random, text: str, odd: Sequence[str]) -> str:
    """Truncate the text, or (rarely, because little is left to mutate) cut out the middle."""
    if random.random() < 0.7:
        return number_changed(random, text, odd)
    a, b = sorted(random.randint(0, len(text)) for _ in range(2))
    return text[:a] if random.random() < 0.5 else text[:a] + text[b:]


def nested(random: Random, text: str, odd: Sequence[str]) -> str:
    """Nest one token deep in brackets, or make it very long (rarely)."""
    if random.random() < 0.75:
        return name_changed(random, text, odd)
    tokens = TOKEN.findall(text)
    places = [n for n, t in enumerate(tokens) if not t.isspace()]
    if not places:
        return text
    at, times = random.choice(places), random.choice((2, 10, 90, 300, 1500))
    bracket = random.choice(OPENING)
    match random.randrange(4):
        case 0 | 1:
            tokens[at] = bracket * times + tokens[at] + CLOSING[bracket] * times
        case 2:
            tokens[at] *= times
        case _:
            tokens[at] = f" {random.choice('-+~*')} ".join([tokens[at]] * times)
    return "".join(tokens)


CHANGES = (
    tokens_changed, tokens_changed, tokens_changed, number_changed, number_changed, name_changed, name_changed,
    line_changed, character_changed, cut, nested,
)  # fmt: skip
