"""Messages: hand-worked times, and the laws that links obey."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.catalog import Catalog
from advisor.collective import Interruptions, Latency, LinkCalibration, all_spent, reached_bytes_per_s, spent
from advisor.link import Link
from advisor.placement import Message
from advisor.price import Source
from advisor.record import replace
from advisor.units import GB, US

SOURCES = (Source(fields=("latencies",), title="a test"),)


def link(**changes: object) -> Link:
    given_ = {
        "id": "a-link", "name": "a link", "kind": "pcie", "scope": "in-box", "transport": "peer", "bandwidth_bytes_per_s": 10 * GB,
        "latency_s": 2 * US, "shape": "switch", "sources": SOURCES,
    }  # fmt: skip
    return Link(**{**given_, **changes})


def table(*latencies: Latency) -> LinkCalibration:
    stops = Interruptions(per_device_year=0.17, source="a test")
    return LinkCalibration(latencies=latencies, interruptions=stops, prefill_hidden_share=0.0, sources=SOURCES)


RING = Latency(software="ring", all_reduce_s=10 * US, doubling_s=4 * US, send_s=5 * US, source="a test")
ONE_SHOT = Latency(software="shot", all_reduce_s=20 * US, doubling_s=0, one_shot_s=6 * US, send_s=5 * US, source="a test")


def message(kind: str, ranks: int, size: float, over: Link, software: str = "ring") -> Message:
    return Message(kind, over, ranks, per_step=1, bytes_per_token=size, software=software)


def test_a_ring_of_four() -> None:
    # 10 + 4·(log2 4 − 1) µs of software, 2 hops of 2 µs; 2·3/4 of 100 KB at 10 GB/s = 15 µs
    found = spent(message("all-reduce", 4, 1e5, link()), 1, table(RING))
    assert found.latency_s == pytest.approx(18 * US)
    assert found.bandwidth_s == pytest.approx(15 * US)


def test_a_send_and_its_tokens() -> None:
    # 5 + 2 µs; 8 tokens of 10 KB at 10 GB/s = 8 µs
    found = spent(message("send", 2, 1e4, link()), 8, table(RING))
    assert (found.latency_s, found.bandwidth_s) == pytest.approx((7 * US, 8 * US))


def test_tokens_to_their_experts() -> None:
    # 8 boxes: 10 + 4·(log2 8 − 1) + 2 µs; 8 tokens of 10 KB at 10 GB/s = 8 µs; twice a step
    twice = replace(message("all-to-all", 8, 1e4, link()), per_step=2)
    assert (spent(twice, 8, table(RING)).latency_s, spent(twice, 8, table(RING)).bandwidth_s) == pytest.approx((40 * US, 16 * US))


def test_one_shot_for_small_messages_and_a_ring_for_large_ones() -> None:
    over, calibration = link(), table(ONE_SHOT)
    # 4 ranks, 1 KB: one shot 6 + 2 + 3·0.1 = 8.3 µs; ring 20 + 4 + 0.15 = 24.15 µs
    assert spent(message("all-reduce", 4, 1e3, over, "shot"), 1, calibration).total_s == pytest.approx(8.3 * US)
    # 1 MB: one shot 8 + 300 µs; ring 24 + 150 µs
    assert spent(message("all-reduce", 4, 1e6, over, "shot"), 1, calibration).total_s == pytest.approx(174 * US)


def test_a_fabric_without_switch_uses_a_wire_a_neighbour() -> None:
    # 8 × MI300X: 313 GB/s all-reduce bus bandwidth, 2 of 8: 48 (stas00/ml-engineering, network): one of seven wires
    fabric = link(kind="fabric", shape="mesh", max_devices=8, effective_bytes_per_s=313 * GB)
    assert reached_bytes_per_s(fabric, 2) == pytest.approx(48 * GB, rel=0.1)
    assert reached_bytes_per_s(fabric, 8) == 313 * GB


def test_entries_go_from_the_particular_to_the_general() -> None:
    pair = Latency(software="ring", kinds=("pcie",), most_ranks=2, all_reduce_s=1 * US, send_s=1 * US, source="a test")
    calibration = table(pair, RING)
    assert calibration.latency("ring", link(), 2) is pair
    assert calibration.latency("ring", link(), 4) is RING
    assert calibration.latency("ring", link(kind="nvlink"), 2) is RING
    assert calibration.latency("unheard of", link(), 2) is RING  # the last fits all


@given(ranks=st.integers(2, 64), size=st.floats(1, 1e9), tokens=st.integers(1, 4096), faster=st.floats(1, 100), quicker=st.floats(0, 1))
@settings(max_examples=100, deadline=None)
def test_more_bandwidth_and_less_latency_are_never_slower(ranks: int, size: float, tokens: int, faster: float, quicker: float) -> None:
    for calibration, software in ((table(RING), "ring"), (table(ONE_SHOT), "shot")):
        for kind in ("all-reduce", "send", "all-to-all"):
            before = spent(message(kind, ranks, size, link(), software), tokens, calibration)
            quick = link(latency_s=2 * US * quicker or None)
            wide = link(bandwidth_bytes_per_s=10 * GB * faster)
            for better in (quick, wide):
                assert spent(message(kind, ranks, size, better, software), tokens, calibration).total_s <= before.total_s * (1 + 1e-12)


def test_messages_add() -> None:
    each = message("all-reduce", 2, 1e4, link())
    calibration = table(RING)
    assert all_spent((each, each), 3, calibration).total_s == pytest.approx(2 * spent(each, 3, calibration).total_s)
    assert all_spent((), 3, calibration).total_s == 0


# What was measured of one message, against what the shipped table says of it: (link, software, ranks, bytes, µs, factor either way)
MICROBENCHMARKS = [
    ("nvlink4-nvswitch-h100", "nccl-oneshot", 8, 32768, 11.8, 2.0),  # sglang#2904, vLLM's custom all-reduce
    ("nvlink4-nvswitch-h100", "nccl-oneshot", 8, 1048576, 25.3, 1.6),  # 8 H200: bus bandwidth 72.45 GB/s (stas00/ml-engineering)
    ("pcie-5-x16-p2p", "nccl-oneshot", 8, 8192, 24.2, 1.8),  # voipmonitor/rtx6kpro
    ("pcie-3-x16", "nccl", 8, 8, 54.2, 1.5),  # 8 RTX 3090, NCCL#1439
    ("thunderbolt-5-rdma", "jaccl", 2, 4096, 25.5, 1.8),  # omar-karray/mlx-jaccl-cluster
    ("thunderbolt-5-rdma", "jaccl", 2, 4194304, 560, 1.6),
    ("dgx-spark-connectx7", "nccl-net", 2, 8192, 32, 2.4),  # b12x#295
]


@pytest.mark.parametrize(("name", "software", "ranks", "size", "measured_us", "factor"), MICROBENCHMARKS)
def test_the_shipped_table_is_near_microbenchmarks(
    name: str, software: str, ranks: int, size: float, measured_us: float, factor: float
) -> None:
    catalog = Catalog.load(user_folder=False)
    found = spent(message("all-reduce", ranks, size, catalog.link(name), software), 1, catalog.link_calibration)
    assert measured_us / factor <= found.total_s / US <= measured_us * factor


def test_published_link_rows_decode() -> None:
    rows = Catalog.load(user_folder=False).records("link_measurements")
    assert len(rows) >= 100
    assert all(row.latency_s or row.bandwidth_bytes_per_s for row in rows.values())
