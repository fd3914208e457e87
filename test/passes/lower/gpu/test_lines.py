"""Lines of the program in PTX."""

from __future__ import annotations
