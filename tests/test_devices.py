"""The hardware of the shipped catalog: spot values against makers' papers, and laws that every record keeps."""

import pytest

from advisor import choose
from advisor.advice.desk import Desk
from advisor.advice.offers import all_offers
from advisor.catalog import Catalog
from advisor.errors import Unsupported
from advisor.market import Terms, bill
from advisor.need import Need, Workload
from advisor.units import GB, GIB, TERA, US


# NVIDIA GA102 whitepaper V2, table 9 (3090); Ada whitepaper v2.1, appendix A (4090); RTX Blackwell whitepaper, appendix A (5090);
# Turing whitepaper, appendix (2080 Ti, reference clocks, TITAN RTX); A100 and H100 data sheets, dense.
@pytest.mark.parametrize(
    ("device_id", "bandwidth_gb_per_s", "fp16_tflops", "fast_tflops"),
    [
        ("rtx-2080-ti", 616, 53.8, 107.6),
        ("titan-rtx", 672, 130.5, 130.5),
        ("rtx-3090", 936, 71, 142),
        ("rtx-4090", 1008, 165.2, 330.3),
        ("rtx-5090", 1792, 209.5, 419),
        ("rtx-a6000", 768, 154.8, 154.8),
        ("a100-80gb-sxm", 2039, 312, 312),
        ("h100-sxm", 3350, 989.4, 989.4),
        ("rtx-pro-6000-blackwell", 1792, 503.8, 503.8),
    ],
)
def test_rates_are_those_of_the_whitepapers(catalog, device_id, bandwidth_gb_per_s, fp16_tflops, fast_tflops):
    device = catalog.device(device_id)
    assert device.bandwidth_bytes_per_s == pytest.approx(bandwidth_gb_per_s * GB, rel=0.01)
    assert device.compute.fp16_flops == pytest.approx(fp16_tflops * TERA, rel=0.01)
    assert device.compute.fp16_fast_flops == pytest.approx(fast_tflops * TERA, rel=0.01)


def test_faults_that_circulate_are_not_in_the_catalog(catalog):
    # NVIDIA H100 PCIe data sheet: 1,513 TFLOPS is with sparsity; NVIDIA A40: 149.7; RTX 4070 SUPER: 35.5 FP32; MI300X: 5.3 TB/s.
    assert catalog.device("h100-pcie-80gb").compute.fp16_flops == pytest.approx(756 * TERA, rel=0.01)
    assert catalog.device("a40-48gb").compute.fp16_flops == pytest.approx(149.7 * TERA, rel=0.01)
    assert catalog.device("rtx-4070-super").compute.fp32_flops == pytest.approx(35.5 * TERA, rel=0.01)
    assert catalog.device("mi300x-192gb").bandwidth_bytes_per_s == pytest.approx(5300 * GB, rel=0.01)
    assert catalog.device("rtx-a4000").largest_memory_bytes == 16 * GIB
    assert catalog.device("ai-pro-r9700-32gb").largest_memory_bytes == 32 * GIB
    assert catalog.device("dgx-station-gb300").usable_bytes == 252 * GIB  # of 288 in the chip


@pytest.mark.parametrize(
    ("laptop", "desktop", "bandwidth_gb_per_s"),
    [  # NVIDIA GeForce laptop comparison: memory data rate × bus
        ("rtx-3080-ti-laptop", "rtx-3080-ti", 512),
        ("rtx-4090-laptop", "rtx-4090", 576),
        ("rtx-5070-laptop", "rtx-5070", 384),
        ("rtx-5090-laptop", "rtx-5090", 896),
    ],
)
def test_laptop_chips_are_not_their_desktop_namesakes(catalog, laptop, desktop, bandwidth_gb_per_s):
    device, namesake = catalog.device(laptop), catalog.device(desktop)
    assert device.bandwidth_bytes_per_s == bandwidth_gb_per_s * GB
    assert device.bandwidth_bytes_per_s < namesake.bandwidth_bytes_per_s
    assert device.power_w < namesake.power_w
    assert device.mount == "fixed"
    assert not set(map(str.lower, device.aliases)) & set(map(str.lower, namesake.aliases))


