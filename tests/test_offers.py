"""Systems worth trying, by hand: how many of which card or machine, over which link, what of it is bought and what that costs at least."""

from collections.abc import Iterable
from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest
from test_hosts import CATALOG, computer, hosts_of

from advisor.advice.desk import Desk
from advisor.advice.offers import (
    Offer,
    Shelf,
    _sums,
    beside,
    bridge_of,
    card_kind,
    cards,
    fastest_networks,
    goes_in_slot,
    is_sold,
    machines,
    name_of,
    network_kind,
    owned_cards,
)
from advisor.bind import bind
from advisor.need import Need, Workload
from advisor.record import replace
from advisor.units import GB, GIB

PRICES = (("rtx-3090", 700.0), ("rtx-4090", 1600.0), ("rtx-3060-12gb", 200.0), ("dgx-spark", 4000.0))
DEVICE = CATALOG.device


def shelf(have: str | None = None) -> Shelf:
    """Of one computer for 500 dollars, which takes eight cards and has watts enough."""
    need = Need(model="qwen3-8b", workload=Workload(), prices_usd=PRICES)
    made = Shelf(Desk(need, bind(have, CATALOG) if have else None, CATALOG, CATALOG.model("qwen3-8b"), date(2026, 11, 30)))
    made.hosts = hosts_of([(500.0, computer("roomy", cards=10, power_supply_w=9000.0))])
    return made


def listed(offers: Iterable[Offer | None]) -> list[tuple[Any, ...]]:
    return [(each.kind, each.words, each.least_usd) for each in offers if each]


def test_one_to_eight_of_a_card_and_the_bridged_pair() -> None:
    assert listed(cards(shelf(), DEVICE("rtx-3090"), 0)) == [
        ("one-bigger-gpu", "rtx-3090", 1200),
        ("second-gpu", "2x rtx-3090", 1900),
        ("multi-gpu-server", "3x rtx-3090", 2600),
        ("multi-gpu-server", "4x rtx-3090", 3300),
        ("multi-gpu-server", "6x rtx-3090", 4700),
        ("multi-gpu-server", "8x rtx-3090", 6100),
        ("nvlink-pair", "2x rtx-3090 via nvlink3-bridge-3090", 1900),  # the bridge is on the bill, not in the least price
    ]


@pytest.mark.parametrize(
    ("owned", "counts", "bridged"),
    [(1, [2, 3, 4, 6, 8], True), (2, [3, 4, 6, 8], True), (3, [4, 6, 8], False), (4, [5, 6, 8], False), (8, [9], False), (9, [10], False)],
)
def test_of_owned_cards_only_more_are_offered_and_only_those_are_bought(owned: int, counts: list[int], bridged: bool) -> None:
    found = [each for each in cards(shelf(), DEVICE("rtx-3090"), owned) if each]
    plain = [each for each in found if each.kind != "nvlink-pair"]
    assert [each.count for each in plain] == counts
    assert [each.bought for each in plain] == [(("rtx-3090", count - owned),) for count in counts]
    assert [each.least_usd for each in plain] == [500 + 700 * (count - owned) for count in counts]
    assert [each.bought for each in found if each.kind == "nvlink-pair"] == ([(("rtx-3090", 2 - owned),)] if bridged else [])


def test_the_sums_of_an_offer() -> None:
    three = listed_offer(cards(shelf(), DEVICE("rtx-3090"), 0), "3x rtx-3090")
    assert (three.count, three.memory_bytes, three.bandwidth_bytes_per_s) == (3, 3 * 24 * GIB, pytest.approx(3 * 936.2 * GB, rel=1e-3))
    assert (three.host.id if three.host else None, three.ram_bytes, three.ram_bytes_per_s, three.boxes) == ("roomy", 32 * GIB, 50 * GB, 1)
    board = replace(DEVICE("rtx-3090"), gpus_on_board=2)
    assert _sums([(board, 24 * GIB, 3)]) == (6, 6 * 24 * GIB, 6 * board.bandwidth_bytes_per_s)


def listed_offer(offers: Iterable[Offer | None], words: str) -> Offer:
    return next(each for each in offers if each and each.words == words)


@pytest.mark.parametrize(
    ("have", "device", "bigger"),
    [
        (None, "rtx-3060-12gb", True),
        ("rtx-3090", "rtx-3060-12gb", False),
        ("rtx-3090", "rtx-3090", False),
        ("rtx-3090", "rtx-4090", True),  # as large, and faster: 1,008 against 936 GB/s
        ("rtx-4090", "rtx-3090", False),
        ("rtx-3090 + rtx-5090", "rtx-4090", False),
        ("rtx-3090", "rtx-pro-6000-blackwell", True),
        ("mac-m4-max-40c", "rtx-3060-12gb", True),  # a Mac is no card
    ],
)
def test_one_card_must_be_more_than_what_is_owned(have: str | None, device: str, bigger: bool) -> None:
    made = shelf(have)
    assert made.is_bigger(DEVICE(device)) is bigger
    assert any(each.count == 1 for each in cards(made, DEVICE(device), 0) if each) is bigger


