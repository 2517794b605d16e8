"""Plain facts that a question asks of what it names: its watts, its price, what it brings when sold, what running it costs."""

import re

_FACTS = (
    ("deal", r"\b(?:good|fair|great|decent|ok(?:ay)?|reasonable|bad|right)\s(?:price|deal|value|buy|offer)\b|\boverpriced\b|"
     r"\btoo (?:much|expensive|high|steep)\b|\bis\s\W?\d[\d,.]*k?\s?\w{0,7}\s(?:\w+\s){0,4}for\b|\bstill worth\b|"
     r"\b(?:good|ok|fair|worth it)\s?\?"),
    ("running", r"\b(?:electric(?:ity|al)?|power|energy|running)[- ](?:costs?|bills?)\b|\bcosts? (?:me )?(?:of|to) (?:run|keep)\w*\b"
     r"(?![^.?!]*\b(?:deepseek|llama|qwen|model|\d+b)\b)"),
    ("context", r"\bhow (?:much|long|big|large)(?: of)?(?: an?)? context\b|\bmax(?:imum)? context\b|"
     r"\bhow many tokens (?:of context )?(?:can|will|fit)\b"),
    ("first-token", r"\b(?:how (?:long|many seconds|fast|soon|quick(?:ly)?)|what(?:'s| is| would be))\b[^.?!]{0,60}"
     r"\b(?:first (?:token|word|output)|ttft)\b|"
     r"\bhow long\b[^.?!]{0,30}\b(?:wait\w*|answers?|repl(?:y|ies)|respon(?:se|d)\w*)\b[^.?!]{0,60}\bprompts?\b|"
     r"\bhow long\b[^.?!]{0,40}\b(?:read|process|digest|ingest|prefill)\w*\b[^.?!]{0,30}\b(?:prompts?|tokens)\b"),
    ("power", r"\bhow (?:many|much) (?:watts?|power)\b|\bpower (?:draw|consumption|usage|use)\b|\btdp\b|\bwattage\b"),
    ("resale", r"\bresale\b|\bhow much (?:is|are|(?:can|could|would|will) i (?:get|sell))\b[^.?!]{0,14}\bmy\b|"
     r"\bwhat(?:'s| is| are) my\b[^.?!]{0,30}\bworth\b"),
    ("price", r"\bhow much (?:is|are|does|do|for|should i pay for)\b(?! (?:faster|slower|vram|ram|memory|power|my|better|more))|"
     r"\b(?:price|cost) of\b|\bwhat does\b[^.?!]{0,40}\bcost\b|\bfair price\b"),
)  # fmt: skip


def facts_asked(text: str) -> tuple[str, ...]:
    """The kinds of fact that the text asks."""
    found = tuple(kind for kind, pattern in _FACTS if re.search(pattern, text))
    return tuple(kind for kind in found if kind != "price" or "running" not in found)
