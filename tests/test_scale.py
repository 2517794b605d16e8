"""Scaling 1 to N: points that are estimates, a best count, a count that hurts, and Amdahl's ceiling."""

import json
from functools import cache

import pytest

from advisor import choose
from advisor.bind import bind
from advisor.catalog import Catalog
from advisor.cli import run
from advisor.errors import BadValue, Unsupported
from advisor.market import Terms, bill
from advisor.need import Workload
from advisor.scale import Scale, counts, scale


@cache
def catalog() -> Catalog:
    return Catalog.load(user_folder=False)


def scaled(words: str, most: int, model: str, quant: str, users: int = 1) -> Scale:
    work = Workload(users=users, context_tokens=4096, prompt_tokens=512, generate_tokens=256)
    return scale(bind(words, catalog()), most, catalog().model(model), quant, "f16", work, catalog())


def test_every_count_then_doublings() -> None:
    assert list(counts(3)) == [1, 2, 3]
    assert list(counts(200)) == [*range(1, 33), 64, 128, 200]


def test_layers_do_not_pay_for_one_user() -> None:
    found = scaled("rtx-3090 as layers on llama.cpp", 6, "llama-3-8b", "q4_k_m")
    assert (found.best_devices, found.slower_from_devices) == (1, 2)
    speedups = [point.speedup for point in found.points]
    assert speedups[0] == 1
    assert speedups == sorted(speedups, reverse=True)


def test_a_point_is_the_estimate_of_its_words() -> None:
    found = scaled("2x rtx-3090 via pcie-4-x16 as tensor on vllm", 4, "qwen3-32b", "awq-4bit")
    four = found.points[3].estimate
    work = Workload(users=1, context_tokens=4096, prompt_tokens=512, generate_tokens=256)
    words = "4x rtx-3090 via pcie-4-x16 as tensor on vllm"
    direct = choose.best(bind(words, catalog()), catalog().model("qwen3-32b"), "awq-4bit", "f16", work, catalog())
    assert four
    assert four.decode == direct.decode


def test_three_cards_that_cannot_share_heads_say_so() -> None:
    found = scaled("rtx-3090 as tensor on vllm", 4, "llama-3-8b", "awq-4bit")
    assert [point.estimate is None for point in found.points] == [False, False, True, False]
    assert found.points[2].reason
    assert found.points[2].reason.code == "placement.heads"


def no_faster(found: Scale) -> dict[int, str]:
    return {point.devices: point.no_faster.code for point in found.points if point.no_faster}


def test_what_gains_nothing_says_why() -> None:
    """64 heads do not divide by 3 under vLLM: layers then; llama.cpp cuts 32 unevenly over 3, and the link eats it; layers take turns."""
    boxes = scaled("dgx-spark", 4, "gpt-oss-120b", "mxfp4")
    assert no_faster(boxes) == {3: "scale.falls-back-layers"}
    assert boxes.points[2].no_faster
    assert boxes.points[2].no_faster.facts["fewer_devices"] == 2
    cut = scaled("rtx-3090 as tensor on llama.cpp", 4, "qwen3-8b", "q4_k_m")
    speeds = [point.decode_tokens_per_s or 0.0 for point in cut.points]
    assert set(no_faster(cut)) == {n for n in (2, 3, 4) if speeds[n - 1] <= 1.001 * max(speeds[: n - 1])}
    assert no_faster(cut)[3] == "scale.more-link-uneven"
    turns = scaled("rtx-3090 as layers on llama.cpp", 3, "llama-3-8b", "q4_k_m")
    assert no_faster(turns) == {2: "scale.in-turn", 3: "scale.in-turn"}
    assert not no_faster(scaled("rtx-3090 as tensor on vllm", 2, "qwen3-32b", "awq-4bit"))


def test_the_page_says_why_more_are_no_faster(capsys: pytest.CaptureFixture[str]) -> None:
    run(["scale", "dgx-spark", "--max", "6", "--model", "gpt-oss-120b"])
    page = " ".join(capsys.readouterr().out.split())
    assert "3 gain nothing over 2: vllm needs the 64 attention heads to divide by the number of devices, 3" in page
    assert "The same with 5, 6." in page
    assert page.index("Tokens/s by devices") < page.index("Why more are no faster") < page.index("Ceiling")
    run(["scale", "dgx-spark", "--max", "4", "--model", "gpt-oss-120b", "--json"])
    points = json.loads(capsys.readouterr().out)["points"]
    assert [point["no_faster_because"] is None for point in points] == [True, True, False, True]


