"""What the fit takes from the records of the engines: facts, not constants. A part of `fit.py`."""

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


def chunk_term(catalog: Catalog) -> dict[str, Any]:
    """Prompt tokens that each engine reads in one step: the usual number, and factors for the engines that differ."""
    tokens = {engine.id: engine.batched_prefill_tokens for engine in catalog.engines.values() if engine.batched_prefill_tokens}
    usual, _ = Counter(tokens.values()).most_common(1)[0]
    return {"base": float(usual), "factors": {"engine": {engine: each / usual for engine, each in tokens.items() if each != usual}}}


def chunk_tokens(term: dict[str, Any], engine_id: str) -> float:
    """The term's value for an engine."""
    value: float = term["base"] * term["factors"]["engine"].get(engine_id, 1.0)
    return value
