"""Every contradiction that `advisor check` names, each made on purpose in an otherwise sound record."""

from dataclasses import replace
from datetime import date

import pytest

from advisor import bounds, sanity
from advisor.device import Compute, Device
from advisor.host import Host, Slot
from advisor.link import Link, LinkPart
from advisor.money import Electricity, Money, Part, Rental
from advisor.price import Price, Source
from advisor.units import GB, GBIT, GIB, TERA, US

TODAY = date(2026, 11, 30)
SOURCE = (Source(fields=("memory_gib",), title="a data sheet", seen="2026-11"),)
BOUNDS = bounds.Bounds(
    memory_types=(bounds.MemoryType(type="GDDR6X", least_bytes_per_s=19 * GBIT, most_bytes_per_s=24 * GBIT),),
    pcie_lanes=(bounds.Lane(generation=4, bytes_per_s=1.969 * GB),),
    rates=(bounds.Rate(rate="fp8_tflops", most_fp16_factor=2.0),),
    most_peer_factor=1.8,
    least_usd_per_gib=2,
    most_usd_per_gib=700,
    most_street_over_list=4,
    links=(bounds.Fastest(kind="nvlink", bytes_per_s=1000 * GB),),
    most_latency_s=5000 * US,
    least_ops_factor=3,
    most_ops_factor=400,
    least_power_w=3,
    most_power_w=1500,
    most_memory_gib=800,
    sources=SOURCE,
)
USED = Price(kind="street", condition="used", low=700, high=1050, date="2026-09", source="x")
LISTED = Price(kind="list", condition="new", low=1499, high=1499, date="2020-09", source="x")
CARD = Device(
    id="card",
    name="GeForce CARD 24GB",
    maker="nvidia",
    kind="gpu",
    architecture="ampere",
    memory_options_bytes=(24 * GIB,),
    memory_type="GDDR6X",
    memory_bus_bits=384,
    bandwidth_bytes_per_s=936 * GB,  # 384 pins × 19.5 Gbit/s / 8
    compute=Compute(fp32_flops=35.6 * TERA, fp16_flops=71 * TERA, fp16_fast_flops=142 * TERA, int8_ops=284 * TERA),
    power_w=350,
    availability="used-only",
    links=("bridge",),
    prices=(LISTED, USED),
    sources=SOURCE,
)
BRIDGE = Link(
    id="bridge",
    name="bridge",
    kind="nvlink",
    scope="in-box",
    transport="peer",
    bandwidth_bytes_per_s=56.25 * GB,
    shape="pair",
    devices=("card",),
    sources=SOURCE,
)
PCIE = replace(BRIDGE, id="pcie-4-x16", kind="pcie", bandwidth_bytes_per_s=31.5 * GB, pcie_generation=4, pcie_lanes=16, devices=())
HOST = Host(
    id="desktop",
    name="desktop",
    slots=(Slot(generation=5, lanes=16),),
    max_cards=1,
    power_supply_w=850,
    base_power_w=100,
    memory_bytes=64 * GIB,
    memory_channels=2,
    memory_type="DDR5-5600",
    memory_bandwidth_bytes_per_s=89.6 * GB,
    owned_default=True,
    sources=SOURCE,
)
MONEY = Money(as_of="2026-11-30", choices=(), electricity=(Electricity(region="US", usd_per_kwh=0.18, date="2026", source="x"),), rates=())


def found(device=CARD, link=BRIDGE, host=HOST, money=MONEY, more=()):
    devices = {each.id: each for each in (device, *more)}
    records = {
        "devices": devices,
        "links": {link.id: link, PCIE.id: PCIE},
        "hosts": {host.id: host},
        "money": {"money": money},
        "bounds": {"bounds": BOUNDS},
    }
    return [f"{kind}/{record}: {said}" for kind, record, said in sanity.problems(records, TODAY)]


def test_sound_records_have_no_problem():
    assert found() == []


