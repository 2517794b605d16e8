"""The models, quantizations and engines in a question, by the catalog's own names and as people shorten them."""

import re
from typing import TYPE_CHECKING

from advisor.intake.question_names import MOST_WORDS, named, spans
from advisor.intake.question_words import Text, sentence_start
from advisor.reason import Reason
from advisor.units import GIGA

if TYPE_CHECKING:
    from advisor.catalog import Catalog

SIZE = re.compile(r"(?<![\w.])(?:\d+x\d+(?:\.\d+)?b(?:-a\d+(?:\.\d+)?b)?|\d+(?:\.\d+)?\s?b(?:[- ]a\d+(?:\.\d+)?b)?)(?![\w.]\w|\w)")
WIDTH = r"(?<![\w.])(?:(4|8|16)[- ]?bits?\b|int(4|8)\b|(?:fp|bf|f)16\b|q(4|8)\b(?!_))"
OTHER_WIDTH = r"(?<![\w.])(?:(2|3|5|6)[- ]?bits?\b|q(2|3|5|6)\b(?!_))"
OTHER_WIDTHS = {"2": "q2_k", "3": "q3_k_m", "5": "q5_k_m", "6": "q6_k"}
MIXTURE = r"\b(?:moe|mixture of experts|mixture|sparse)\b"
WISH = r"\b(?:want|would like|'d like|like to|hope|hoping|dream|move (?:up )?to|step up to|goal|wish|instead of|aim\w*|next)\b"
LEAST_MIXTURE = 75  # billions of parameters: smaller sizes are dense models too
SAME_SHARE = 0.002  # a size in words rounds a model's own by so much
NEAR_SHARE = 0.1  # a size in words and a model's own size this close are the same
FILLERS = frozenset(("model", "models", "the", "full", "big", "instruct", "chat", "quant", "version", "dense", "class", "it", "ai"))
TOKEN = re.compile(r"\d+(?:\.\d+)?(?:x\d+)?b?|a\d+(?:\.\d+)?b|[a-z]+")


def tokens(name: str) -> tuple[str, ...]:
    """A model's name in its smallest words: `qwen3-235b-a22b` as qwen, 3, 235b, a22b."""
    return tuple(TOKEN.findall(name.lower()))


def _shapes(catalog: "Catalog") -> tuple[tuple[str, tuple[str, ...], str], ...]:
    """Each model's id, words and date."""

    def found() -> tuple[tuple[str, tuple[str, ...], str], ...]:
        plain = [catalog.plain("models", each) for each in catalog.ids("models")]
        return tuple((each["id"], tokens(each["id"]), str(each.get("released") or "")) for each in plain)

    return catalog.once("shapes", 1, None, found)


def families(catalog: "Catalog") -> frozenset[str]:
    """The words that models' names begin with."""
    return frozenset(shape[0] for _, shape, _ in _shapes(catalog) if len(shape[0]) > 2 or shape[0] == "yi")


def shortened(name: str, catalog: "Catalog") -> tuple[str, ...]:
    """The models that a shortened name may mean, the plainest and newest first: `gemma 27b`, `qwen 235b`, `gpt oss 120`."""
    said = tuple(word for word in tokens(name) if word not in FILLERS)
    if len(said) < 2 or said[0] not in families(catalog):
        return ()
    fitting = [each for each in _shapes(catalog) if _within(said, each[1])]
    newest = sorted(fitting, key=lambda each: each[2], reverse=True)
    if not any(word[0].isdigit() for word in said):
        return tuple(model for model, _, _ in newest)
    if len(fitting) > 1 and not _names_size(said, fitting[0][1]):
        return ()
    return tuple(model for model, _, _ in sorted(newest, key=lambda each: _extras(said, each[1])))


def _names_size(said: tuple[str, ...], shape: tuple[str, ...]) -> bool:
    """Whether a number that was said is a size in the name, not its version."""
    sizes = {word.rstrip("b") for word in shape if word.endswith("b")}
    return any(word.rstrip("b") in sizes for word in said)


def _within(said: tuple[str, ...], shape: tuple[str, ...]) -> bool:
    """Whether the words stand in this order in the name; `120` is said for `120b`."""
    rest = iter(shape)
    return said[0] == shape[0] and all(any(word in (each, each.removesuffix("b")) and word for each in rest) for word in said)


def _extras(said: tuple[str, ...], shape: tuple[str, ...]) -> int:
    """Words of the name, such as coder or vl, that nobody said."""
    return sum(each.isalpha() and each not in said for each in shape)


