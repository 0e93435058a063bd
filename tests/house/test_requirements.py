"""A thing that a test needs and that is not there: skipped, or failed where it is required."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    Require = Callable[[str, object, str], None]


def test_what_is_there_is_used(require: Require) -> None:
    assert require("browser", "/usr/bin/chromium", "Chromium is not installed") is None


def test_what_is_missing_skips_and_says_why(
    require: Require, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROBOTLAB_NB_REQUIRE", "services")
    with pytest.raises(pytest.skip.Exception, match="Chromium is not installed"):
        require("browser", None, "Chromium is not installed")


def test_what_is_missing_and_required_fails(
    require: Require, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROBOTLAB_NB_REQUIRE", "browser,services")
    with pytest.raises(pytest.fail.Exception, match="ROBOTLAB_NB_REQUIRE names browser"):
        require("browser", None, "Chromium is not installed")


def test_a_browser_draws_a_page(browser: object) -> None:
    page = browser.new_page()  # type: ignore[attr-defined]
    page.set_content("<p>Hello</p>")
    assert page.inner_text("p") == "Hello"
