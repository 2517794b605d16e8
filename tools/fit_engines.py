"""What the fit takes from the catalog as it stands: facts of the engines and chosen shapes. A part of `fit.py`."""

from collections import Counter
from typing import Any

from advisor.catalog import Catalog


def engine_facts(catalog: Catalog) -> dict[str, Any]:
    """The keys of the calibration that say which engines run another's kernels, and which rates theirs reach."""
    engines = catalog.engines.values()
    return {
        "same_as": {engine.id: engine.speeds_as for engine in engines if engine.speeds_as},
        "accumulates_fp16": [engine.id for engine in engines if engine.accumulates_fp16],
        "computes_low_precision": [engine.id for engine in engines if engine.computes_low_precision],
    }


def shapes(catalog: Catalog) -> dict[str, float]:
    """The exponents of the curves between the constants, as chosen."""
    return {name: catalog.choices.choice(name.replace("_", "-")) for name in ("knee_exponent", "cap_exponent")}


def chunk_term(catalog: Catalog) -> dict[str, Any]:
    """Prompt tokens that each engine reads in one step: the usual number, and factors for the engines that differ."""
    tokens = {engine.id: engine.batched_prefill_tokens for engine in catalog.engines.values() if engine.batched_prefill_tokens}
    usual, _ = Counter(tokens.values()).most_common(1)[0]
    return {"base": float(usual), "factors": {"engine": {engine: each / usual for engine, each in tokens.items() if each != usual}}}


def chunk_tokens(term: dict[str, Any], engine_id: str) -> float:
    """The term's value for an engine."""
    value: float = term["base"] * term["factors"]["engine"].get(engine_id, 1.0)
    return value