def models_in(text: Text, catalog: "Catalog", notes: list[Reason]) -> tuple[str, ...]:
    """The models of the text, the one that is wished for first: names of the catalog, names shortened, else sizes."""
    found: list[tuple[int, int, str]] = []
    taken = 0
    sized = {match.group().replace(" ", "") for match in SIZE.finditer(text.left)}
    for start, end, name in spans(text.left, MOST_WORDS):
        if start < taken or not re.search(r"[a-z]", name):
            continue
        model = _of_size(name, sized, catalog) or _model(name, catalog, notes)
        if model:
            found.append((start, end, model))
            taken = end
    for start, end, _ in found:
        text.cross_out(start, end)
    sizes = [(match.start(), match.end(), re.sub(r"\s(?=b)", "", match.group()).replace(" ", "-")) for match in SIZE.finditer(text.left)]
    for start, end, size in sizes:
        _unknown_version(text, start, end, size, catalog, notes)
        text.cross_out(start, end)
    sizes = [] if found and len(sizes) == 1 and any(_same_size(sizes[0][2], model, catalog) for *_, model in found) else sizes
    mixture = re.search(MIXTURE, text.original) if sizes and not found else None
    if sizes or found:  # alone it may be `a big MoE`
        text.take(MIXTURE)
    if mixture:
        sizes = [(start, end, _beside_mixture(text, start, size, catalog, notes)) for start, end, size in sizes]
    sizes = [(start, end, _only_mixture(size, catalog, notes) or size) for start, end, size in sizes]
    placed = sorted((*found, *sizes))
    wished = [model for start, _, model in placed if re.search(WISH, text.original[sentence_start(text.original, start) : start])]
    models = [model for *_, model in placed]
    return tuple(dict.fromkeys(wished[:1] + models if len(set(models)) > 1 and 0 < len(wished) < len(models) else models))


def _unknown_version(text: Text, start: int, end: int, size: str, catalog: "Catalog", notes: list[Reason]) -> None:
    """A family with a version that the catalog has not, `llama 5 400b`: only its size is taken, said aloud."""
    before = re.search(r"\b(?P<family>[a-z]+)[\s-]?(?P<version>v?\d+(?:\.\d+)?)[\s-]$", text.left[:start])
    if before and before["family"] in families(catalog):
        notes.append(Reason("ask.size-alone", {"name": text.original[before.start() : end], "size": size}))
        text.cross_out(before.start(), start)


def _same_size(size: str, model: str, catalog: "Catalog") -> bool:
    """Whether the size is that of the model that is named: `deepseek r1, 671b`."""
    plain = re.fullmatch(r"(\d+(?:\.\d+)?)b", size)
    return size in tokens(model) or bool(plain and abs(catalog.model(model).params / GIGA / float(plain[1]) - 1) <= NEAR_SHARE)


def rivals(text: Text, models: tuple[str, ...]) -> bool:
    """Whether several models are asked between: `27b or 30b-a3b`."""
    return (
        len(models) > 1
        and bool(re.search(r"\b(?:or|vs|versus|and|between|compar\w+)\b", text.original))
        and not re.search(WISH, text.original)
    )


def largest(models: tuple[str, ...], catalog: "Catalog") -> str:
    """The largest of several models, which a purchase for all of them has to hold; of equals the first."""

    def billions(model: str) -> float:
        size = re.match(r"(?:(\d+)x)?(\d+(?:\.\d+)?)b", model)
        return float(size[1] or 1) * float(size[2]) if size else catalog.model(model).params / GIGA

    return max(models, key=billions)


def _model(name: str, catalog: "Catalog", notes: list[Reason]) -> str | None:
    """The model that a stretch of words names; of several the plainest and newest, said aloud."""
    exact = named("models", name, catalog)
    candidates = exact or shortened(name, catalog)
    if not candidates:
        return None
    chosen = candidates[0] if not exact else max(exact, key=lambda each: str(catalog.plain("models", each).get("released") or ""))
    rest = tuple(dict.fromkeys((*candidates, *_versions(name, catalog))))
    if len(rest) > 1:
        others = ", ".join(each for each in rest if each != chosen)
        notes.append(Reason("ask.took-model", {"name": name, "taken": chosen, "others": others}))
    return chosen


def _of_size(name: str, sized: set[str], catalog: "Catalog") -> str | None:
    """`123b Mistral Large`: the version of that size, where a name without a number has several."""
    versions = _versions(name, catalog)
    return next((each for each in versions if sized.intersection(tokens(each))), None) if len(versions) > 1 and sized else None


def _versions(name: str, catalog: "Catalog") -> tuple[str, ...]:
    """The other versions that a name without a number speaks of: `mistral large` is 675B today and was 123B."""
    return () if re.search(r"\d", name) else shortened(name, catalog)


