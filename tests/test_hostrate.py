"""What lies in host memory takes what published runs took; and the answer says how sure that is."""

import sys
from math import exp, hypot, log
from pathlib import Path

import pytest

from advisor import choose
from advisor.bind import bind
from advisor.catalog import Catalog
from advisor.evidence import Evidence
from advisor.need import Workload
from advisor.speed import Estimate, wider
from advisor.units import GB

TOOLS = Path(__file__).resolve().parent.parent / "tools"
WORK = Workload(users=1, context_tokens=4096, prompt_tokens=0, generate_tokens=2)


def estimated(catalog: Catalog, words: str, model: str, quant: str = "mxfp4") -> Estimate:
    return choose.best(bind(words, catalog), catalog.model(model), quant, "f16", WORK, catalog)


def test_time_in_host_memory_is_bytes_at_the_reached_rate_and_a_way_for_each_layer(catalog: Catalog) -> None:
    found = estimated(catalog, "rtx-4090 as offload on llama.cpp", "gpt-oss-120b")
    hosts, (part,) = catalog.host_calibration, found.placement.parts
    # of 128 experts a token reads 4; 2 channels × 8 bytes × 5,600 MT/s = 89.6 GB/s
    read = part.host_expert_share * found.weights.expert_bytes * 4 / 128
    expected = read / (hosts.reached_share * 89.6 * GB) + part.host_expert_layers * hosts.layer_s
    assert part.host_expert_layers > 0
    assert found.terms
    assert found.terms.host_memory_s == pytest.approx(expected, rel=0.03)  # multiplying overlaps, but for a little


def test_the_shipped_constants_are_those_of_the_rows(catalog: Catalog) -> None:
    pytest.importorskip("scipy")
    sys.path.insert(0, str(TOOLS))
    try:
        import fit_host
    finally:
        sys.path.remove(str(TOOLS))
    runs, shipped = list(fit_host.runs_of(catalog)), catalog.host_calibration
    share, layer_s = fit_host.fit(runs)
    assert len(runs) == shipped.rows
    assert (share, layer_s) == pytest.approx((shipped.reached_share, shipped.layer_s), rel=0.02)
    unseen = fit_host.kept_out(runs)
    assert fit_host.spread(unseen) == pytest.approx(shipped.decode_log_error, abs=0.01)
    half = 1.2816 * shipped.decode_log_error
    inside = sum(abs(each) <= half for each in unseen) / len(unseen)
    assert 0.7 <= inside <= 0.95  # 80 % of a normal distribution; 23 rows scatter


@pytest.mark.parametrize(("low", "high", "spread"), [(0.9, 1.2, 0.0), (0.8, 1.25, 0.2), (0.5, 3.0, 1.0)])
def test_two_independent_errors_join_as_the_sides_of_a_right_angle(low: float, high: float, spread: float) -> None:
    half = 1.2816 * spread  # 80 % of a normal distribution
    expected = exp(-hypot(log(low), half)), exp(hypot(log(high), half))
    assert wider((low, high), spread) == pytest.approx(expected)


def test_an_offload_is_less_sure_than_the_same_card_alone(catalog: Catalog) -> None:
    alone = estimated(catalog, "rtx-4090 on llama.cpp", "gpt-oss-20b")
    out = estimated(catalog, "rtx-4090 as offload on llama.cpp", "gpt-oss-120b")
    assert alone.decode
    assert out.decode
    assert out.decode.high / out.decode.low > 1.1 * alone.decode.high / alone.decode.low
    assert alone.evidence.known
    assert not out.evidence.known
    assert out.evidence.host_rows == catalog.host_calibration.rows


def test_only_a_computer_that_was_measured_itself_is_known() -> None:
    assert Evidence("calibrated", own_rows=5).known
    assert not Evidence("calibrated", own_rows=5, host_rows=20).known
    assert Evidence("measured", host_rows=20).known


def test_published_prompts_of_an_offload_lie_inside(catalog: Catalog) -> None:
    """gpt-oss-120b with every expert outside, RTX 3090 and Core i9-14900K: 12,717 tokens read at 134 tokens/s (r/LocalLLaMA 2025-08)."""
    work = Workload(users=1, context_tokens=16384, prompt_tokens=12717, generate_tokens=128)
    system = bind("rtx-3090 as offload on llama.cpp", catalog)
    found = choose.best(system, catalog.model("gpt-oss-120b"), "mxfp4", "f16", work, catalog)
    assert found.prefill
    assert found.prefill.low <= 134.4 <= found.prefill.high
