"""Names as people and tools write them, to the ids of the catalog: never a silent substitute. Knows no files."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from advisor.errors import AmbiguousName, UnknownName
from advisor.reason import Reason
from advisor.units import GIB, TIB
from advisor.words import shortened

MOST_NAMED = 8  # of the nearest or the candidates in a message
MAC_WORDS = r"\b(macbook( pro| air)?|mac (studio|mini|pro)|imac|mac)\b"
CPU_CORES = r"\b\d+[ -]?core cpu\b"
CORES = r"\b(\d+)[ -]?cores?( gpu)?\b"
LAPTOP = r"\b(laptop gpu|laptop|max q mobile|mobile max q|mobile|notebook)\b"
SPACED_MEMORY = r"\b(\d+(?:\.\d+)?) ?(gib|gb|tib|tb|g)\b"
MEMORY = r"(\d+)(?:gb|gib|g)|(\d+)(?:tb|tib)"
SIGNS = r"\(\s*(?:r|tm|c)\s*\)|[®™©]"
PCI = r"(?:0x)?([0-9a-f]{4}):(?:0x)?([0-9a-f]{4})"
DRIVER = r"\((?:radv|nvk|anv|llvm|aco|mesa|radeonsi|amd (?:open-source|proprietary))[^)]*\)"  # what Vulkan and OpenGL put behind a name
BACKEND = r"^\s*(?:cuda|rocm|hip|vulkan|metal|sycl|mtl|gpu|device)\s?#?\d+\s*[:=]\s*"  # what llama.cpp and others put before a name
BRACKETS = r"\[([^\[\]]+)\][^\[\]]*$"  # `GA102 [GeForce RTX 3090]`: the product behind the chip, as lspci prints it
CODE_NAME = r"(.*\S)\s*\([a-z]{2,4}[ -]?[a-z]{0,3}\d{0,3}\)$"  # `Arc A770 Graphics (DG2)`
SLICE = r"\bmig (?:\d+c\.)?\d+g\.\d+gb"
MAKER_WORDS = frozenset(
    ("nvidia", "amd", "ati", "intel", "apple", "geforce", "radeon", "instinct", "corporation", "inc", "advanced", "micro")
    + ("devices", "graphics", "gpu", "igpu", "the")
)
RUN_ON = r"(?:nvidia|amd|intel|apple|geforce|radeon|instinct)+(?=.)"  # makers that are written without a space behind them
FORM_WORDS = frozenset(("pcie", "pci", "sxm", "sxm2", "sxm3", "sxm4", "sxm5", "nvl", "oam"))
SERIES_WORDS = frozenset(("rtx", "gtx", "gt", "rx", "arc", "tesla", "titan", "desktop"))
LOOSE_WORDS = frozenset(("pro", "ada", "blackwell", "generation", "quadro", "workstation", "edition", "server"))
QUANT_TAIL = r"(?:[-_:. ](?:ud-)?(?:i?q\d\w*|tq\d\w*|bf16|fp?16|fp8|f32|mxfp4|nvfp4|awq|gptq|[48]bit|qat))+(?:[-.]gguf)?$"  # `-Q4_K_M.gguf`
MODEL_WORDS = frozenset(("instruct", "it", "chat", "hf", "gguf"))


class Found(NamedTuple):
    """What a name stands for; `memory_gib` where the name states it; a `note` where the reading should be said aloud."""

    id: str
    memory_gib: float | None = None
    note: Reason | None = None


def normal(text: str) -> str:
    """Lower case without spaces and punctuation, but numbers kept apart: `RTX 3090-Ti` = `rtx3090ti`, `3.1-8b` = `3.1.8b`."""
    joined = re.sub(r"(?<=\d)[^a-z0-9]+(?=\d)", ".", text.lower())
    return re.sub(r"[^a-z0-9.]|(?<!\d)\.|\.(?!\d)", "", joined)


def device_words(text: str) -> list[str]:
    """A device's name in words that tell it from others: makers left out, cores as `80c`, memory as `24gb`."""
    plain = re.sub(SIGNS, " ", re.sub(DRIVER, " ", text.lower()))
    plain = re.sub(r"[()\[\],/_-]+|\.(?!\d)", " ", plain)
    plain = re.sub(CPU_CORES, " ", " ".join(plain.split()))
    plain = re.sub(CORES, r"\1c", re.sub(MAC_WORDS, " ", plain))
    plain = re.sub(LAPTOP, "laptop", plain)
    plain = re.sub(SPACED_MEMORY, lambda found: f"{found[1]}{found[2]}", plain)
    return [word for word in plain.split() if word not in MAKER_WORDS]


def device_names(plain: Mapping[str, Any]) -> tuple[set[str], set[str]]:
    """What a device is called exactly, and what its family is called: without memory size, form factor and series."""
    called = [plain["id"], plain["name"], *(plain.get("aliases") or ())]
    exact = {normal(" ".join(device_words(name))) for name in called}
    exact |= {_pci(each) or normal(each) for each in plain.get("pci_ids") or ()}
    chip, cores = plain.get("chip"), plain.get("gpu_cores")
    families = set(called)
    if chip:
        families.add(chip)
        exact |= {normal(f"{chip} {cores}c")} if cores else set()
    return exact, {form for name in families for form in _family_forms(name)} - exact


