"""Pictures that the code of a page draws: `picture.save("NAME.svg")` in a block, `images/NAME.svg` on the page.

`update_outputs.py PAGE` writes them to `docs/images`; the tests of pages compare. A picture with measured figures has
the mark `<!-- varies: numbers -->` before it, and is compared without its numbers; one that depends on the CPU, such as
the buffers of a model, has `<!-- varies: everything -->`, and is not compared. Colors are not compared.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from docsite.fences import without_fences

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"
_MARK = r"(?:<!-- varies: (?P<varies>numbers|everything) -->\s*)?"
_SHOWN = re.compile(_MARK + r"!\[[^]]*\]\([^)]*images/(?P<name>[\w-]+\.svg)\)")


@dataclass(frozen=True)
class Drawn:
    """A picture of a page that its code drew: the file that it wrote, and what differs between runs, if anything."""

    name: str
    file: Path
    varies: str | None

    @property
    def is_shown(self) -> bool:
        """Whether the site has this picture."""
        kept = IMAGES / self.name
        if not kept.exists():
            return False
        old, new = kept.read_text(encoding="utf-8"), self.file.read_text(encoding="utf-8")
        if self.varies == "everything":
            return True
        return _words(old) == _words(new) if self.varies else unstyled(old) == unstyled(new)


def drawn(page: str, folder: Path) -> list[Drawn]:
    """Return the pictures of a page that its code wrote to `folder`."""
    shown: dict[str, str | None] = {}
    for match in _SHOWN.finditer(without_fences(page)):  # a page may show a picture twice, and mark it once
        shown[match["name"]] = shown.get(match["name"]) or match["varies"]
    return [Drawn(name, folder / name, varies) for name, varies in shown.items() if (folder / name).exists()]


def unstyled(svg: str) -> str:
    """A picture without its colors."""
    return re.sub(r"<style>.*?</style>", "", svg, flags=re.S)


def _words(svg: str) -> list[str]:
    """The texts of a picture without their numbers."""
    return [re.sub(r"[\d.,]+(?:e[+-]?\d+)?", "", text) for text in re.findall(r">([^<]+)</text>", svg)]
