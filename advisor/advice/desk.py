"""The work table of one recommendation: what was bound, priced, billed and estimated, each once."""

from collections.abc import Callable, Mapping
from datetime import date
from functools import cached_property
from typing import Any

from advisor import choose, correction
from advisor.cache import Cache, cache_of
from advisor.catalog import Catalog, let_go
from advisor.correction import Correction
from advisor.device import Device
from advisor.engine import Backend, Engine
from advisor.errors import AdvisorError
from advisor.host import Host
from advisor.link import Link
from advisor.market import Cost, Terms, bill, with_tokens
from advisor.model import Model
from advisor.need import Need, Workload
from advisor.prices import PriceUsed, resale_of
from advisor.quant import Quant
from advisor.reason import Reason
from advisor.record import dataclass, replace
from advisor.rooms import Load
from advisor.runs import eight_bit_cache
from advisor.speed import Estimate
from advisor.system import System, spec
from advisor.ways import tables_of
from advisor.weights import Weights, weights_of

BOUND_ENGINE = "llama.cpp"  # whose bytes the cheap bounds are made of; other engines' are close
MOST_SYSTEMS, MOST_MODELS = 256, 7  # of which something is kept with a catalog
MOST_ABLE = 64  # systems whose estimates that fit are kept: some 25 KB each, and hardly one is asked for so late again
CONTEXT_STEP_TOKENS = 1024  # in which a context is lengthened or shortened
WIDTHS = ("4bit", "8bit", "16bit")
Run = tuple[Engine, Backend, Quant, str]  # what some devices run the model with, and the cache type
MayFit = Callable[[Engine, str], bool]  # whether an engine may hold the work, laid by a strategy
Hopeless = frozenset[tuple[str, str]]  # engines by id, and strategies, that are known to be too slow
NONE_HOPELESS: Hopeless = frozenset()


@dataclass(frozen=True)
class Work:
    """What is run: the workload, and the formats of weights and cache."""

    workload: Workload
    quant: str | None
    kv_quant: str


def work_of(need: Need) -> Work:
    """The work that a need states."""
    return Work(need.workload, need.quant, need.kv_quant or "f16")


def terms_of(need: Need, catalog: Catalog, today: date | None) -> Terms:
    """The terms on which the buyer buys."""
    own = need.host if need.host_owned else None
    return Terms(
        catalog.money,
        need.new_only,
        need.prices_usd,
        need.electricity_usd_per_kwh,
        need.hours_per_day,
        today,
        need.psu_w,
        own,
        owned_ram_bytes=need.ram_bytes,
        memory_reached_share=tables_of(catalog).hosts.reached_share,
    )


def _bound(words: str, host: Host | None, ram_bytes: float | None, storage: str | None, catalog: Catalog) -> System | AdvisorError:
    """The system, or why there is none; kept with the catalog for the next question, and with it what is found once for a system."""

    def bound() -> System | AdvisorError:
        try:
            return choose.bind(words, catalog, host=host, ram_bytes=ram_bytes, storage=storage)
        except AdvisorError as error:
            return error

    return catalog.once("systems", MOST_SYSTEMS, (words, host.id if host else None, ram_bytes, storage), bound)