def usual_in(text: Text, catalog: "Catalog", notes: list[Reason]) -> tuple[str, ...]:
    """The model that a bare family or a size in words is taken as, said aloud; only where the text names no other."""
    for usual in catalog.wording.usual_models:
        found = text.take(rf"\b(?:{usual.words})\b") if usual.model in catalog.ids("models") else None
        if found:
            notes.append(Reason("ask.took-usual", {"name": found[0], "taken": usual.model}))
            return (usual.model,)
    return ()


def _beside_mixture(text: Text, start: int, size: str, catalog: "Catalog", notes: list[Reason]) -> str:
    """A size beside the word `MoE` is a mixture of that size."""
    before, after = text.original[max(0, start - 26) : start], text.original[start + len(size) : start + len(size) + 30]
    beside = re.search(rf"(?:{MIXTURE})\s(?:models?\s)?$", before) or re.match(rf"\s?(?:models?\s|class\s|sized?\s)?(?:{MIXTURE})", after)
    alone = len(SIZE.findall(text.original)) == 1
    return (_mixture(size, catalog, notes) if beside or alone else None) or size


def _only_mixture(size: str, catalog: "Catalog", notes: list[Reason]) -> str | None:
    """A large size that only mixtures bear in their names, such as 235b or 671b, is one of them: said aloud."""
    if not re.fullmatch(r"\d{2,4}b", size) or float(size[:-1]) < LEAST_MIXTURE:
        return None
    bearing = [model for model, shape, _ in _shapes(catalog) if size in shape] or _of_params(float(size[:-1]) * GIGA, catalog)
    if not bearing or not all(catalog.model(model).is_moe for model in bearing):
        return None
    typical = {rung.model for rung in catalog.hints.ladder}
    plain = sorted(bearing, key=lambda model: (model not in typical, sum(word.isalpha() for word in tokens(model))))
    notes.append(Reason("ask.took-mixture", {"size": size, "taken": catalog.model(plain[0]).name}))
    return plain[0]


def _of_params(params: float, catalog: "Catalog") -> list[str]:
    """The models that are as large as a size says whose names do not tell it: 671b."""
    return [model.id for model in catalog.models.values() if abs(model.params / params - 1) <= SAME_SHARE]


def _mixture(size: str, catalog: "Catalog", notes: list[Reason]) -> str | None:
    """The catalog's mixture model nearest to a size in words, said aloud; the newest of equals."""
    if not re.fullmatch(r"\d+(?:\.\d+)?b", size):
        return None
    wanted = float(size[:-1]) * GIGA
    near = [model for model in catalog.models.values() if model.is_moe and abs(model.params - wanted) <= NEAR_SHARE * wanted]
    typical = {rung.model for rung in catalog.hints.ladder}
    near = [model for model in near if model.id in typical] or [model for model in near if size in tokens(model.id)] or near
    if not near:
        return None
    released = {each.id: str(each.released or "") for each in near}
    plainest = min(sum(word.isalpha() for word in tokens(each.id)) for each in near)
    model = max((each for each in near if sum(word.isalpha() for word in tokens(each.id)) == plainest), key=lambda each: released[each.id])
    notes.append(Reason("ask.took-mixture", {"size": size, "taken": model.name}))
    return model.id


def quants_in(text: Text, catalog: "Catalog", notes: list[Reason]) -> tuple[str, ...]:
    """The quantizations and widths of the text in their order."""
    found: list[tuple[int, str]] = []
    for start, end, name in spans(text.left, 1):
        ids = catalog.bearing("quants", name) if re.search(r"\d|^awq$|^gptq$", name) and re.search(r"[a-z]", name) else ()
        if ids and not re.fullmatch(r"int[48]|q\d", name):
            text.cross_out(start, end)
            found.append((start, ids[0]))
    while width := text.take(WIDTH):
        bits = width[1] or width[2] or width[3]
        found.append((width.start(), f"{bits}bit" if bits else "16bit"))
    while other := text.take(OTHER_WIDTH):
        bits = other[1] or other[2]
        notes.append(Reason("ask.took-quant", {"bits": bits, "quant": OTHER_WIDTHS[bits]}))
        found.append((other.start(), OTHER_WIDTHS[bits]))
    return tuple(dict.fromkeys(quant for _, quant in sorted(found)))


def engines_in(text: Text, catalog: "Catalog") -> tuple[str, ...]:
    """The engines of the text in their order."""
    found = []
    taken = 0
    for start, end, name in spans(text.left, 2):
        ids = catalog.bearing("engines", name) if start >= taken and name != "gguf" and len(name) > 2 else ()
        if ids:
            text.cross_out(start, end)
            found.append(ids[0])
            taken = end
    return tuple(dict.fromkeys(found))