def test_a_bridge_that_joins_two_stops_at_two() -> None:
    found = scaled("2x rtx-3090 via nvlink as tensor on vllm", 4, "llama-3-8b", "awq-4bit")
    assert found.points[1].estimate
    assert found.points[3].reason
    assert found.points[3].reason.code == "scale.no-link"


def test_speedups_stay_below_the_count_and_amdahls_ceiling() -> None:
    found = scaled("a100-80gb-sxm as tensor on vllm", 8, "llama-3-70b", "bf16")
    assert found.ceiling
    assert found.serial_fraction
    assert found.ceiling == pytest.approx(1 / found.serial_fraction)
    for point in found.points:
        if point.speedup and point.efficiency:
            assert point.speedup <= min(point.devices, found.ceiling) * 1.001
            assert point.efficiency == pytest.approx(point.speedup / point.devices)
            assert 0 <= (point.link_share or 0) < 1


@pytest.mark.parametrize("words", ["2x (4x a100-80gb-pcie)", "8x tesla-m40-24gb", "2x (16x tesla-p40)", "1x rtx-2080-ti-22gb"])
def test_the_ceiling_stands_over_every_point(words: str) -> None:
    """One unit, of one device or of several, is a number of them too: no ceiling below 1."""
    found = scaled(words, 4, "qwen3-8b", "q4_k_m")
    assert found.ceiling
    assert all(point.speedup <= found.ceiling * (1 + 1e-9) for point in found.points if point.speedup)


def test_over_slow_links_more_devices_hurt() -> None:
    found = scaled("2x rtx-4090 via eth-1g-tcp as tensor on vllm", 4, "qwen3-8b", "awq-4bit")
    assert (found.best_devices, found.slower_from_devices) == (1, 2)


def test_for_many_users_the_single_user_is_shown_beside() -> None:
    found = scaled("dgx-spark on vllm", 2, "gpt-oss-120b", "mxfp4", users=16)
    assert found.one_user
    assert found.one_user.points[0].estimate
    assert found.one_user.points[0].estimate.workload.users == 1
    assert scaled("dgx-spark on vllm", 2, "gpt-oss-120b", "mxfp4").one_user is None