MAC = {
    "unified_memory": True,
    "kind": "mac",
    "maker": "apple",
    "name": "Mac",
    "mount": "fixed",
    "prices": (replace(LISTED, memory_bytes=24 * GIB),),
}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"bandwidth_bytes_per_s": 1872 * GB}, "bandwidth_gb_per_s: 39.00 Gbit/s for each of 384 pins; GDDR6X has 19 to 24"),
        ({"memory_bus_bits": 128}, "bandwidth_gb_per_s: 58.50 Gbit/s"),
        ({"memory_type": "GDDR9"}, "memory_type: GDDR9 is not known (did you mean GDDR6X?); a new one has its data rates in bounds.yaml"),
        ({"memory_type": "gddr6x"}, "memory_type: gddr6x is not known (did you mean GDDR6X?)"),
        ({"memory_type": "SRAM"}, "memory_type: SRAM is not known (there are GDDR6X)"),
        ({"memory_options_bytes": (48 * GIB, 24 * GIB)}, "memory_gib: sizes must be different and ascending"),
        ({"usable_bytes": 25 * GIB}, "usable_gib: 25 is more than the largest size, 24"),
        ({"reported_bytes": 30 * GIB}, "reported_gib: 30 is more"),
        ({"idle_power_w": 400}, "idle_power_w: 400 is not below power_w, 350"),
        ({"compute": Compute(fp16_flops=142 * TERA, fp16_fast_flops=71 * TERA)}, "fp16_accumulate_fp16_tflops is below fp16_tflops"),
        ({"compute": replace(CARD.compute, fp8_flops=600 * TERA)}, "fp8_tflops is 4.2 times the FP16 rate; is it the fig"),
        ({"aliases": ("other",)}, "aliases: other is the id of another device"),
        ({"variant_of": "nothing"}, "variant_of: nothing is no other device"),
        ({"kind": "laptop-gpu", "mount": "fixed"}, "name: a laptop GPU's name must say Laptop"),
        ({"kind": "integrated-gpu"}, "mount: an integrated-gpu is fixed"),
        ({"kind": "integrated-gpu"}, "unified_memory: an integrated-gpu has no memory of its own: write true"),
        ({"maker": "apple"}, "kind: gpu by apple"),
        ({"prices": (replace(USED, low=1050, high=700),)}, "prices[0].low: 1050 is above high, 700"),
        ({"prices": (replace(USED, date="2027-01"),)}, "prices[0].date: 2027-01 lies in the future"),
        ({"prices": (replace(USED, date="last week"),)}, "prices[0].date: last week is no date"),
        ({"prices": (replace(USED, low=30, high=30),)}, "prices[0]: 1.25 dollars for a GiB"),
        ({"prices": (LISTED, replace(USED, low=9000, high=9000))}, "prices[1]: 6.0 times the list price"),
        ({"launched": "2027-03"}, "launched: 2027-03 lies in the future; is it announced?"),
        ({"launched": "soon"}, "launched: soon is no date"),
        ({**MAC, "memory_options_bytes": (24 * GIB, 48 * GIB)}, "prices: none for 48 GiB"),
        ({"sources": (replace(SOURCE[0], seen="2027"),)}, "sources[0].seen: 2027 lies in the future"),
        ({"name": "GeForce OTHER"}, "name: other is called so too"),
        ({"name": "GeForce CARD Laptop GPU"}, "kind: a laptop's chip is a laptop-gpu"),
        ({"architecture": "amprre"}, "architecture: no other device has amprre (did you mean ampere?)"),
        ({"architecture": "AMPERE"}, "architecture: no other device has AMPERE (did you mean ampere?)"),
        ({"pci_ids": ("2204",)}, "pci_ids: 2204 is no vendor:device"),
        ({"pci_ids": ("10de:1111",)}, "pci_ids: 10de:1111 is that of turing, which is another chip"),
        ({"pcie_lanes": 12}, "pcie_lanes: 12; a slot has 1, 2, 4, 8 or 16"),
        ({"needs_lanes": 12, "gpus_on_board": 2}, "needs_lanes: 12; a slot has 1, 2, 4, 8 or 16"),
        ({"needs_lanes": 16}, "needs_lanes: only a board with several GPUs (gpus_on_board) splits its slot"),
        ({"network": ("bridge",), "links": ()}, "network: bridge is in-box: it belongs into links"),
        ({"compute": Compute(fp32_flops=35.6e-3 * TERA)}, "compute: fp32_tflops is 0.038 operations for a byte of bandwidth"),
        ({"power_w": 35000, "idle_power_w": None}, "power_w: 35000 W; devices have 3 to 1500"),
        ({"memory_options_bytes": (24576 * GIB,)}, "memory_gib: 24576 is more than any device has, 800: is it MiB?"),
        ({"unverified": ("fp23_tflops",)}, "unverified: fp23_tflops is no key (did you mean fp32_tflops?)"),
        ({"prices": (LISTED, replace(USED, currency="GPB"))}, "prices[1].currency: no rate for GPB in money.yaml"),
    ],
)
def test_a_device_that_contradicts_itself_is_named(changes, said):
    other = replace(CARD, id="other", links=(), name="GeForce OTHER")
    turing = replace(CARD, id="turing", links=(), name="GeForce TURING", architecture="turing", pci_ids=("10de:1111",))
    problems = found(replace(CARD, **changes), more=(other, turing))
    assert any(problem.startswith("devices/card: ") and said in problem for problem in problems), problems


