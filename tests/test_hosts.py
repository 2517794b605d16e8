"""Computers around cards: which one they go into and what it costs, which give more, and offers moved between them. Worked by hand."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest

from advisor.advice.desk import Desk
from advisor.advice.hosts import Hosts, _lanes, load_of, takes
from advisor.advice.offers import Offer
from advisor.advice.ranges import Range, _rehosted, dearer
from advisor.bind import bind
from advisor.catalog import Catalog
from advisor.host import Host, Slot
from advisor.market import _docks
from advisor.memorykit import kit
from advisor.need import Need, Workload
from advisor.record import replace
from advisor.system import Box, Group, System
from advisor.units import GB, GIB

CATALOG = Catalog.load(root=Path(__file__).parent / "catalog", user_folder=False)
CARD = CATALOG.device("rtx-3090")  # 350 W
SUPPLIES = tuple(
    replace(CATALOG.money.parts_of("power-supply")[0], id=f"psu-{watts}", usd=usd, watts=watts)
    for usd, watts in ((60.0, 650.0), (110.0, 850.0), (200.0, 1200.0))
)


def computer(name: str, gib: float = 32, gb_per_s: float = 50, cards: int = 2, **more: object) -> Host:
    slots = tuple(Slot(generation=4, lanes=16) for _ in range(cards))
    known = {
        "max_cards": cards,
        "power_supply_w": 850.0,
        "base_power_w": 100.0,
        "dock": None,
        "memory_most_bytes": None,
        "slots": slots,
        "owned_default": False,
        **more,
    }
    return replace(CATALOG.host("desktop"), id=name, memory_bytes=gib * GIB, memory_reached_bytes_per_s=gb_per_s * GB, **known)


def hosts_of(sold: Sequence[tuple[float, Host]], own: Host | None = None, owned: bool = True, own_usd: float | None = 0.0) -> Hosts:
    """These computers for sale; supplies of 650, 850 and 1200 W, of which four fifths may be drawn; 1.5 times as much is more."""
    found = Hosts(Desk(Need(model="qwen3-8b", workload=Workload()), None, CATALOG, CATALOG.model("qwen3-8b"), date(2026, 11, 30)))
    found.sold, found.own, found._own_usd, found.more_factor = sorted(sold, key=lambda pair: pair[0]), own, own_usd, 1.5
    found.owned, found.only_own = own is not None and owned, own is not None and not owned
    share = replace(next(each for each in found.money.choices if each.id == "supply-share"), value=0.8)
    others = tuple(part for part in found.money.parts if part.kind != "power-supply")
    found.money = replace(found.money, parts=others + SUPPLIES, choices=(share,))
    return found


def offer(kind: str, host: Host | None, usd: float | None, cards: int = 1, new: int = 1) -> Offer:
    groups = ((CARD, 24 * GIB, cards),)
    bought = (("rtx-3090", new),) if new else ()
    key = f"{cards}x rtx-3090 in {host.id if host else '-'}"
    return Offer(kind, f"{cards}x rtx-3090", host, usd, bought, groups, cards, cards * 24 * GIB, cards * 936 * GB, key=key)


@pytest.mark.parametrize(
    ("slots", "cards", "lanes"),
    [
        ([(4, 16, None), (3, 4, None)], 1, 256),  # 16 lanes of 2^4
        ([(4, 16, None), (3, 4, None)], 2, 32),  # the second slot: 4 lanes of 2^3
        ([(4, 16, 8), (4, 16, 8)], 2, 128),  # shared: 8 lanes of 2^4
        ([], 1, 0),
    ],
)
def test_the_narrowest_of_the_slots_that_are_filled(slots: list[tuple[int, int, int | None]], cards: int, lanes: float) -> None:
    made = tuple(Slot(generation=generation, lanes=alone, lanes_shared=shared) for generation, alone, shared in slots)
    assert _lanes(computer("a", slots=made), cards) == lanes


def test_a_stronger_supply_is_bought_where_its_own_falls_short() -> None:
    one = computer("a", power_supply_w=500.0)  # draws 100 W without cards
    hosts = hosts_of([(500.0, one)])
    assert hosts.supply_usd(one, 400) == 0  # 500 of 500 W
    assert hosts.supply_usd(one, 401) == 60  # 501 of 650 W: 520 may be drawn
    assert hosts.supply_usd(one, 421) == 110  # 521 W: too much for 650, 680 of 850 may be drawn
    assert hosts.supply_usd(one, 1000) == 200  # 1100 W: more than four fifths of 1200, but nothing is stronger
    assert hosts.supply_usd(one, 1101) == float("inf")
    hosts.own, hosts.own_supply_w = one, 900.0
    assert hosts.supply_usd(one, 800) == 0  # as stated of the own one
    assert hosts.supply_usd(one, 801) == 200  # 901 W


def test_cards_go_into_the_own_computer_while_it_takes_them_else_into_the_cheapest_with_its_supply() -> None:
    own, weak, strong, large = (
        computer("own", cards=1),
        computer("weak", power_supply_w=650.0),
        computer("strong"),
        computer("large", cards=4),
    )
    sold = [(500.0, weak), (580.0, strong), (900.0, large)]
    hosts = hosts_of(sold, own)
    assert hosts.for_cards(1, 350) == (0, own)
    assert hosts.for_cards(1, 800) == (200, own)  # 900 W: 1200 W, since 850 do not give it
    assert hosts.for_cards(2, 700) == (580, strong)  # 800 W: 500 + 200 for the weak one
    assert hosts.for_cards(2, 500) == (500, weak)  # 600 W
    assert hosts.for_cards(4, 700) == (900, large)
    assert hosts.for_cards(5, 700) == (float("inf"), None)
    assert hosts_of(sold).for_cards(1, 350) == (500, weak)
    assert hosts_of(sold, own, owned=False, own_usd=450.0).for_cards(1, 800) == (650, own)
    assert hosts_of(sold, own, owned=False, own_usd=None).for_cards(1, 350) == (None, own)


@pytest.mark.parametrize(
    ("slots", "cards", "needs", "taken"),
    [
        ([(4, 4, None)], 1, (), True),  # a card with one GPU runs in a narrow slot too
        ([(4, 4, None)], 1, (16,), False),  # a dock: nothing to split
        ([(5, 16, 8), (5, 8, 8)], 1, (16,), True),  # alone it has all 16
        ([(5, 16, 8), (5, 8, 8)], 2, (16,), False),  # beside another card 8 each
        ([(4, 8, None), (4, 16, None)], 2, (16,), True),  # in the wider of the two
        ([(4, 8, None), (4, 16, None)], 2, (16, 16), False),
        ([(4, 16, None)], 2, (16,), False),  # no slot for the other one
    ],
)
def test_a_board_that_splits_its_slot_needs_a_wide_one(
    slots: list[tuple[int, int, int | None]], cards: int, needs: tuple[int, ...], taken: bool
) -> None:
    made = tuple(Slot(generation=generation, lanes=alone, lanes_shared=shared) for generation, alone, shared in slots)
    assert computer("a", slots=made, cards=len(made)).takes(cards, needs) is taken


def test_a_board_that_splits_its_slot_goes_past_the_own_computer_with_a_narrow_one() -> None:
    own = computer("own", cards=1, slots=(Slot(generation=4, lanes=4),))
    sold = [(300.0, replace(own, id="narrow")), (500.0, computer("wide", cards=1))]
    hosts = hosts_of(sold, own)
    assert hosts.for_cards(1, 350) == (0, own)
    assert hosts.for_cards(1, 350, (16,)) == (500, sold[1][1])
    assert {host.id for _, host, _ in hosts.roomier(sold[1][1], 1, 350, (16,))} <= {"wide"}
    board = replace(CARD, gpus_on_board=2, needs_lanes=16, id="twin")
    assert load_of([(board, 24 * GIB, 2), (CARD, 24 * GIB, 1)]) == (3, 1050.0, (16, 16))


def test_each_card_outside_needs_its_dock() -> None:
    docked = CATALOG.money.parts_of("dock")
    dock = replace(SUPPLIES[0], id="a-dock", kind="dock", usd=90.0) if not docked else docked[0]
    own = computer("laptop", dock=dock.id)
    hosts = hosts_of([], own)
    hosts.money = replace(hosts.money, parts=(*SUPPLIES, dock))
    assert hosts.for_cards(2, 700) == (2 * dock.usd, own)


def test_roomier_computers_give_more_and_no_cheaper_one_gives_as_much() -> None:
    here = computer("here", 32, 50)
    sold = [
        (800.0, computer("twice", 64, 50)),
        (900.0, computer("dearer", 64, 50)),  # as `twice`, for more
        (950.0, computer("less-than-half-more", 32, 74)),  # 1.48 times the speed
        (960.0, computer("a-little-more-memory", 47, 74)),  # of memory any more may be what the model lacks
        (1000.0, computer("half-more-speed", 32, 75)),
        (1100.0, computer("slower", 256, 49)),
        (1200.0, computer("most", 128, 100)),
    ]
    hosts = hosts_of([(500.0, here), *sold])
    found = [(usd, host.id, ram / GIB) for usd, host, ram in hosts.roomier(here, 1, 350)]
    assert found == [
        (800, "twice", 64),
        (960, "a-little-more-memory", 47),  # less than `twice`, but at a higher rate
        (1000, "half-more-speed", 32),
        (1100, "slower", 256),  # less speed may be enough: estimates tell
        (1200, "most", 128),
    ]
    assert hosts.roomier(here, 3, 1050) == ()  # two go in


def test_wider_slots_are_more_for_several_cards_only() -> None:
    narrow = (Slot(generation=4, lanes=16), Slot(generation=4, lanes=4))
    here, wide = computer("here", slots=narrow), computer("wide")
    hosts = hosts_of([(500.0, here), (700.0, wide)])
    assert [host.id for _, host, _ in hosts.roomier(here, 2, 700)] == ["wide"]
    assert hosts.roomier(here, 1, 350) == ()


def test_where_one_computer_is_wanted_no_other_is_weighed() -> None:
    own = computer("own")
    assert hosts_of([(800.0, computer("twice", 64))], own, owned=False).roomier(own, 1, 350) == ()
    assert len(hosts_of([(800.0, computer("twice", 64))], own).roomier(own, 1, 350)) == 1


def test_the_owned_computer_may_have_more_memory() -> None:
    own = computer("own", 32, memory_most_bytes=64 * GIB, memory_type="DDR4-3200")
    hosts = hosts_of([], own)
    kit = replace(SUPPLIES[0], id="kit", kind="memory", usd=150.0, memory_bytes=32 * GIB, memory_type="DDR4")
    hosts.money = replace(hosts.money, parts=(*SUPPLIES, kit))
    assert hosts.roomier(own, 1, 350) == ((300, own, 64 * GIB),)  # two kits of 32 GiB; 128 GiB are more than its board takes
    hosts.own_ram_bytes, hosts._roomier = 64 * GIB, {}
    assert hosts.ram_bytes(own) == 64 * GIB  # as stated
    assert hosts.ram_bytes(computer("other")) == 32 * GIB
    assert hosts.roomier(own, 1, 350) == ()


def test_an_offer_is_dearer_by_each_card_bought() -> None:
    two = offer("second-gpu", None, 1000.0, cards=3, new=2)
    assert dearer(two, "rtx-3090", 50.0).least_usd == 1100
    assert dearer(two, "rtx-4090", 50.0) is two
    unknown = replace(two, least_usd=None)
    assert dearer(unknown, "rtx-3090", 50.0) is unknown
    whole = Range([two, offer("keep", None, 0.0, new=0)], hosts_of([])).dearer("rtx-3090", 50.0)
    assert [each.least_usd for each in whole.every] == [1100, 0]


def test_cards_in_a_roomier_computer_cost_the_difference() -> None:
    here, twice = computer("here"), computer("twice", 64, 60)
    found = Range([], hosts_of([(500.0, here), (800.0, twice)]))
    (moved,) = found.roomier(offer("one-bigger-gpu", here, 1300.0))
    assert (moved.kind, moved.host, moved.least_usd) == ("one-bigger-gpu", twice, 1600)  # 1300 - 500 + 800
    assert (moved.ram_bytes, moved.ram_bytes_per_s, moved.more_ram_bytes) == (64 * GIB, 60 * GB, None)
    assert found.roomier(offer("one-bigger-gpu", None, 1300.0)) == ()
    assert found.roomier(offer("one-bigger-gpu", here, None)) == ()


def test_cards_that_are_kept_move_into_another_computer_or_get_more_memory() -> None:
    own = computer("own", cards=4, power_supply_w=1600.0, memory_most_bytes=64 * GIB, memory_type="DDR4-3200")
    other = computer("other", 128, 100, cards=4, power_supply_w=1600.0)
    hosts = hosts_of([(900.0, other)], own)
    kit = replace(SUPPLIES[0], id="kit", kind="memory", usd=100.0, memory_bytes=32 * GIB, memory_type="DDR4")
    hosts.money = replace(hosts.money, parts=(*SUPPLIES, kit))
    moved = Range([], hosts).roomier(offer("keep", own, 0.0, cards=3, new=0))
    assert [(each.kind, each.least_usd, each.more_ram_bytes) for each in moved] == [("more-memory", 200, 64 * GIB), ("new-host", 900, None)]
    assert Range([], hosts).roomier(offer("multi-gpu-server", own, 700.0, cards=3)) == ()  # three bought ones are not moved
    assert len(Range([], hosts).roomier(offer("second-gpu", own, 700.0, cards=2))) == 2


def test_a_named_card_goes_into_no_dearer_computer_than_the_usual_one() -> None:
    """A card that somebody named is judged where it does the work, not in a server that nobody asked for."""
    here, usual = computer("here", power_supply_w=450.0), computer("usual", 64, 60, owned_default=True, power_supply_w=450.0)
    hosts = hosts_of([(500.0, here), (800.0, usual), (1001.0, computer("server", 256))])
    card = offer("one-bigger-gpu", here, 1310.0)  # 450 W: its own supply is enough
    assert [each.host for each in Range([card], hosts, named=True).roomier(card)] == [usual]
    assert len(Range([card], hosts).roomier(card)) == 2
    two = offer("second-gpu", here, 2450.0, cards=2, new=2)  # 800 W: 200 more for a supply, so 1000 in the usual one
    assert [each.host for each in Range([two], hosts, named=True).roomier(two)] == [usual]


def test_where_computers_cost_otherwise_cards_go_into_the_then_cheapest() -> None:
    first, second = computer("first"), computer("second", 64, 60)
    old, now = hosts_of([(500.0, first), (600.0, second)]), hosts_of([(700.0, first), (600.0, second)])
    moved = _rehosted(offer("one-bigger-gpu", first, 1300.0), old, now)
    assert (moved.host, moved.least_usd, moved.key) == (second, 1400, "1x rtx-3090 in second")  # 1300 - 500 + 600
    assert (moved.ram_bytes, moved.ram_bytes_per_s) == (64 * GIB, 60 * GB)
    same = offer("one-bigger-gpu", first, 1300.0)
    assert _rehosted(same, old, old) is same
    machine = offer("mac", None, 1300.0)
    assert _rehosted(machine, old, now) is machine
    unknown = _rehosted(offer("one-bigger-gpu", first, None), old, now)
    assert (unknown.host, unknown.least_usd) == (second, None)


@pytest.mark.parametrize(
    ("words", "expected"), [("rtx-3090", True), ("2x rtx-3090", True), ("mac-m4-max-40c", False), ("2x (rtx-3090) via eth-10g-tcp", False)]
)
def test_only_cards_of_one_computer_move(words: str, expected: bool) -> None:
    assert takes(bind(words, CATALOG)) is expected
    assert takes(None) is False


def test_what_is_soldered_stays_with_the_card_beside_it() -> None:
    module = CATALOG.device("mac-m4-max-40c")
    box = Box((Group(CARD, 1, 24 * GIB), Group(module, 1, 64 * GIB)))
    assert takes(System((box,))) is False
    assert takes(System((Box(box.groups[:1]),))) is True


@pytest.mark.parametrize(
    ("have", "wished", "owned", "only_own"),
    [
        (None, {}, False, False),
        ("mac-m4-max-40c", {}, False, False),  # a Mac is no computer for cards
        (None, {"host": "desktop"}, False, True),  # named, and to be bought: no other is wanted
        (None, {"host": "desktop", "host_owned": True}, True, False),
        ("rtx-3090", {}, True, False),  # cards are in a computer
        ("rtx-3090", {"host": "desktop"}, True, False),
    ],
)
def test_whose_computer_it_is(have: str | None, wished: dict[str, object], owned: bool, only_own: bool) -> None:
    need = Need(model="qwen3-8b", workload=Workload(), **wished)  # type: ignore[arg-type]
    found = Hosts(Desk(need, bind(have, CATALOG) if have else None, CATALOG, CATALOG.model("qwen3-8b"), date(2026, 11, 30)))
    assert (found.owned, found.only_own) == (owned, only_own)


def test_docks_are_for_cards_of_a_computer_without_slots() -> None:
    """One for each card that goes into a slot; a computer that names no dock needs none."""
    dock = replace(SUPPLIES[0], id="a-dock", kind="dock", usd=90.0)
    money = replace(CATALOG.money, parts=(dock,))
    laptop, desktop = computer("laptop", dock="a-dock"), computer("desktop")
    two = bind("2x rtx-3090", CATALOG).boxes[0]
    assert [(line.what, line.count, line.usd) for line in _docks(two, laptop, money)] == [("a-dock", 2, 90)]
    assert _docks(two, desktop, money) == []
    inside = replace(two, groups=tuple(replace(group, device=replace(group.device, mount="soldered")) for group in two.groups))
    assert _docks(inside, laptop, money) == []


@pytest.mark.parametrize(
    ("gib", "generation", "bought"),
    [
        (32, "DDR5", ("small", 1, 100)),
        (64, "DDR5", ("small", 2, 100)),  # two of 100 cost less than one of 250
        (65, "DDR5", ("small", 3, 100)),  # 300 against 500
        (64, "DDR4", ("old", 4, 30)),
        (64, "LPDDR5X", None),  # soldered: nobody sells any
    ],
)
def test_a_whole_kit_of_memory_at_the_least_price(gib: float, generation: str, bought: tuple[str, int, float] | None) -> None:
    parts = [("small", 32, "DDR5", 100.0), ("large", 64, "DDR5", 250.0), ("old", 16, "DDR4", 30.0)]
    made = tuple(
        replace(SUPPLIES[0], id=name, kind="memory", usd=usd, memory_bytes=size * GIB, memory_type=kind) for name, size, kind, usd in parts
    )
    found = kit(computer("a", memory_type=f"{generation}-5600"), gib * GIB, replace(CATALOG.money, parts=made))
    assert (found and (found.what, found.count, found.usd)) == bought