@pytest.mark.parametrize(
    ("device_id", "version", "ports"),
    [  # MacRumors 2020-11-10 (M1); MacTechNews 2023-10 (M3); Apple discussions 255488566 (M2 Air, M3 Pro, M3 Max); iMore 2023-06 (M2 Ultra)
        ("mac-m1-8c", 3, 2),
        ("mac-m2-8c", 3, 2),
        ("mac-m3-10c", 3, 2),
        ("mac-m3-pro-18c", 4, 3),
        ("mac-m3-max-40c", 4, 3),
        ("mac-m2-ultra-76c", 4, 6),
        ("mac-m3-ultra-80c", 5, 6),
    ],
)
def test_ports_of_macs(catalog, device_id, version, ports):
    mac = catalog.device(device_id)
    assert (mac.thunderbolt_version, mac.thunderbolt_ports) == (version, ports)
    assert any(each.startswith(f"thunderbolt-{version}") for each in mac.network)


def test_every_device_keeps_the_laws(catalog):
    assert len(catalog.devices) >= 196
    for device in catalog.devices.values():
        rates = device.compute
        if rates.fp16_flops and rates.fp16_fast_flops:
            assert rates.fp16_fast_flops >= rates.fp16_flops, device.id
        if device.usable_bytes:
            assert device.usable_bytes <= device.largest_memory_bytes, device.id
        if device.reported_bytes:
            assert device.reported_bytes < device.largest_memory_bytes, device.id
        assert device.is_box or device.kind == "integrated-gpu" or not device.unified_memory, device.id


def test_macs_have_every_memory_size_priced_but_those_only_announced(catalog):
    for device in catalog.devices.values():
        if device.kind == "mac" and "memory_gib" not in device.unverified:
            priced = {price.memory_bytes for price in device.prices}
            assert set(device.memory_options_bytes) <= priced, device.id


def test_what_is_sold_out_says_so(catalog):
    assert catalog.device("rtx-3090").availability == "used-only"
    assert catalog.device("rtx-4090").availability == "discontinued"
    assert catalog.device("rtx-5090").availability == "on-sale"
    assert catalog.device("mac-m3-ultra-80c").availability == "used-only"


def test_boards_with_several_gpus_give_the_figures_of_one(catalog):
    # NVIDIA A16 data sheet: 4 × 16 GB at 200 GB/s each, 250 W for the board
    board = catalog.device("a16-64gb")
    assert (board.gpus_on_board, board.largest_memory_bytes, board.power_w) == (4, 16 * GIB, 250)


def test_pcie_comes_staged_and_with_peer_access(catalog):
    for generation, lanes, gb_per_s in ((3, 16, 15.75), (4, 4, 7.88), (4, 16, 31.5), (5, 8, 31.5), (5, 16, 63.0)):  # PCI Express base spec
        staged, peer = (catalog.link(f"pcie-{generation}-x{lanes}{end}") for end in ("", "-p2p"))
        assert staged.bandwidth_bytes_per_s == peer.bandwidth_bytes_per_s == pytest.approx(gb_per_s * GB, rel=0.005)
        assert (staged.transport, peer.transport) == ("host-staged", "peer")
        assert staged.latency_s > peer.latency_s
        assert staged.effective_bytes_per_s < peer.effective_bytes_per_s
    assert catalog.link("pcie-3-x4-p2p-uplift").id == "pcie-3-x4-p2p"
    assert catalog.link("pcie-5-x16-p2p").latency_s == 0.4 * US


def test_geforce_has_no_peer_access_and_workstation_cards_have(catalog):
    geforce = [device for device in catalog.devices.values() if "GeForce" in device.name]
    assert geforce
    assert not any(device.peer_access for device in geforce)
    assert all(catalog.device(name).peer_access for name in ("rtx-a6000", "rtx-6000-ada", "l40s-48gb", "a100-80gb-pcie", "rx-7900-xtx"))


def test_bridges_are_where_they_belong(catalog):
    # Puget Systems NVLink compatibility chart 2021: 112.5 GB/s both ways on a 3090, none on Ada
    bridge = catalog.link("nvlink3-bridge-3090")
    assert bridge.bandwidth_bytes_per_s * 2 == 112.5 * GB
    assert set(bridge.devices) == {"rtx-3090", "rtx-3090-ti"}
    assert not any(device.links for device in catalog.devices.values() if device.architecture == "ada")