def test_a_rate_twice_that_of_all_peers_is_taken_for_the_sparse_one():
    peers = tuple(replace(CARD, id=f"peer-{number}", name=f"GeForce PEER {number}", links=()) for number in range(2))
    sparse = replace(CARD, compute=replace(CARD.compute, fp16_flops=142 * TERA, fp16_fast_flops=284 * TERA))
    assert any("fp16_tflops is 4.0 times FP32, its peers at most 2.0" in problem for problem in found(sparse, more=peers))
    assert found(more=peers) == []


def test_what_is_only_announced_may_lie_ahead_and_lack_a_price():
    assert found(replace(CARD, launched="2027-03", availability="announced")) == []
    mac = replace(CARD, **MAC, links=(), unverified=("memory_gib",), memory_options_bytes=(24 * GIB, 48 * GIB))
    assert found(mac, link=PCIE) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"devices": ()}, "links/bridge: devices: no device has this link"),
        ({"devices": ("card", "peer-0")}, "links/bridge: devices: peer-0 names it neither in links nor in network"),
        ({"effective_bytes_per_s": 60 * GB}, "links/bridge: effective_gb_per_s: more than the nominal"),
        ({"transport": "tcp"}, "links/bridge: transport: tcp does not go in-box"),
        (
            {"kind": "pcie", "pcie_generation": 4, "pcie_lanes": 4, "bandwidth_bytes_per_s": 31.5 * GB},
            "bandwidth_gb_per_s: PCIe 4 x4 carries 7.88",
        ),
        ({"bandwidth_bytes_per_s": 7200 * GB}, "bandwidth_gb_per_s: 7200; nvlink has at most 1000 one way: is it Gb/s?"),
        ({"latency_s": 0.1}, "latency_us: 100000; links have at most 5000"),
        ({"parts": (LinkPart(name="bridge", per="pair", date="2031-01", source="x"),)}, "parts[0].date: 2031-01 lies in the future"),
    ],
)
def test_a_link_that_contradicts_itself_or_its_devices_is_named(changes, said):
    peer = replace(CARD, id="peer-0", links=())
    problems = found(link=replace(BRIDGE, **changes), more=(peer,))
    assert any(said in problem for problem in problems), problems


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"max_cards": 2}, "max_cards: 2 cards in 1 slots"),
        ({"memory_reached_bytes_per_s": 95 * GB}, "memory_reached_gb_per_s: more than the nominal"),
        ({"memory_bandwidth_bytes_per_s": 200 * GB}, "memory_bandwidth_gb_per_s: 2 channels of DDR5-5600 give 89.6"),
        ({"owned_default": False}, "owned_default: no host is the one assumed"),
        ({"power_supply_w": 85}, "power_supply_w: 85 W do not even feed the computer itself, 100"),
        ({"slots": (Slot(generation=5, lanes=16, lanes_shared=32),)}, "slots[0].lanes_shared: 32 is more than its 16 lanes"),
    ],
)
def test_a_host_that_contradicts_itself_is_named(changes, said):
    problems = found(host=replace(HOST, **changes))
    assert any(problem.startswith("hosts/desktop: ") and said in problem for problem in problems), problems


def test_two_default_hosts_are_one_too_many():
    hosts = {"a": HOST, "b": replace(HOST, id="b")}
    assert ("hosts", "b", "owned_default: desktop is it already") in list(sanity.problems({"hosts": hosts}, TODAY))


def test_money_that_names_what_is_not_there_is_named():
    part = Part(id="psu", name="PSU", kind="power-supply", usd=110, link="nothing", date="2026", source="x")
    rental = Rental(device="nothing", usd_per_hour=1, date="2026", source="x")
    problems = found(money=replace(MONEY, parts=(part,), rentals=(rental,), electricity=()))
    assert [problem.removeprefix("money/money: ") for problem in problems] == [
        "rentals: nothing is no device",
        "parts: psu serves nothing, which is no link",
        "parts: psu is a power supply without watts",
        "electricity: at least one price is needed",
    ]


def test_another_generation_of_a_family_is_no_slip_of_the_pen():
    peer = replace(CARD, id="peer", name="GeForce PEER", architecture="rdna4", links=())
    assert found(replace(CARD, architecture="rdna1"), more=(peer,)) == []
