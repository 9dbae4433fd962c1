"""Names in instructions: filled in at every send, volatile lines apart, everything else as text."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from jan_magics.engine.templates import NAMES, Facts, escaped, nearest, render

FACTS = Facts(datetime(2026, 3, 9, 7, 5, tzinfo=ZoneInfo("Asia/Tokyo")), "work.ipynb", "a:b")


@pytest.mark.parametrize(
    ("text", "stable"),
    [
        ("{{current_date}}", "March 9, 2026"),
        ("{{ CURRENT_Date }}", "March 9, 2026"),
        ("{{\tTimeZone\n}}", "Asia/Tokyo"),
        ("{{notebook}} by {{model}}", "work.ipynb by a:b"),
        ("{current_date} {{{current_date}}}", "{current_date} {March 9, 2026}"),
        (r"\{{current_date}} and \{{ more", "{{current_date}} and {{ more"),
        ("{{ 1 + 1 }} {{}} {{ open", "{{ 1 + 1 }} {{}} {{ open"),
        ("  kept\n\n as it is \n", "  kept\n\n as it is \n"),
        ("", ""),
    ],
)
def test_names_are_filled_in(text: str, stable: str) -> None:
    rendered = render(text, FACTS)
    assert (rendered.stable, rendered.volatile, rendered.unknown) == (stable, "", ())


@pytest.mark.parametrize(
    ("text", "stable", "volatile"),
    [
        ("Be brief.\nIt is {{current_time}} now.\nBye.", "Be brief.\nBye.", "It is 07:05 now."),
        ("It is {{current_time}}, {{current_date}}.", "", "It is 07:05, March 9, 2026."),
        ("Hi.\nA {{current_time}}\nB\nC {{ Current_Time }}", "Hi.\nB", "A 07:05\nC 07:05"),
        ("a {{\ncurrent_time\n}} b\nc", "c", "a 07:05 b"),
        ("x {{current_time}} {{current_time}}\ny", "y", "x 07:05 07:05"),
        (r"say \{{current_time}}", "say {{current_time}}", ""),
    ],
)
def test_lines_that_change_go_last(text: str, stable: str, volatile: str) -> None:
    rendered = render(text, FACTS)
    assert (rendered.stable, rendered.volatile) == (stable, volatile)


def test_an_unknown_name_stays_and_is_told_once() -> None:
    rendered = render("{{curent_date}} {{ foo }} {{curent_date}} {{model}}", FACTS)
    assert rendered.stable == "{{curent_date}} {{ foo }} {{curent_date}} a:b"
    assert rendered.unknown == ("curent_date", "foo")
    assert nearest("curent_date") == "current_date"
    assert nearest("zebra") is None


def test_a_zone_without_a_key_tells_its_offset() -> None:
    zone = timezone(timedelta(hours=-3, minutes=-30), "NST")
    facts = Facts(datetime(2026, 3, 9, tzinfo=zone), "n", "m")
    assert render("{{timezone}}", facts).stable == "NST (UTC-03:30)"


def test_the_months_are_english_and_days_are_plain() -> None:
    dates = [datetime(2026, month, 1, tzinfo=UTC) for month in range(1, 13)]
    said = [render("{{current_date}}", Facts(date, "n", "m")).stable for date in dates]
    assert said[0] == "January 1, 2026"
    assert said[11] == "December 1, 2026"
    assert len(set(said)) == 12


@pytest.mark.parametrize("name", NAMES)
def test_an_escaped_text_renders_as_itself(name: str) -> None:
    text = f"{{{{{name}}}}} and {{{{ foo }}}} and {{{{"
    rendered = render(escaped(text), FACTS)
    assert (rendered.stable, rendered.unknown) == (text, ())
