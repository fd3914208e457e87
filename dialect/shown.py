"""How a message shows a value that a user gave: as Python writes it, cut where it is long or deep."""

from __future__ import annotations

from reprlib import Repr

_repr = Repr()
_repr.maxstring = _repr.maxother = _repr.maxlong = 120

shown = _repr.repr