@pytest.mark.parametrize(
    ("device", "owned", "offered"),
    [
        ("rtx-4090", [("rtx-3090", 1)], [("second-gpu", "rtx-3090 + rtx-4090", 2100)]),
        ("rtx-4090", [("rtx-3090", 2)], [("multi-gpu-server", "2x rtx-3090 + rtx-4090", 2100)]),
        ("rtx-4090", [("rtx-3090", 1), ("rtx-3060-12gb", 1)], [("multi-gpu-server", "rtx-3090 + rtx-3060-12gb + rtx-4090", 2100)]),
        ("rtx-3090", [("rtx-3090", 1)], []),  # one more of it is another offer
        ("rx-7900-xtx", [("rtx-3090", 1)], []),  # drivers of two makers do not mix
        ("rtx-4090", [("rtx-3090", 1), ("rx-7900-xtx", 1)], []),
    ],
)
def test_another_card_beside_those_that_are_owned(device: str, owned: list[tuple[str, int]], offered: list[tuple[Any, ...]]) -> None:
    mine = [(DEVICE(each), DEVICE(each).largest_memory_bytes, count) for each, count in owned]
    found = list(beside(shelf(), DEVICE(device), mine))
    assert listed(found) == offered
    assert [each.bought for each in found if each] == [((device, 1),)] * len(offered)


def test_whole_machines_over_their_fastest_networks() -> None:
    spark, memory = DEVICE("dgx-spark"), DEVICE("dgx-spark").largest_memory_bytes
    assert listed(machines(shelf(), spark, memory, 0))[:4] == [
        ("unified-memory-machine", "dgx-spark", 4000),
        ("rdma-cluster", "2x dgx-spark via dgx-spark-connectx7", 8000),
        ("rdma-cluster", "3x dgx-spark via dgx-spark-connectx7", 12000),
        ("rdma-cluster", "4x dgx-spark via dgx-spark-connectx7", 16000),
    ]
    mine = list(machines(shelf(), spark, memory, 2))
    assert [each.count for each in mine] == [3, 4, 3, 4]
    assert [each.bought for each in mine] == [(("dgx-spark", 1),), (("dgx-spark", 2),)] * 2
    assert [(each.least_usd, each.boxes, each.host) for each in mine[:2]] == [(4000, 3, None), (8000, 4, None)]
    assert {each.kind for each in mine[2:]} == {"network-cluster"}


def test_no_more_machines_than_a_link_joins() -> None:
    made = shelf()
    spark = DEVICE("dgx-spark")
    pair = replace(CATALOG.link("dgx-spark-connectx7"), max_devices=2)
    made.desk = type("Joined", (), {"catalog": type("Links", (), {"link": staticmethod(lambda _: pair)}), "price": made.desk.price})()  # type: ignore[assignment]
    assert [each.count for each in machines(made, spark, spark.largest_memory_bytes, 0)] == [1, 2]


def test_networks_the_fastest_of_each_kind() -> None:
    desk = shelf().desk
    assert [link.id for link in fastest_networks(DEVICE("mac-m3-ultra-80c"), desk)] == ["thunderbolt-5-rdma", "thunderbolt-5-ip"]
    assert fastest_networks(DEVICE("rtx-3090"), desk) == []


def test_bridges_that_one_can_buy() -> None:
    desk = shelf().desk
    bridge = bridge_of(DEVICE("rtx-3090"), desk)
    assert bridge
    assert bridge.id == "nvlink3-bridge-3090"
    assert bridge_of(DEVICE("rtx-4090"), desk) is None


def test_what_no_computer_takes_or_nobody_prices() -> None:
    made = shelf()
    made.hosts = hosts_of([(500.0, computer("small", cards=2, power_supply_w=9000.0))])
    assert [each.count for each in cards(made, DEVICE("rtx-3090"), 0) if each] == [1, 2, 2]
    unpriced = replace(DEVICE("rtx-5090"), prices=())
    assert [each.least_usd for each in cards(made, unpriced, 0) if each] == [None, None]
    assert made.least_usd([(unpriced, 1.0, 0), (DEVICE("rtx-3090"), 1.0, 2)], 10.0) == 1410  # what is owned needs no price


def test_kinds() -> None:
    assert [card_kind(count, bridged) for count, bridged in ((1, False), (2, False), (2, True), (3, False), (3, True))] == [
        "one-bigger-gpu", "second-gpu", "nvlink-pair", "multi-gpu-server", "multi-gpu-server",
    ]  # fmt: skip
    assert [network_kind(CATALOG.link(link)) for link in ("thunderbolt-5-rdma", "eth-10g-tcp")] == ["rdma-cluster", "network-cluster"]


