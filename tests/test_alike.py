"""What is left out of the market because another offer beats it: it could not have won."""

import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from advisor.advice.alike import Classes, contested, undominated
from advisor.advice.desk import Desk
from advisor.advice.evaluate import evaluate
from advisor.advice.judge import Case, case_of, counted_usd, per_user, score
from advisor.advice.offers import Offer, Shelf, all_offers, beside, cards
from advisor.advice.ranges import Range
from advisor.catalog import Catalog
from advisor.need import Need, Workload

ROOT = Path(__file__).parent / "catalog"
CATALOG = Catalog.load(root=ROOT, user_folder=False)
TODAY = date(2026, 11, 30)


def desk(model: str = "qwen3-32b", catalog: Catalog = CATALOG, users: int = 1, **wished: object) -> Desk:
    return Desk(Need(workload=Workload(users=users), model=model, **wished), None, catalog, CATALOG.model(model), TODAY)  # type: ignore[arg-type]


def one_card() -> Offer:
    return next(offer for offer in all_offers(desk()).priced if offer.alike and offer.host and offer.count == 1)


def test_of_one_class_the_slower_at_no_lower_price_is_left_out() -> None:
    card = one_card()
    assert card.least_usd
    slower = replace(card, bandwidth_bytes_per_s=0.9 * card.bandwidth_bytes_per_s)
    equal, dearer = replace(card), replace(slower, least_usd=card.least_usd + 1)
    cheaper, alone = replace(slower, least_usd=card.least_usd - 1), replace(slower, alike="")
    every = [cheaper, slower, card, equal, alone, dearer]
    assert contested(every) == {card.alike}
    assert contested([card, alone, alone]) == set()  # what is in a class of its own is not in one of several
    assert undominated(every, contested(every)) == [cheaper, card, equal, alone]
    assert undominated([slower, card], {card.alike}) == undominated([card, slower], {card.alike}) == [card]


def test_what_the_buyer_names_is_never_left_out() -> None:
    card = one_card()
    named = Range([card, replace(card, bandwidth_bytes_per_s=1.0)], all_offers(desk()).hosts, named=True)
    assert len(named.priced) == 2


def test_other_memory_rates_power_or_links_are_another_class() -> None:
    device = CATALOG.device("rtx-3090")
    classes = Classes()

    def named(**changed: object) -> str:
        other = replace(device, id=f"other{changed}", **changed)  # type: ignore[arg-type]
        return classes.of("second-gpu", [(other, other.largest_memory_bytes, 2)], [(other, other.largest_memory_bytes, 2)])

    same = named()
    assert same
    assert same == named(name="Other", bandwidth_bytes_per_s=1.0, prices=())
    compute = replace(device.compute, fp16_flops=1e12)
    for changed in ({"memory_options_bytes": (1.0,)}, {"compute": compute}, {"power_w": 1.0}, {"links": ()}, {"pcie_lanes": 4}):
        assert named(**changed) != same


def test_what_is_owned_or_measured_is_in_no_class() -> None:
    device = CATALOG.device("rtx-3090")
    two, one = [(device, device.largest_memory_bytes, 2)], [(device, device.largest_memory_bytes, 1)]
    assert Classes().of("second-gpu", two, one) == ""
    assert Classes(("rtx-3090",)).of("second-gpu", two, two) == ""
    assert Classes(("rtx-4090",)).of("second-gpu", two, two) == Classes().of("second-gpu", two, two) != ""


def with_twin(folder: Path) -> Catalog:
    """The catalog and a card that is an RTX 3090 but for 97 % of its bandwidth."""
    text = (ROOT / "devices" / "rtx-3090.yaml").read_text(encoding="utf-8")
    text = re.sub(r"^(aliases|pci_ids): .*\n", "", text, flags=re.M).replace("id: rtx-3090", "id: slow-twin").replace("GeForce", "Slow")
    (folder / "devices").mkdir()
    slower = re.sub(r"bandwidth_gb_per_s: (.*)", lambda found: f"bandwidth_gb_per_s: {0.97 * float(found[1]):.6g}", text)
    (folder / "devices" / "slow-twin.yaml").write_text(slower, encoding="utf-8")
    return Catalog.load(root=ROOT, user_folder=False, overlays=[folder])


@pytest.mark.parametrize(("model", "users"), [("qwen3-32b", 1), ("llama-3.3-70b", 8), ("qwen3-235b-a22b", 1), ("gpt-oss-120b", 5)])
def test_the_slower_of_a_class_is_never_better(model: str, users: int, tmp_path: Path) -> None:
    """The law that makes leaving out safe, on one to eight cards, and on one beside a card that is owned."""
    both = with_twin(tmp_path)
    table = desk(model, both, users)
    case: Case = case_of(table, table.need)
    shelf = Shelf(table)
    mine = both.device("rtx-4090")
    owned = [(mine, mine.largest_memory_bytes, 1)]

    def offered(name: str) -> list[Offer | None]:
        return [*cards(shelf, both.device(name), 0), *beside(shelf, both.device(name), owned)]

    for one, other in zip(offered("rtx-3090"), offered("slow-twin"), strict=True):
        assert one
        assert other
        assert one.alike == other.alike != ""
        assert one.least_usd == other.least_usd
        assert one.bandwidth_bytes_per_s > other.bandwidth_bytes_per_s
        for better, worse in zip(evaluate(case, one), evaluate(case, other), strict=True):
            assert better.estimate.fit.fits == worse.estimate.fit.fits
            assert score(better.estimate) >= score(worse.estimate)
            assert per_user(better.estimate) >= per_user(worse.estimate)
            assert counted_usd(better.cost, table.need) == counted_usd(worse.cost, table.need)