def _family_forms(name: str) -> set[str]:
    words = device_words(name)
    bare = [word for word in words if not re.fullmatch(MEMORY, word)]
    core = [word for word in bare if word not in FORM_WORDS]
    short = [word for word in core if word not in SERIES_WORDS]
    no_cores = [word for word in core if not re.fullmatch(r"\d+c", word)]
    forms = (words, bare, core, short, no_cores)
    return {form for form in (normal(" ".join(each)) for each in forms) if form and len(form) > 1}


def other_names(plain: Mapping[str, Any]) -> tuple[set[str], set[str]]:
    """What a link, model, engine or quantization is called: id, name, aliases, and the repository it is published in."""
    called = [plain["id"], plain.get("name") or "", *(plain.get("aliases") or ()), plain.get("hf_repo") or ""]
    exact = {normal(name) for name in called if name}
    repository = plain.get("hf_repo") or ""
    return exact, {_without_trimmings(name) for name in (repository, *called) if name} - exact


def _without_trimmings(name: str) -> str:
    """A model's name without its publisher and without the words that change nothing of its shape."""
    words = re.split(r"[-_ ]+", name.lower().rsplit("/", 1)[-1])
    while len(words) > 1 and words[-1] in MODEL_WORDS:
        words.pop()
    return normal("-".join(words))


def names_of(kind: str, plain: Mapping[str, Any]) -> tuple[set[str], set[str]]:
    """Exact names and family names of a record, in normal form."""
    return device_names(plain) if kind == "devices" else other_names(plain)


def _begun_first(text: str, ids: list[str]) -> tuple[str, ...]:
    """As many as a message names, those that begin as asked before the others."""
    begun = text.lower()
    return tuple(sorted(ids, key=lambda each: not each.startswith(begun))[:MOST_NAMED])


class Names:
    """The names of one kind: exact and family names to ids, and every id."""

    def __init__(self, one: str, exact: Mapping[str, list[str]], families: Mapping[str, list[str]], ids: Iterable[str]) -> None:
        self.one = one
        self.exact = exact
        self.families = families
        self.ids = tuple(ids)

    def find(self, text: str) -> Found:
        """The record that `text` names; UnknownName or AmbiguousName with the nearest ids."""
        if text in self.ids:
            return Found(text)
        for form in (normal(text), _without_trimmings(text)):
            found = self.exact.get(form) or self.families.get(form)
            if found:
                return Found(self.only(text, found))
        raise self._with_quant(text) or self.unknown(text, self._sharing(text))

    def _with_quant(self, text: str) -> UnknownName | None:
        """The error for a file's or a tag's name that ends in a quantization, which is told apart."""
        plain = re.sub(QUANT_TAIL, "", text, flags=re.IGNORECASE)
        near = self.bearing(plain) if self.one == "model" and plain != text else ()
        if not near:
            return None
        return UnknownName(
            f"no {self.one} is called {shortened(text)}: write {' or '.join(near[:3])}, and the quantization as --quant", near
        )

    def bearing(self, text: str) -> tuple[str, ...]:
        """The ids that bear exactly this name, or whose family does; none where nothing does. Cheap: no nearest names."""
        for form in (normal(text), _without_trimmings(text)):
            found = self.exact.get(form) or self.families.get(form)
            if found:
                return tuple(found)
        return ()

    def only(self, text: str, candidates: list[str]) -> str:
        """The one candidate, or AmbiguousName."""
        if len(candidates) == 1:
            return candidates[0]
        near = _begun_first(text, candidates)
        raise AmbiguousName(f"{shortened(text)} could be any of {', '.join(near)}: say which {self.one}", near)

    def unknown(self, text: str, sharing: list[str]) -> UnknownName | AmbiguousName:
        """The error for a name that nothing bears: those that share its words, then those spelled alike."""
        from difflib import get_close_matches

        if len(sharing) > 1:
            near = _begun_first(text, sharing)
            return AmbiguousName(f"{shortened(text)} names no single {self.one}; it could be {', '.join(near)}", near)
        alike = get_close_matches(text.lower(), self.ids, n=3, cutoff=0.5)
        known = get_close_matches(normal(text), tuple(self.exact), n=3, cutoff=0.6)
        near = tuple(dict.fromkeys([*sharing, *alike, *(each for name in known for each in self.exact[name])]))[:5]
        hint = f": did you mean {' or '.join(near[:3])}?" if near else f": see `advisor list` for every {self.one}"
        return UnknownName(f"no {self.one} is called {shortened(text)}{hint}", near)

    def _sharing(self, text: str) -> list[str]:
        words = {word for word in re.split(r"[^a-z0-9.]+", text.lower().rsplit("/", 1)[-1]) if word} - MODEL_WORDS
        return [each for each in self.ids if words and words <= set(each.split("-"))]


