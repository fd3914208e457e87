"""The page in a real browser: keys, mouse, colors, width, and nothing in the console."""

from __future__ import annotations

import pytest
from harness.browser import MISSING, look, started

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.examples.matmul import matmul, steps

pytest.importorskip("selenium", reason="selenium is not installed: pip install selenium")
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

pytestmark = [pytest.mark.slow, MISSING]


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> str:
    """The address of the page of the chapter's schedule, with a refused step in it."""
    sch = Schedule(matmul(256, 256, 256))
    with pytest.raises(ScheduleError):
        sch.parallel(sch.get_loops("matmul")[2])
    for _ in steps(sch):
        pass
    return sch.history.html(tmp_path_factory.mktemp("page") / "steps.html").as_uri()


@pytest.fixture(scope="module")
def driver():
    made = started()
    yield made
    made.quit()


@pytest.fixture
def browser(driver, page):
    """The page, opened anew at 1280 x 900 in light colors; afterwards the console must be empty."""
    show(driver, page)
    yield driver
    assert driver.get_log("browser") == []


def show(driver, page: str, width: int = 1280, dark: bool = False) -> None:
    look(driver, width, dark=dark)
    driver.get("about:blank")
    driver.get(page)


def press(driver, key: str) -> None:
    driver.find_element(By.TAG_NAME, "body").send_keys(key)


def text(driver, ident: str) -> str:
    return driver.find_element(By.ID, ident).text


def test_keys_move_through_the_steps(browser):
    assert text(browser, "call") == "The program as written"
    assert not browser.find_element(By.ID, "previous").is_enabled()
    press(browser, Keys.ARROW_RIGHT)
    assert text(browser, "call") == "parallel(loop=r)" and "Refused." in text(browser, "proof")
    press(browser, Keys.ARROW_RIGHT)
    assert text(browser, "call") == "split(loop=y, factors=[None, 16])" and "Legal." in text(browser, "proof")
    assert browser.find_elements(By.CSS_SELECTOR, "#program .line.new") and browser.current_url.endswith("#5")
    press(browser, Keys.END)
    assert text(browser, "call").startswith("tensorize(") and not browser.find_element(By.ID, "next").is_enabled()
    press(browser, Keys.ARROW_LEFT)
    assert text(browser, "call").startswith("decompose_reduction(")
    press(browser, Keys.HOME)
    assert text(browser, "call") == "The program as written"


def test_mouse_and_list(browser):
    browser.find_element(By.ID, "next").click()
    assert text(browser, "call") == "parallel(loop=r)"
    items = browser.find_elements(By.CSS_SELECTOR, "#steps button")
    assert len(items) == 15
    items[6].click()
    assert text(browser, "call") == "blockize(target=y_1)" and items[6].get_attribute("aria-current") == "step"
    assert [i.get_attribute("aria-current") for i in items].count("step") == 1
    browser.find_element(By.CSS_SELECTOR, "#choose option[value='9']").click()
    assert text(browser, "call").startswith("compute_at(")
    told = browser.find_element(By.ID, "status").get_attribute("textContent")  # read out, not seen
    assert told.startswith("Step 12 of 17: compute_at(")


def test_an_address_leads_to_its_step(browser, page):
    show(browser, f"{page}#8")  # its number in the history
    assert text(browser, "call").startswith("reorder(")


def test_counts_and_tiles_are_shown(browser, page):
    show(browser, f"{page}#12")
    rows = [r.text.split() for r in browser.find_elements(By.CSS_SELECTOR, "#counts tr")]
    assert rows[0] == ["A", f"{16 * 256 * 256:,}", "was", f"{256 * 256:,}", "0"]  # each tile of y and x copies it
    assert browser.find_element(By.CSS_SELECTOR, "#levels [aria-pressed=true]").text == "r_0"
    assert "A[0:16, 0:16]" in browser.find_element(By.ID, "tiles").get_attribute("textContent")
    browser.find_elements(By.CSS_SELECTOR, "#levels button")[2].click()  # x_0: a row of tiles
    assert "A[0:16, 0:256]" in browser.find_element(By.ID, "tiles").get_attribute("textContent")
    press(browser, Keys.ARROW_RIGHT)  # what the reader chose stays chosen
    assert browser.find_element(By.CSS_SELECTOR, "#levels [aria-pressed=true]").text == "x_0"