def test_what_is_sold_and_what_goes_in_a_slot() -> None:
    card = DEVICE("rtx-3090")
    assert [is_sold(replace(card, **more)) for more in ({}, {"availability": "announced"}, {"kind": "laptop-gpu"})] == [True, False, False]
    assert [goes_in_slot(replace(card, **more)) for more in ({}, {"mount": "sxm"}, {"pcie_lanes": None}, {"kind": "mac"})] == [
        True, False, False, False,
    ]  # fmt: skip


def test_what_is_owned_is_counted_by_device_and_size() -> None:
    assert owned_cards(None) == []
    found = owned_cards(bind("2x (rtx-3090 + rtx-4090) via eth-10g-tcp", CATALOG))
    assert [(device.id, count) for device, _, count in found] == [("rtx-3090", 2), ("rtx-4090", 2)]
    sizes = DEVICE("mac-m3-ultra-80c").memory_options_bytes
    assert [name_of(DEVICE("mac-m3-ultra-80c"), sizes[0]), name_of(DEVICE("rtx-3090"), 24 * GIB)] == ["mac-m3-ultra-80c 96gb", "rtx-3090"]


def test_a_machine_of_another_size_goes_beside_the_owned_one() -> None:
    """Who owns 512 GB is not sold two of 256 GB where one beside it does: the bill has one of them, and the cable."""
    from advisor import answers
    from advisor.advice.offers import all_offers

    system = answers.estimate("mac-m3-ultra-80c 512gb", catalog=CATALOG, model="qwen3-8b").system
    desk = Desk(Need(workload=Workload(), model="qwen3-8b"), system, CATALOG, CATALOG.model("qwen3-8b"))
    mixed = [offer for offer in all_offers(desk).every if len(offer.groups) == 2 and offer.boxes == 2]
    assert {(offer.kind, offer.words.split(" via ")[0]) for offer in mixed if offer.kind == "rdma-cluster"} == {
        ("rdma-cluster", f"mac-m3-ultra-80c 512gb + mac-m3-ultra-80c {size}gb") for size in (96, 256)
    }
    for offer in mixed:
        found = desk.system(offer.words)
        assert not isinstance(found, Exception)
        bought = [(line.what, line.count) for line in desk.cost(found).lines if not line.owned and line.what.startswith("mac-")]
        assert bought == [*offer.bought] == [("mac-m3-ultra-80c", 1)]


@pytest.mark.parametrize(
    ("owned", "changed", "retired", "found"),
    [
        ((), {}, False, ["cards 0"]),
        ((), {}, True, []),  # nobody should buy it
        ((), {"rebuilt": True}, False, []),
        (("rtx-3090",), {}, True, ["cards 1", "beside"]),  # who has one may add to it
        (("rtx-3090",), {"rebuilt": True}, False, ["cards 1", "beside"]),
        (("rtx-4090",), {}, True, []),
        (("rtx-4090",), {}, False, ["cards 0", "beside"]),
        (("rtx-3090", "rtx-4090"), {}, True, ["cards 1", "beside"]),
        (("rtx-4090", "dgx-spark"), {}, False, ["cards 0"]),  # nothing goes beside a machine
        ((), {"availability": "announced"}, False, []),
        ((), {"memory_options_bytes": (8 * GIB,)}, False, ["cards 0"]),
        ((), {"memory_options_bytes": (7.9 * GIB,)}, False, []),  # less than the least
        ((), {"mount": "sxm"}, False, []),  # no slot takes it
        ((), {"kind": "mac", "memory_options_bytes": (64 * GIB, 128 * GIB)}, False, ["machines 0"] * 2),
    ],
)
def test_what_of_the_catalog_is_offered(
    monkeypatch: pytest.MonkeyPatch, owned: tuple[str, ...], changed: dict[str, Any], retired: bool, found: list[str]
) -> None:
    from advisor.advice import offers

    for name in ("cards", "machines"):
        monkeypatch.setattr(offers, name, lambda shelf, device, *rest, name=name: [f"{name} {rest[-1]}"])
    monkeypatch.setattr(offers, "beside", lambda *_: ["beside"])
    monkeypatch.setattr(offers, "beside_machine", lambda *_: [])
    monkeypatch.setattr(offers, "owned_offer", lambda shelf: None)
    device = replace(DEVICE("rtx-3090"), **changed)
    hints = SimpleNamespace(is_retired=lambda maker, architecture: retired)
    desk = SimpleNamespace(choice=lambda name: 8.0, catalog=SimpleNamespace(hints=hints, devices={device.id: device}))
    mine = [(DEVICE(each), DEVICE(each).largest_memory_bytes, 1) for each in owned]
    assert list(offers._offers(SimpleNamespace(desk=desk, owned=mine))) == found  # type: ignore[arg-type]
