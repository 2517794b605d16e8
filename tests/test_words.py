"""Numbers as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor import words
from advisor.errors import BadValue
from advisor.units import GIB


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("8192", 8192), ("8k", 8192), ("128k", 131072), ("128K", 131072), ("8_192", 8192), ("8,192", 8192), ("1m", 1048576), (4096, 4096)],
)
def test_tokens(text, tokens):
    assert words.tokens(text, "--context") == tokens


@pytest.mark.parametrize(
    "text", ["8x", "", "-1", "0", "1.5", "1e3", "9" * 30, "٣", "nan", "inf", True, None, [], 1e400, -5, 2.5, "8k tokens k"]
)
def test_no_tokens(text):
    with pytest.raises(BadValue, match="--context"):
        words.tokens(text, "--context")


@pytest.mark.parametrize(
    ("text", "usd"), [("3000", 3000), ("$3,000", 3000), ("2k", 2000), ("$2.5k", 2500), ("2500 USD", 2500), (1500, 1500), ("0", 0)]
)
def test_money(text, usd):
    assert words.money(text, "--budget") == usd


@pytest.mark.parametrize("text", ["-5", "£300", "much", "1e30", float("nan"), float("inf"), "1k k"])
def test_no_money(text):
    with pytest.raises(BadValue, match="--budget"):
        words.money(text, "--budget")


def test_users():
    assert words.users("max", "--users") is None
    assert words.users("4", "--users") == 4
    with pytest.raises(BadValue, match="or max"):
        words.users("0", "--users")


def test_memory_is_in_gib():
    assert words.memory("64", "--ram-gib") == words.memory("64gb", "--ram-gib") == 64 * GIB


@pytest.mark.parametrize("value", ["rtx-3090=700", ["rtx-3090=700"], {"rtx-3090": 700}, {"rtx-3090": "$700"}])
def test_prices(value):
    assert words.prices(value, "--price") == (("rtx-3090", 700.0),)


@pytest.mark.parametrize("value", ["rtx-3090", "=700", "rtx-3090=", "rtx-3090=cheap", 700, [["a"]]])
def test_no_prices(value):
    with pytest.raises(BadValue):
        words.prices(value, "--price")


SINGLE = st.one_of(st.text(), st.integers(), st.floats(), st.none(), st.booleans())
ANYTHING = st.one_of(SINGLE, st.lists(st.text()), st.dictionaries(st.text(), st.integers()))
READERS = [
    words.tokens, words.tokens_or_none, words.count, words.users, words.money, words.memory, words.above_zero,
    words.zero_or_more, words.hours, words.text, words.texts, words.flag, words.prices,
]  # fmt: skip


@given(ANYTHING, st.sampled_from(READERS))
def test_a_value_or_a_plain_error(value, reader):
    """Whatever is given: a value within bounds, or BadValue that repeats it without control characters."""
    message = "--option: "
    try:
        reader(value, "--option")
    except BadValue as error:
        message = error.message
    assert message.startswith("--option: ")
    assert "\x1b" not in message
