"""A question in plain signs before it is read: small letters, one way to write counts, sums of money and tags of models."""

import re

from advisor.words import CURRENCIES

SIGNS = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "×": "x", "–": "-", "—": ", ", "\t": " ", "≥": " at least ", "≤": " at most ",
     "\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2212": "-", "‑": "-"}
)  # fmt: skip
_CODES = "|".join(sorted({code.lower() for code in CURRENCIES.values()}))
SIGN = rf"(?:us\$|c\$|a\$|(?<![a-z])rs\.?|(?<![\dk]\s)(?<![\w.,])(?:{_CODES})(?=\s?\d)|[$€£¥₹])"
UNIT = (
    r"(?:" + "|".join(sorted((re.escape(word) for word in CURRENCIES if word[0].isalpha()), key=len, reverse=True)) + r"|[€£₹]|\$(?!\s?\d))"
)
_GROUPED = r"[1-9]\d{0,2}(?:[. ']\d{3})+"  # 2.500, 2 500, 2'500
_CENTS = r"(?:,(?:\d{1,2}(?!\d)|-))?"
_GROUPS = re.compile(
    rf"(?:(?P<sign>{SIGN})\s?(?P<behind>{_GROUPED}){_CENTS}(?![\d.]\d)|(?<![\w.,'])(?P<before>{_GROUPED}){_CENTS}(?=\s?{UNIT}(?!\w)))"
)
_DECIMAL = re.compile(rf"(?<![\w.,])(\d{{1,4}}),(\d{{1,2}})(?=\s?(?:k|grand|tok|t/s|tps|lakhs?|kwh|ct|cents?|hours?|s|{UNIT})(?!\w))")
_WHOLE_SUM = re.compile(rf"(?<=\d)(?:,-|\.-)(?=\s?(?:{UNIT}|$|[\s.?!]))")
_FORMATS = r"(?:fp8|int[48]|awq|gptq|nvfp4|mxfp4|bf16|fp16|f16|gguf|mlx|exl[23]|[48][- ]?bit|q[2-8](?:_\w+)?)"
_WAYS = (
    (r"\s*(?:->|=>|→)\s*", " to "),
    (r"\bw/\s?o\b", "without"),
    (r"\bw/\s?(?=\w)", "with "),
    (r"(?<=\w)\s*&\s*(?=\w)", " and "),
    (r"\b(?:second|2nd)[- ]hand\b|\bpre-?owned\b", "used"),
    (r"(?<![\w.])(\d{1,2})[x*](?=\d{4}(?!\d)|[a-z]{1,4}[- ]?\d{2}|tp\d)", r"\1x "),  # 2x3090, 8xa100, 2xtp4
    (r"(?<![\w.])(\d{4}(?: ?ti| ?xtx?)?)x(\d)\b", r"\1 x\2"),  # 3090x2
    (r"(?<=\d)\+(?=(?:\d{1,2}x\s?)?\d{4}\b)", " + "),  # 3090+3060
    (r"\bin the long run\b", "over the years"),
    (r"(?<=[a-z0-9]):(?=\d+(?:\.\d+)?b\b)", "-"),  # the tags of ollama: gemma3:27b
    (rf"(?<=\db)[-:](?={_FORMATS}\b)", " "),  # qwen3-32b-fp8
    (r"\b1[3-6](?:\.\d)?\s?(?:\"|''|-?inch(?:es)?\b|-in\b)", ""),  # of a screen
    (r"\b(mac (?:mini|studio)|macbook(?: pro| air)?|imac)s(?=\s(?:with\s(?:an?\s)?)?m\d)", r"\1"),  # two mac minis m4 pro
    (r"\bin 20[23]\d\b", ""),  # today
    (r"\bm\.2\b", "nvme"),  # a slot, no Mac
)  # fmt: skip


def plain(text: str) -> str:
    """The text in lower case with plain signs: `w/o` as without, arrows as to, second hand as used, 2.500 € as 2500 €."""
    text = text.translate(SIGNS).lower()
    for pattern, plainly in _WAYS:
        text = re.sub(pattern, plainly, text)
    if re.search(r"\bm1:\s", text):  # names of computers, no Macs
        text = re.sub(r"\bm[1-9]\b", "machine", text)
    text = _GROUPS.sub(_ungrouped, _WHOLE_SUM.sub("", text))
    return _DECIMAL.sub(r"\1.\2", text).replace("\0", " ")


def _ungrouped(found: re.Match[str]) -> str:
    """A sum without the marks between its thousands and without cents."""
    return (found["sign"] or "") + re.sub(r"\D", "", found["behind"] or found["before"])
