"""Pages of the site and their drawings in a real browser, light and dark, on a phone and a screen: they can be read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from harness.browser import MISSING, look, started
from harness.site import ROOT, built, served

pytestmark = [pytest.mark.nightly, pytest.mark.slow, MISSING]
PAGES = (
    *("index", "tutorials/tensorize/index", "reference/primitives/split/index", "performance/index", "gallery/index"),
    *("compared/index", "models/index", "limits/index", "first-schedule/index", "steps/tensorize", "steps/stencil"),
)
CONTRAST = 4.5
"""Of text to what is behind it, at least: as WCAG asks for, level AA."""
SMALLEST = 6.5
"""Pixels of the letters in a drawing, at least, on a phone: a picture of programs can be made larger by two fingers."""
PAGE_FAULTS, DRAWING_FAULTS = (
    Path(__file__).with_name(name).read_text() for name in ("page_faults.js", "drawing_faults.js")
)
LINKS = "return [...document.links].map(link => link.href)"
IDS = "return [...document.querySelectorAll('[id]')].map(e => e.id)"
LOOKS = [(width, dark) for width in (390, 1440) for dark in (False, True)]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    return built(tmp_path_factory)


@pytest.fixture(scope="module")
def address(site) -> Iterator[str]:
    with served(site) as address:
        yield address


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    driver = started()
    yield driver
    driver.quit()


def drawing(driver, file: Path, dark: bool) -> tuple[list[str], float, float]:
    """What is wrong with a drawing, its width, and the size of its smallest letters, in its own units."""
    look(driver, 1200, 1200, dark)
    driver.get(file.as_uri())
    return tuple(driver.execute_script(DRAWING_FAULTS, CONTRAST))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_drawings(driver, dark):
    """Texts are inside, do not meet, have no line through them and can be told from what is behind them."""
    faults = {}
    for file in sorted((ROOT / "docs" / "images").glob("*.svg")):
        if found := drawing(driver, file, dark)[0]:
            faults[file.name] = found
    assert not faults


@pytest.fixture(scope="module")
def letters(driver) -> dict[str, tuple[float, float]]:
    """The width of each drawing, and the size of its smallest letters."""
    return {f.name: drawing(driver, f, False)[1:] for f in (ROOT / "docs" / "images").glob("*.svg")}


@pytest.mark.parametrize(("width", "dark"), LOOKS, ids=[f"{w} {'dark' if d else 'light'}" for w, d in LOOKS])
def test_pages(driver, address, letters, width, dark):
    """Nothing is cut, missing, pale or tiny, and the console remains empty."""
    look(driver, width, dark=dark)
    faults = {}
    for page in PAGES:
        driver.get(f"{address}/{page}.html")
        console = [line["message"] for line in driver.get_log("browser")]
        smallest = SMALLEST if width < 600 else 0
        if found := [*driver.execute_script(PAGE_FAULTS, CONTRAST, smallest, letters), *console]:
            faults[page] = found
    assert not faults


def test_links(driver, address, site):
    """Links of the pages within the site lead to a file, and to a place in it."""
    places: dict[str, set[str]] = {}

    def lead_to(link: str) -> bool:
        parts = urlsplit(link)
        file = site / unquote(parts.path).lstrip("/")
        file = file / "index.html" if file.is_dir() else file
        if not file.is_file() or not parts.fragment or parts.path.startswith("/steps/"):
            return file.is_file()
        if parts.path not in places:
            driver.get(f"{address}{parts.path}")
            places[parts.path] = set(driver.execute_script(IDS))
        return unquote(parts.fragment) in places[parts.path]

    lost = {}
    for page in PAGES:
        driver.get(f"{address}/{page}.html")
        links = [link for link in driver.execute_script(LINKS) if link.startswith(address)]
        if found := sorted({link for link in links if not lead_to(link)}):
            lost[page] = found
    assert not lost
