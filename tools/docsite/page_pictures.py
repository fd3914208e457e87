"""Pictures that the code of a page draws: `picture.save("NAME.svg")` in a block, `images/NAME.svg` on the page.

`update_outputs.py PAGE` writes them to `docs/images`; the tests of pages compare. A picture with measured figures has
the mark `<!-- varies: numbers -->` before it, and is compared without its numbers; colors are not compared.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from docsite.fences import without_fences

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"
_SHOWN = re.compile(r"(?P<mark><!-- varies: numbers -->\s*)?!\[[^]]*\]\([^)]*images/(?P<name>[\w-]+\.svg)\)")


@dataclass(frozen=True)
class Drawn:
    """A picture of a page that its code drew: the file that it wrote, and whether its figures differ in each run."""

    name: str
    file: Path
    varies: bool

    @property
    def is_shown(self) -> bool:
        """Whether the site has this picture."""
        kept = IMAGES / self.name
        if not kept.exists():
            return False
        old, new = kept.read_text(encoding="utf-8"), self.file.read_text(encoding="utf-8")
        return _words(old) == _words(new) if self.varies else unstyled(old) == unstyled(new)


def drawn(page: str, folder: Path) -> list[Drawn]:
    """Return the pictures of a page that its code wrote to `folder`."""
    shown = [(match["name"], match["mark"] is not None) for match in _SHOWN.finditer(without_fences(page))]
    return [Drawn(name, folder / name, varies) for name, varies in shown if (folder / name).exists()]


def unstyled(svg: str) -> str:
    """A picture without its colors."""
    return re.sub(r"<style>.*?</style>", "", svg, flags=re.S)


def _words(svg: str) -> list[str]:
    """The texts of a picture without their numbers."""
    return [re.sub(r"[\d.,]+(?:e[+-]?\d+)?", "", text) for text in re.findall(r">([^<]+)</text>", svg)]
