"""Watts in one computer: what its cards and it need, what its supply gives, and how near the one is to the other."""

from advisor.money import Money, Part
from advisor.reason import Fact, Reason
from advisor.system import Box


def needed_w(box: Box) -> float:
    """What a computer and its cards draw at their limits; 0 for a machine that brings its own supply."""
    if box.host is None or box.groups[0].device.is_box:
        return 0.0
    return box.host.base_power_w + sum(group.count * (group.device.power_w or 0.0) for group in box.groups)


def given_w(box: Box, stated_w: float | None) -> float:
    """What the supply of its computer gives: as stated, or as such a computer has."""
    return stated_w or (box.host.power_supply_w if box.host else 0.0)


def supply_for(watts: float, money: Money) -> Part | None:
    """The supply to buy: the weakest that leaves a reserve, else the strongest that gives as much; None where none does."""
    able = [part for part in money.parts_of("power-supply") if (part.watts or 0.0) >= watts]
    roomy = (part for part in able if (part.watts or 0.0) * money.choice("supply-share") >= watts)
    return next(roomy, able[-1] if able else None)


def tight(box: Box, stated_w: float | None, money: Money) -> Reason | None:
    """A warning where the supply suffices, but without the reserve that the makers of cards ask for."""
    needed, given = needed_w(box), given_w(box, stated_w)
    share = money.choice("supply-share")
    if box.host is None or not share * given < needed <= given:
        return None
    facts: dict[str, Fact] = {
        "need_w": needed,
        "have_w": given,
        "host": box.host.name,
        "used_share": needed / given,
        "wanted_w": needed / share,
    }
    return Reason("host.power-tight", facts, (money.why("supply-share"),))