def test_the_assumed_host_is_the_desktop_that_is_promised(catalog):
    host = next(each for each in catalog.hosts.values() if each.owned_default)
    assert (host.power_supply_w, host.memory_bytes, host.memory_channels, host.memory_type) == (850, 64 * GIB, 2, "DDR5-5600")
    assert host.memory_bandwidth_bytes_per_s == pytest.approx(90 * GB, rel=0.01)  # 2 × 8 B × 5600 MT/s = 89.6
    assert [(slot.lanes, slot.lanes_shared) for slot in host.slots] == [(16, 8), (8, 8)]
    assert len(catalog.hosts) >= 8


@pytest.mark.parametrize(
    ("words", "host"),
    [
        ("arc-pro-b60-dual-48gb", "mini-pc-oculink"),
        ("arc-pro-b60-dual-48gb", "laptop-thunderbolt"),
        ("2x arc-pro-b60-dual-48gb", "desktop-x8x8"),
        ("arc-pro-b60-dual-48gb + rtx-3090", "desktop-x8x8"),
    ],
)
def test_a_board_that_splits_its_slot_is_refused_in_a_narrow_one(catalog: Catalog, words: str, host: str) -> None:
    """The Maxsun B60 Dual has no switch: each of its GPUs has half of an x16 slot."""
    with pytest.raises(Unsupported, match=f"needs a slot of 16 lanes, which its 2 GPUs share; {host} has x"):
        choose.bind(words, catalog, host=catalog.host(host))
    assert choose.bind("tesla-k80", catalog, host=catalog.host(host)).count == 2  # it has a switch of its own


def test_a_board_that_splits_its_slot_gets_a_computer_with_such_a_slot(catalog: Catalog) -> None:
    alone = choose.bind("arc-pro-b60-dual-48gb", catalog).boxes[0]
    assert (alone.host.id, alone.link.id) == ("desktop-x8x8", "pcie-5-x8")  # between its GPUs half of the slot
    two = choose.bind("2x arc-pro-b60-dual-48gb", catalog).boxes[0]
    assert two.host.takes(2, (16, 16)) and two.link.pcie_lanes == 8
    desk = Desk(
        Need(workload=Workload(), model="llama-3.3-70b"), choose.bind("rtx-4070-laptop", catalog), catalog, catalog.model("llama-3.3-70b")
    )
    of_it = [offer for offer in all_offers(desk).every if any(name == "arc-pro-b60-dual-48gb" for name, _ in offer.bought)]
    assert of_it
    for offer in of_it:
        boards = sum(count for *_, count in offer.groups)
        assert offer.host.takes(boards, (16,) * boards)


def test_the_bill_says_that_the_own_slot_is_too_narrow_to_split(catalog: Catalog) -> None:
    have = choose.bind("rtx-3090", catalog, host=catalog.host("mini-pc-oculink"))
    bought = choose.bind("arc-pro-b60-dual-48gb", catalog, host=catalog.host("desktop-x16"))
    reason = next(each for each in bill(bought, have, Terms(catalog.money)).upgrades if each.code.startswith("host."))
    assert (reason.code, reason.facts["lanes"], reason.facts["own"]) == ("host.lanes", 16, "Mini PC with an OCuLink dock")
    two = choose.bind("2x tesla-k80", catalog, host=catalog.host("epyc-sp3"))  # four GPUs on two boards
    reason = next(each for each in bill(two, have, Terms(catalog.money)).upgrades if each.code == "host.new")
    assert (reason.facts["cards"], reason.facts["most_cards"]) == (2, 1)


def test_a_rebuilt_board_is_offered_only_beside_its_like(catalog: Catalog) -> None:
    """An RTX 4090 with 48 GB has no warranty of its maker and one unchecked price: compared by name, never suggested."""
    rebuilt = {device.id for device in catalog.devices.values() if device.rebuilt}
    assert rebuilt == {"rtx-2080-ti-22gb", "rtx-3080-20gb", "rtx-4090-48gb"}
    need = Need(workload=Workload(), model="qwen3-32b")
    for have, offered in (("rtx-3090", set()), ("rtx-2080-ti-22gb", {"rtx-2080-ti-22gb"})):
        desk = Desk(need, choose.bind(have, catalog), catalog, catalog.model("qwen3-32b"))
        assert {name for offer in all_offers(desk).every for name, count in offer.bought if count} & rebuilt == offered