class DeviceNames(Names):
    """The names of devices: as tools print them, with memory sizes, laptop and desktop apart."""

    def __init__(
        self,
        one: str,
        exact: Mapping[str, list[str]],
        families: Mapping[str, list[str]],
        ids: Iterable[str],
        memory_of: Callable[[str], list[float]],
        variants: Mapping[str, list[str]] | None = None,
    ) -> None:
        super().__init__(one, exact, families, ids)
        self.memory_of = memory_of  # the sizes in GiB that a device is sold with
        self.variants = variants or {}  # the rarer ones of a device, which a plain name does not mean

    def find(self, text: str) -> Found:
        """The device that `text` names, and the memory that it states."""
        if text in self.ids:
            return Found(text)
        text = re.sub(BACKEND, "", text, flags=re.IGNORECASE)
        words = device_words(text)
        form = _pci(text) or self._without_makers(normal(" ".join(words)))
        if form in self.exact:
            return self._noted(text, self.only(text, self.exact[form]), None)
        bare = [word for word in words if not re.fullmatch(MEMORY, word)]
        stated = [size for size in map(_gib, words) if size is not None]
        memory = stated[-1] if stated else None
        bare_form = self._without_makers(normal(" ".join(bare)))
        candidates = self.exact.get(bare_form) or self.families.get(form) or self.families.get(bare_form) or []
        if memory and len(candidates) > 1:
            candidates = [each for each in candidates if memory in self.memory_of(each)] or candidates
        if not candidates:
            if within := _within(text):
                return self.find(within)
            raise self._slice(text) or self.unknown(text, self._sharing(text))
        return self._noted(text, self.only(text, list(candidates)), memory)

    def _without_makers(self, form: str) -> str:
        """A form that nothing bears may begin with the maker, run on: `NVIDIARTX3090`."""
        begun = re.match(RUN_ON, form)
        return form if begun is None or form in self.exact or form in self.families else form[begun.end() :]

    def _slice(self, text: str) -> UnknownName | None:
        """What is said of a MIG slice: it is a part of a card, and none of these."""
        found = re.search(SLICE, text.lower())
        if not found:
            return None
        near = self.bearing(text[: found.start()])
        whole = f"; the card is {near[0]}" if len(near) == 1 else ""
        said = f"{shortened(text)} is a MIG slice, a part of a card, which is no device here: name the whole card{whole}"
        return UnknownName(said, near[:MOST_NAMED])

    def bearing(self, text: str) -> tuple[str, ...]:
        """As above; a memory size in the name narrows a family."""
        words = device_words(text)
        form = _pci(text) or normal(" ".join(words))
        if form in self.exact:
            return tuple(self.exact[form])
        bare = normal(" ".join(word for word in words if not re.fullmatch(MEMORY, word)))
        found = self.exact.get(bare) or self.families.get(form) or self.families.get(bare) or []
        sizes = [size for size in map(_gib, words) if size]
        return tuple(each for each in found if not sizes or sizes[-1] in self.memory_of(each))

    def _noted(self, text: str, found: str, memory: float | None) -> Found:
        if memory is not None and memory not in self.memory_of(found):
            sizes = ", ".join(f"{size:g}" for size in self.memory_of(found))
            raise UnknownName(f"{shortened(text)}: {found} is sold with {sizes} GB, not {memory:g}", (found,))
        return Found(found, memory, self._note(text.strip(), found))

    def _note(self, text: str, found: str) -> Reason | None:
        """What should be said of the reading: a bare number is the desktop card, a plain name the common variant."""
        if re.fullmatch(r"\d{3,4}( ?(ti|super|xt|xtx))*", text.lower()):
            return Reason("name.desktop", {"name": text, "id": found})
        others = self.variants.get(found, [])
        stated = any(re.fullmatch(MEMORY, word) for word in device_words(text))
        if others and not stated:
            return Reason("name.variant", {"name": text, "id": found, "others": ", ".join(others)})
        return None

    def _sharing(self, text: str) -> list[str]:
        words = {word for word in device_words(text) if not re.fullmatch(MEMORY, word)} - LOOSE_WORDS - SERIES_WORDS - FORM_WORDS
        return [each for each in self.ids if words and words <= set(device_words(each)) and "laptop" not in set(device_words(each)) - words]


def _within(text: str) -> str | None:
    """The product's name within what lspci or a graphics driver prints around it."""
    brackets, coded = re.search(BRACKETS, text), re.match(CODE_NAME, text, flags=re.IGNORECASE)
    if brackets and not _pci(brackets[1]):
        return brackets[1]
    return coded[1] if coded else None


def _pci(text: str) -> str | None:
    """A PCI id in normal form: vendor, colon, device."""
    found = re.fullmatch(PCI, text.strip().strip("[]").lower())
    return f"{found[1]}:{found[2]}" if found else None


def _gib(word: str) -> float | None:
    found = re.fullmatch(MEMORY, word)
    if not found:
        return None
    return float(found[1]) if found[1] else float(found[2]) * TIB / GIB
