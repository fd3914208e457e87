"""Check the message of a commit; the hook commit-msg of .pre-commit-config.yaml runs it.

    python tools/check_commit.py FILE

The subject is imperative and has at most 72 characters, the name of a part before it counted ("verify: ..."); the body
begins on the third line.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

LIMIT = 72
MADE = re.compile(r"(fixup!|squash!|amend!|Merge|Revert) ")
"""Subjects that git makes."""
PART = re.compile(r"[\w./-]+: ")
NOT_IMPERATIVE = re.compile(r"[A-Za-z]+(ed|ing)$|(Adds|Allows|Changes|Fixes|Makes|Moves|Removes|Updates|Uses)$", re.I)
IMPERATIVE = {"bring", "embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed", "string", "succeed"}
"""Verbs that end like a participle."""


def find_faults(message: str) -> list[str]:
    """Return what is wrong with a message, one line each."""
    subject, *body = [line for line in message.splitlines() if not line.startswith("#")] or [""]
    if MADE.match(subject):
        return []
    first = (PART.sub("", subject, count=1).split() or [""])[0]
    faults = []
    if not subject.strip():
        faults.append("the subject is empty")
    if len(subject) > LIMIT:
        faults.append(f"the subject has {len(subject)} characters, at most {LIMIT} are allowed")
    if subject.endswith("."):
        faults.append("the subject ends with a full stop")
    if NOT_IMPERATIVE.match(first) and first.lower() not in IMPERATIVE:
        faults.append(f"the subject is not imperative: it begins with {first!r}; say what the commit does as an order")
    if body and body[0].strip():
        faults.append("the second line is not empty; the body begins on the third")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="the file with the message")
    faults = find_faults(parser.parse_args().file.read_text())
    for fault in faults:
        print(f"commit message: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