def test_a_slider_moves_the_tiles(browser, page):
    show(browser, f"{page}#12")
    browser.execute_script("""
      const slider = document.getElementById("iteration");
      slider.value = 3;
      slider.dispatchEvent(new Event("input"));
    """)
    assert text(browser, "iteration-value") == "3 of 0..16"
    assert "reads A[0:16, 48:64]" in browser.find_element(By.ID, "tiles").get_attribute("textContent")
    moved = browser.find_element(By.CSS_SELECTOR, "#tiles [data-x]").get_attribute("transform")
    assert moved.startswith("translate(31.5 0")


def test_a_point_of_a_curve_leads_to_its_step(browser):
    browser.execute_script("""
      const mark = document.querySelector('#charts .wide [data-point="9"] circle');
      mark.dispatchEvent(new MouseEvent("click", {bubbles: true}));
    """)
    assert text(browser, "call").startswith("compute_at(")
    assert browser.find_elements(By.CSS_SELECTOR, "#charts .current")


def test_a_loop_of_the_drawing_can_be_clicked(browser, page):
    show(browser, f"{page}#8")
    browser.execute_script("""
      const frame = document.querySelectorAll("#nest [data-loop]")[1];
      frame.querySelector("rect").dispatchEvent(new MouseEvent("click", {bubbles: true}));
    """)
    assert browser.find_element(By.CSS_SELECTOR, "#levels [aria-pressed=true]").text == "x_0"
    assert len(browser.find_elements(By.CSS_SELECTOR, "#nest .chosen")) == 1


def test_lines_removed_can_be_left_out(browser, page):
    show(browser, f"{page}#5")
    gone = browser.find_element(By.CSS_SELECTOR, "#program .gone")
    assert gone.is_displayed()
    browser.find_element(By.ID, "removed").click()
    assert not gone.is_displayed()


def ground(driver) -> str:
    return driver.execute_script("return getComputedStyle(document.body).backgroundColor")


def test_light_and_dark(browser, page):
    light = ground(browser)
    button = browser.find_element(By.ID, "theme")
    assert button.get_attribute("aria-pressed") == "false"
    button.click()
    dark = ground(browser)
    assert dark != light and button.get_attribute("aria-pressed") == "true"
    show(browser, page)  # the choice is kept
    assert ground(browser) == dark
    browser.find_element(By.ID, "theme").click()
    assert ground(browser) == light
    browser.execute_script("localStorage.clear()")
    show(browser, page, dark=True)  # as the system says
    assert ground(browser) == dark


@pytest.mark.few(2)
@pytest.mark.parametrize("width", [390, 320, 768, 1440])
def test_nothing_is_wider_than_the_screen(browser, page, width):
    for step in ("0", "2-refused", *range(5, 18)):
        show(browser, f"{page}#{step}", width)
        wide = browser.execute_script("return document.documentElement.scrollWidth")
        assert wide <= width, f"step {step} is {wide} px wide"


def test_everything_to_press_has_a_name_and_is_large_enough(browser, page):
    show(browser, f"{page}#12", 390)
    for element in browser.find_elements(
        By.CSS_SELECTOR, "main button, main select, main input[type=range], header button"
    ):
        assert element.accessible_name, element.get_attribute("outerHTML")
        if element.is_displayed():
            assert element.size["height"] >= 32
    for picture in browser.find_elements(By.CSS_SELECTOR, "svg"):
        assert picture.get_attribute("aria-label")


@pytest.mark.nightly
def test_text_contrasts_with_its_background(browser, page):
    """At least 4.5 : 1, as WCAG asks for, in both color schemes."""
    for dark in (False, True):
        browser.execute_script("localStorage.clear()")
        show(browser, f"{page}#2-refused", dark=dark)
        for name in ("#call", "#source", "#summary", "#proof strong", ".label", "#program .keyword"):
            ratio = browser.execute_script(CONTRAST, name)
            assert ratio >= 4.5, f"{name} in {'dark' if dark else 'light'}: {ratio:.2f}"


CONTRAST = """
const parts = (color) => color.match(/[0-9.]+/g).map(Number);
const light = (color) => {
  const [r, g, b] = parts(color).slice(0, 3).map((v) => {
    v /= 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
let element = document.querySelector(arguments[0]);
const text = light(getComputedStyle(element).color);
while (element && (parts(getComputedStyle(element).backgroundColor)[3] ?? 1) === 0) element = element.parentElement;
const ground = light(getComputedStyle(element).backgroundColor);
return (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
"""