class Desk:
    """Everything that one recommendation looks up or estimates, kept so that nothing is done twice."""

    def __init__(self, need: Need, have: System | None, catalog: Catalog, model: Model, today: date | None = None) -> None:
        self.need = need
        self.have = have
        self.catalog = catalog
        self.model = model
        self.terms = terms_of(need, catalog, today)
        stated = catalog.host(need.host) if need.host else None
        self.own_host = (have.boxes[0].host if have and not have.groups[0].device.is_box else None) or stated
        self.estimates = 0
        self._systems: dict[tuple[str, str | None, float | None], System | AdvisorError] = {}
        self._prices: dict[tuple[str, float], PriceUsed] = {}
        self._bills: dict[str, Cost] = {}
        self._ways: dict[tuple[str, Work], tuple[tuple[Estimate, ...], tuple[Reason, ...]]] = {}
        self._usual: dict[tuple[str, Work], Estimate | AdvisorError] = {}
        self._able: dict[tuple[str, Work, Hopeless], tuple[Estimate, ...]] = {}
        self._quants: dict[str | None, Quant | str | None] = {}
        self.bounds: dict[tuple[Work, bool], object] = {}  # made by `bounds`, kept beside the estimates
        self.holds: dict[tuple[Work, bool], object] = {}  # made by `holds`, likewise
        self.links: dict[tuple[str, str | None], Link | None] = {}  # of offers by their words and computers, found by `joins`

    def price(self, device: Device, memory_bytes: float) -> PriceUsed:
        """The price of one device."""
        key = device.id, memory_bytes
        if key not in self._prices:
            self._prices[key] = self.terms.price(device, memory_bytes)
        return self._prices[key]

    def system(self, words: str, host: Host | None = None, ram_bytes: float | None = None) -> System | AdvisorError:
        """The system that the words name, in that host, with so much memory in it where stated; or why there is none."""
        key = words, host.id if host else None, ram_bytes
        if key not in self._systems:
            own = host is None or host is self.own_host
            ram = ram_bytes or (self.need.ram_bytes if own else None)  # `--ram-gib` speaks of the computer that the buyer has
            self._systems[key] = _bound(words, host, ram, self.need.storage, self.catalog)
        return self._systems[key]

    def choice(self, name: str) -> float:
        """A number of the rule that the catalog chose, with its reason."""
        return self.catalog.hints.choice(name)

    def key(self, system: System) -> str:
        """What tells systems apart: the words, the hosts and their memory."""
        return f"{spec(system)} in {','.join(box.host.id if box.host else '-' for box in system.boxes)} {system.ram_bytes or ''}"

    def cost(self, system: System, estimate: Estimate | None = None) -> Cost:
        """The bill of a system, with what its tokens cost."""
        key = self.key(system)
        if key not in self._bills:
            self._bills[key] = bill(system, self.have, self.terms)
        speed = (estimate.sustained or estimate.decode) if estimate else None
        return with_tokens(self._bills[key], speed.value if speed else None, self.terms)

    def quant(self, word: str | None) -> Quant | str | None:
        """The quantization of that id; a width stays a word for the engine."""
        if word not in self._quants:
            self._quants[word] = word if word is None or word in WIDTHS else self.catalog.quant(word)
        return self._quants[word]

    def ways(self, system: System, work: Work) -> tuple[Estimate, ...]:
        """Every way to run the work on a system, best first; none where nothing can."""
        return self._tried(system, work)[0]

    def able_ways(self, system: System, work: Work, may_fit: MayFit | None, hopeless: Hopeless = NONE_HOPELESS) -> tuple[Estimate, ...]:
        """Those of the ways that fit; what `may_fit` denies is not even laid, nothing for None; of the `hopeless` any may be missing."""
        if may_fit is None:
            return ()
        name = self.key(system)
        if (name, work) in self._ways:
            return tuple(way for way in self._ways[name, work][0] if way.fit.fits)
        key = (name, work, NONE_HOPELESS) if (name, work, NONE_HOPELESS) in self._able else (name, work, hopeless)
        if key not in self._able:
            try:
                asked = system, self.model, self.quant(work.quant), work.kv_quant, work.workload, self.catalog
                ways = choose.tried(*asked, may_fit=may_fit, hopeless=hopeless)[0]
            except AdvisorError:
                ways = []
            self.estimates += len(ways)
            if len(self._able) >= MOST_ABLE:
                del self._able[next(iter(self._able))]  # the oldest
            self._able[key] = tuple(way for way in ways if way.fit.fits)
        return self._able[key]

    def refused(self, system: System, work: Work) -> tuple[Reason, ...]:
        """Why the other ways cannot be."""
        return self._tried(system, work)[1]

    def _tried(self, system: System, work: Work) -> tuple[tuple[Estimate, ...], tuple[Reason, ...]]:
        key = self.key(system), work
        if key not in self._ways:
            try:
                ways, refused = choose.tried(system, self.model, self.quant(work.quant), work.kv_quant, work.workload, self.catalog)
            except AdvisorError as error:
                ways, refused = [], [Reason("ask.cannot", {"why": error.message})]
            self.estimates += len(ways)
            self._ways[key] = tuple(ways), tuple(refused)
        return self._ways[key]

    def usual(self, system: System, work: Work) -> Estimate | AdvisorError:
        """What is owned at its engine's usual setting, or why it cannot run."""
        key = self.key(system), work
        if key not in self._usual:
            try:
                self._usual[key] = choose.usual_way(system, self.model, self.quant(work.quant), work.kv_quant, work.workload, self.catalog)
            except AdvisorError as error:
                self._usual[key] = error
            self.estimates += 1
        return self._usual[key]

    def bytes(self, work: Work) -> tuple[Weights, Cache]:
        """Weights and cache for cheap bounds: of the stated format, or the smallest of those that engines usually take."""
        key, known = (work.quant, work.kv_quant), self._bytes
        if key not in known:
            all_weights = [weights_of(self.model, quant, BOUND_ENGINE) for quant in self._formats(work.quant)]
            smallest = min(all_weights, key=lambda weights: weights.total_bytes)
            known[key] = smallest, cache_of(self.model, work.kv_quant, self._keeper(work.kv_quant))
        return known[key]

    @cached_property
    def most_resale_usd(self) -> float:
        """What is owned would bring if all of it were sold; what has no price is counted as nothing."""
        groups = self.have.groups if self.have else ()
        prices = dict(self.terms.overrides)
        return sum(group.count * (resale_of(group.device, group.memory_bytes, prices) or 0.0) for group in groups)

    @cached_property
    def saved(self) -> Mapping[str, Correction]:
        """What the owner's own measurements correct."""
        return correction.saved()

    @cached_property
    def lifts(self) -> dict[tuple[str, int], float]:
        """By how much at the most estimates on so many of a device are corrected upwards, for each of which something is saved."""
        found: dict[tuple[str, int], float] = {}
        for key, known in self.saved.items():
            if parts := correction.parts_of(key):
                count, device, _ = parts
                found[device, count] = max(1.0, known.decode_factor or 1.0, found.get((device, count), 1.0))
        return found

    @cached_property
    def measured(self) -> frozenset[str]:
        """The devices of which something is saved, of however many: what holds for one does not hold for its like."""
        return frozenset(device for device, _ in self.lifts)

    @cached_property
    def runs(self) -> dict[tuple[object, ...], tuple[Run, ...]]:
        """What devices run the model with, by their ids and the formats asked; filled by `holds`, kept for the next question."""
        return self._of_model("runs")

    @cached_property
    def loads(self) -> dict[tuple[str, str, str, str, float], Load]:
        """What lies on one device that holds the whole model, by engine, formats, device and its memory; filled and kept likewise."""
        return self._of_model("loads")

    @cached_property
    def reaches(self) -> dict[tuple[str, ...], Any]:
        """What devices need for a token at least, by engine, quantization and devices; filled by `reaches`, kept likewise."""
        return self._of_model("reaches")

    @cached_property
    def _bytes(self) -> dict[tuple[str | None, str], tuple[Weights, Cache]]:
        """Weights and cache by the formats asked; kept likewise."""
        return self._of_model("bytes")

    def _of_model(self, what: str) -> dict[Any, Any]:
        """What is kept of this model: those of the models that were asked of longest ago go."""
        kept: dict[Model, dict[Any, Any]] = self.catalog.kept(what)
        found = kept[self.model] = kept.pop(self.model, {})
        let_go(kept, MOST_MODELS + 1)
        return found

    @cached_property
    def eight_bit_caches(self) -> tuple[str, ...]:
        """The cache types of eight bits of the engines that a choice is made of: what they lose is hardly measured."""
        engines = (engine for engine in self.catalog.engines.values() if engine.choice_rank is not None)
        return tuple(dict.fromkeys(name for engine in engines if (name := eight_bit_cache(engine))))

    def _keeper(self, kv_quant: str) -> Engine:
        """The engine whose cache the bounds are made of: where it has no such type, one that has."""
        engines = self.catalog.engines
        usual = engines[BOUND_ENGINE]
        return usual if kv_quant in usual.kv_types else next((each for each in engines.values() if kv_quant in each.kv_types), usual)

    def _formats(self, word: str | None) -> list[Quant]:
        """The quantizations that a word may come to: of each engine the usual one of that width, and the model's own."""
        if word is not None and word not in WIDTHS:
            return [self.catalog.quant(word)]
        engines = [engine for engine in self.catalog.engines.values() if engine.choice_rank is not None]
        width = {"8bit": "usual_8bit", "16bit": "usual_16bit"}.get(word or "", "usual_4bit")
        names = dict.fromkeys(getattr(engine, width) for engine in engines)
        if word is None and self.model.native_quant in self.catalog.quants:
            names[self.model.native_quant] = None
        return [self.catalog.quant(name) for name in names]

    def clear(self) -> None:
        """Let go of what holds this table in its turn, so that all of it leaves the memory as soon as the answer is given."""
        self.bounds.clear()
        self.holds.clear()

    def repriced(self, prices: tuple[tuple[str, float], ...]) -> "Desk":
        """The same table with other prices: what was bound and estimated stays."""
        other = Desk(replace(self.need, prices_usd=prices), self.have, self.catalog, self.model, self.terms.today)
        other._systems, other._ways, other._usual = self._systems, self._ways, self._usual
        other.bounds, other._quants = self.bounds, self._quants
        other._able, other.holds, other.links = self._able, self.holds, self.links
        return other