def test_the_single_user_is_in_json_and_text(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("scale", "dgx-spark on vllm", "--max", "2", "--model", "gpt-oss-120b", "--users", "16")
    assert run((*words, "--json")) == 0
    found = json.loads(capsys.readouterr().out)
    alone = found["one_user"]
    assert [point["devices"] for point in alone["points"]] == [1, 2]
    assert alone["points"][0]["decode_tokens_per_s"]["value"] < found["points"][0]["decode_tokens_per_s"]["value"]
    point = found["points"][1]
    assert point["usd_per_tokens_per_s"] == pytest.approx(point["price_usd"] / point["decode_tokens_per_s"]["value"])
    assert run(words) == 0
    assert "For one user alone" in capsys.readouterr().out
    assert run((*words[:-1], "1", "--json")) == 0
    assert json.loads(capsys.readouterr().out)["one_user"] is None


def test_each_count_tells_its_memory(capsys: pytest.CaptureFixture[str]) -> None:
    """In JSON the sums over its devices, as an estimate has them; in the table GiB needed of those usable, side by side too."""
    words = ["rtx-3090 as layers on llama.cpp", "--model", "llama-3-8b", "--quant", "q4_k_m"]
    assert run(["scale", *words, "--max", "2", "--json"]) == 0
    two = json.loads(capsys.readouterr().out)["points"][1]["memory"]
    assert run(["estimate", "2x rtx-3090 as layers on llama.cpp", *words[1:], "--json"]) == 0
    assert two == {key: value for key, value in json.loads(capsys.readouterr().out)["memory"].items() if key != "per_device"}
    cell = f"{two['needed_gib']:.0f}/{two['usable_gib']:.0f}"
    assert run(["scale", *words, "--max", "2"]) == 0
    assert cell in capsys.readouterr().out
    assert run(["compare", "2x rtx-3090 as layers on llama.cpp", "rtx-3050-6gb as whole on llama.cpp", *words[1:], "--context", "32k"]) == 0
    shown = capsys.readouterr().out
    assert f"/{two['usable_gib']:.0f} " in shown
    assert "no, " in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_one_card_too_small_is_scaled_from_what_it_does_with_host_memory() -> None:
    """The curve's engine is vLLM; one card of 48 GiB cannot hold 59 GiB there, but llama.cpp runs it with a part in host memory."""
    found = scaled("rtx-a6000", 3, "gpt-oss-120b", "mxfp4")
    one, two, three = found.points
    assert one.estimate
    assert (one.estimate.placement.strategy, one.speedup) == ("offload", 1)
    assert two.estimate
    assert two.speedup == pytest.approx(two.estimate.decode.value / one.estimate.decode.value)
    assert found.ceiling
    assert three.speedup
    assert three.speedup <= found.ceiling


def test_what_cannot_be_scaled() -> None:
    with pytest.raises(BadValue):
        scaled("rtx-3090 + rtx-4090", 4, "llama-3-8b", "q4_k_m")
    with pytest.raises(BadValue):
        scaled("rtx-3090", 0, "llama-3-8b", "q4_k_m")
    with pytest.raises(BadValue):
        scaled("rtx-3090", 100_000, "llama-3-8b", "q4_k_m")


@pytest.mark.parametrize(
    ("words", "link"),
    [
        ("mac-m3-ultra-80c 512gb via thunderbolt-5-rdma", "thunderbolt-5-rdma"),
        ("1x mac-m3-ultra-80c 512gb via rdma", "thunderbolt-5-rdma"),
        ("rtx-4090 via eth-10g-tcp", "eth-10g-tcp"),  # a card in a computer of its own each
        ("1x (2x rtx-4090) via eth-10g-tcp", "eth-10g-tcp"),
    ],
)
def test_one_box_is_scaled_over_the_network_that_further_ones_use(words: str, link: str) -> None:
    system = bind(words, catalog(), grows=True)
    assert system.link
    assert (len(system.boxes), system.link.id) == (1, link)
    work = Workload(users=4, context_tokens=4096, prompt_tokens=512, generate_tokens=256)
    found = scale(system, 2, catalog().model("qwen3-8b"), None, "f16", work, catalog())
    one, two = (point.estimate for point in found.points)
    assert one
    assert two
    assert (len(one.system.boxes), len(two.system.boxes)) == (1, 2)
    assert two.system.link
    assert two.system.link.id == link


def test_an_estimate_of_one_box_has_no_network() -> None:
    with pytest.raises(Unsupported, match="one box"):
        bind("rtx-4090 via eth-10g-tcp", catalog())


def test_one_more_card_never_costs_less() -> None:
    """The host for n cards takes fewer as well: of every card that goes into a slot or a board, one to sixteen."""
    terms = Terms(catalog().money)
    for device in catalog().devices.values():
        if device.is_box or device.mount not in ("slot", "module"):
            continue
        prices = []
        for count in range(1, 17):
            try:
                prices.append(bill(bind(f"{count}x {device.id}", catalog()), None, terms).price_usd)
            except Unsupported:
                break
        known = [price for price in prices if price is not None]
        assert known == sorted(known), device.id


@pytest.mark.parametrize(
    "words",
    [
        ("rtx-3090 via pcie-4-x16-p2p as tensor on vllm", "--max", "4", "--model", "qwen3-8b"),
        ("rtx-3090 on vllm", "--max", "8", "--model", "llama-3.3-70b", "--quant", "awq-4bit"),
        ("rtx-3090 on llama.cpp", "--max", "2", "--model", "qwen3-8b", "--users", "4"),
    ],
    ids=" ".join,
)
def test_the_count_at_which_a_token_costs_least_is_told_beside_the_fastest(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Price over tokens/s, worked out again from the prices and speeds of the points."""
    assert run(("scale", *words, "--json")) == 0
    found = json.loads(capsys.readouterr().out)
    for curve in filter(None, (found, found["one_user"])):
        priced = [point for point in curve["points"] if point["decode_tokens_per_s"] and point["price_usd"]]
        least = min(priced, key=lambda point: point["price_usd"] / point["decode_tokens_per_s"]["value"])
        assert curve["cheapest_devices"] == least["devices"]
    assert run(("scale", *words)) == 0
    first = " ".join(capsys.readouterr().out.split("\n\n")[0].split())
    other = found["cheapest_devices"] != found["best_devices"]
    assert (f"Cheapest a token/s: {found['cheapest_devices']}, with " in first) is other
