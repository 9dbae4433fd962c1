"""Formulas as MathML: a short list of tags, nothing that acts, TeX where it cannot be had."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jan_magics.notebook.html import to_html
from jan_magics.notebook.mathml import ATTRIBUTES, TAGS, to_mathml
from tests.notebook.hostile import hostile
from tests.notebook.test_html import Reader

pytest.importorskip("latex2mathml")


def test_a_formula_is_mathml() -> None:
    assert to_mathml(r"\frac{a}{b}", block=False) == (
        '<math display="inline"><mrow><mfrac><mrow><mi>a</mi></mrow><mrow><mi>b</mi></mrow></mfrac>'
        "</mrow></math>"
    )
    assert to_mathml("a < b & c", block=True).count("&lt;") == 1


@pytest.mark.parametrize(
    "tex",
    [
        r"\text{<script>alert(1)</script>}", r"\text{<img src=x onerror=alert(1)>}", r"\frac{",
        r"\begin{", "^", "}{", r"\text{<!-- x -->}", r"\text{</math><b>}", "x" * 5000, "{" * 500,
        r"\text{<math><mi>x</mi></math>}", r"\text", r"\sqrt", r"\begin{matrix}",
    ],
)  # fmt: skip
def test_what_is_no_harmless_formula_stays_tex(tex: str) -> None:
    assert to_mathml(tex, block=False) == ""
    html = to_html(f"${tex}$", mathml=to_mathml)
    assert "<math" not in html
    assert not re.search(r"<(script|img|b|!)", html)


def test_addresses_and_styles_are_left_out() -> None:
    made = to_mathml(
        r"\href{javascript:alert(1)}{x} \style{color:red}{y} \class{z}{w}", block=False
    )
    assert not re.search(r"href|style=|class|javascript", made)


@pytest.mark.parametrize("tex", [r"\text{<![A}", r"\text{<![}", r"\text{<!a}", r"\text{<?}"])
def test_what_opens_a_declaration_stays_tex(tex: str) -> None:
    assert to_mathml(tex, block=True) == ""


def test_without_a_converter_of_ours_dollars_stay() -> None:
    assert to_html(r"$\frac{a}{b}$") == "<p>$\\frac{a}{b}$</p>\n"
    assert to_html("$x^2$", mathml=lambda tex, *, block: "") == "<p>$x^2$</p>\n"


@settings(max_examples=300)
@given(
    st.one_of(
        hostile,
        hostile.map(lambda text: rf"\text{{{text}}}"),
        hostile.map("x^{}".format),
        hostile.map(r"\mbox {}".format),
    )
)
def test_only_listed_tags_whatever_the_tex(tex: str) -> None:
    reader = Reader(TAGS, set(ATTRIBUTES))
    reader.feed(to_mathml(tex, block=True))
    reader.close()
    assert reader.found == []
