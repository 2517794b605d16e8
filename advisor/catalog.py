"""The catalog: every record that the tool knows, from the shipped folder and what the user lays over it; read when asked for."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from advisor import __version__
from advisor.catalogfolder import Where
from advisor.catalogstack import Layer, base_layer, laid_layer, overlay_paths
from advisor.catalogstack import shipped as shipped
from advisor.errors import CatalogError
from advisor.layered import Records, made, plain
from advisor.lookup import DeviceNames, Found, Names
from advisor.tables import TABLES

if TYPE_CHECKING:
    from advisor.calibration import Calibration
    from advisor.choices import Choices
    from advisor.collective import LinkCalibration
    from advisor.device import Device
    from advisor.engine import Engine
    from advisor.hints import Hints
    from advisor.host import Host, Storage
    from advisor.hostrate import HostCalibration
    from advisor.intake.hf_families import Habits
    from advisor.intake.size_words import Sizes
    from advisor.intake.wording import Wording
    from advisor.link import Link
    from advisor.measurement import Measurement
    from advisor.model import Model
    from advisor.money import Money
    from advisor.platforms import Platform
    from advisor.quant import Quant

T = TypeVar("T")


def let_go(kept: dict[Any, Any], most: int) -> None:
    """Let the oldest go, so that with one more there are `most`; threads that share a catalog may do so at the same time."""
    while len(kept) >= most:
        kept.pop(next(iter(tuple(kept)), None), None)


class Catalog:
    """Records by kind; names as people write them. `load` reads an index; a record is decoded when it is asked for."""

    def __init__(self, layers: Sequence[Layer], root: Where) -> None:
        self._layers = tuple(reversed(layers))  # the uppermost first
        self.root = root
        self.overlays: tuple[str, ...] = tuple(str(path) for layer in layers[1:] for path in layer.roots)
        self._records: dict[str, Records[Any]] = {}
        self._names: dict[str, Names] = {}
        self._kept: dict[str, dict[Any, Any]] = {}

    @classmethod
    def load(cls, overlays: Sequence[Where] = (), *, user_folder: bool = True, root: Where | None = None) -> "Catalog":
        """The shipped catalog with, upon it, the user's own folder, those of ADVISOR_CATALOG, and `overlays`; the last wins.

        `root` takes another folder's place for the shipped one.
        """
        root = root or shipped()
        base = base_layer(root)
        paths = overlay_paths(overlays, user_folder=user_folder)
        return cls([base, laid_layer(base, paths)] if paths else [base], root)

    def kept(self, what: str) -> dict[Any, Any]:
        """What was worked out from this catalog and serves the next question too; lives as long as the catalog."""
        return self._kept.setdefault(what, {})

    def once(self, what: str, most: int, key: Any, work_out: Callable[[], T]) -> T:
        """What was worked out of that key before, or is now; of so many keys at the most, the oldest go."""
        kept: dict[Any, T] = self.kept(what)
        try:
            return kept[key]
        except KeyError:
            found = work_out()
        let_go(kept, most)
        kept[key] = found
        return found

    def ids(self, kind: str) -> tuple[str, ...]:
        """Every id of a kind, sorted; nothing is decoded."""
        found: set[str] = set()
        for layer in self._layers:
            found |= layer.copy.index(kind).keys()
        return tuple(sorted(found))

    def plain(self, kind: str, record_id: str) -> dict[str, Any]:
        """A record as YAML gives it: datasheet units, only the keys that are written."""
        return plain(self._layers, kind, record_id)

    def records(self, kind: str) -> Records[Any]:
        """All records of a kind."""
        if kind not in self._records:
            self._records[kind] = Records(self.ids(kind), partial(made, self._layers, kind))  # that does not hold the catalog
        return self._records[kind]

    def _named(self, records: "Mapping[str, T]", kind: str, name: str) -> T:
        """The record that `name` stands for; of an id at once."""
        return records[name] if name in records else records[self.find(kind, name).id]

    def find(self, kind: str, name: str) -> Found:
        """The id that `name` stands for, with the memory it states and a remark on how it was read; no names are read for an id."""
        if self._has(kind, name):
            return Found(name)
        return (self._of_size(name) if kind == "devices" else None) or self._names_of(kind).find(name)

    def _of_size(self, name: str) -> Found | None:
        """`ID 64gb`, an id with a size that it is sold with, as our own SYSTEM words say it: for these too no names are read."""
        device_id, _, size = name.rpartition(" ")
        number = size.removesuffix("gb")
        if number == size or not (number.isascii() and number.isdigit()) or not self._has("devices", device_id):
            return None
        return Found(device_id, float(number)) if float(number) in self._memory_gib(device_id) else None

    def _has(self, kind: str, record_id: str) -> bool:
        return any(record_id in layer.copy.index(kind) for layer in self._layers)

    def bearing(self, kind: str, name: str) -> tuple[str, ...]:
        """The ids that bear this name, none where nothing does: for scanning a text, where most words are no names."""
        return self._names_of(kind).bearing(name)

    def _names_of(self, kind: str) -> Names:
        if kind not in self._names:
            exact, families = self._merged(kind, "names"), self._merged(kind, "families")
            ids, one = self.ids(kind), TABLES[kind].one
            if kind == "devices":
                self._names[kind] = DeviceNames(one, exact, families, ids, self._memory_gib, self._variants())
            else:
                self._names[kind] = Names(one, exact, families, ids)
        return self._names[kind]

    def _merged(self, kind: str, which: str) -> Mapping[str, list[str]]:
        """Names of all layers; a record of an upper layer bears only the names that it has there."""
        *above, base = self._layers
        merged: dict[str, list[str]] = dict(base.copy.table(f"{which} {kind}"))
        for layer in reversed(above):
            hidden = layer.copy.index(kind).keys()
            if hidden:
                kept = {name: [each for each in ids if each not in hidden] for name, ids in merged.items()}
                merged = {name: ids for name, ids in kept.items() if ids}
            for name, ids in layer.copy.table(f"{which} {kind}").items():
                merged[name] = [*merged.get(name, []), *ids]
        return merged

    def _variants(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for layer in self._layers:
            for common, others in layer.copy.table("variants").items():
                found[common] = [*found.get(common, []), *(each for each in others if each not in found.get(common, []))]
        return found

    def _memory_gib(self, device: str) -> list[float]:
        sizes = self.plain("devices", device)["memory_gib"]
        return sizes if isinstance(sizes, list) else [sizes]

    def device(self, name: str) -> "Device":
        """The device of that id, alias or printed name."""
        return self._named(self.devices, "devices", name)

    def link(self, name: str) -> "Link":
        """The link of that name."""
        return self._named(self.links, "links", name)

    def model(self, name: str) -> "Model":
        """The model of that id, alias, or Hugging Face repository."""
        return self._named(self.models, "models", name)

    def quant(self, name: str) -> "Quant":
        """The quantization of that name, however it is spelled."""
        return self._named(self.quants, "quants", name)

    def engine(self, name: str) -> "Engine":
        """The engine of that name."""
        return self._named(self.engines, "engines", name)

    def host(self, name: str) -> "Host":
        """The host of that name."""
        return self._named(self.hosts, "hosts", name)

    def storage(self, name: str) -> "Storage":
        """The kind of storage of that name."""
        found: Storage = self.records("storage")[self.find("storage", name).id]
        return found

    @property
    def devices(self) -> "Mapping[str, Device]":
        """Every device."""
        return self.records("devices")

    @property
    def links(self) -> "Mapping[str, Link]":
        """Every link."""
        return self.records("links")

    @property
    def models(self) -> "Mapping[str, Model]":
        """Every model."""
        return self.records("models")

    @property
    def quants(self) -> "Mapping[str, Quant]":
        """Every quantization."""
        return self.records("quants")

    @property
    def engines(self) -> "Mapping[str, Engine]":
        """Every engine."""
        return self.records("engines")

    @property
    def hosts(self) -> "Mapping[str, Host]":
        """Every host."""
        return self.records("hosts")

    @property
    def measurements(self) -> "Mapping[str, Measurement]":
        """Every published measurement."""
        return self.records("measurements")

    def measurements_of(self, devices: Iterable[str], model: str) -> "Mapping[str, Measurement]":
        """The published measurements of any of these devices, or of the model; no other is decoded."""
        found: list[str] = []
        for layer in self._layers:
            ids = list(layer.copy.index("measurements"))
            naming = layer.copy.table("rows naming")
            found += [ids[place] for place in sorted({place for name in (*devices, model) for place in naming.get(name, ())})]
        rows = self.measurements
        return {each: rows[each] for each in dict.fromkeys(found)}

    @property
    def platforms(self) -> "Mapping[str, Platform]":
        """What each platform lets a program use of its memory."""
        return self.records("platforms")

    @property
    def calibration(self) -> "Calibration":
        """The constants of the estimator."""
        found: Calibration = self._single("calibration")
        return found

    @property
    def link_calibration(self) -> "LinkCalibration":
        """The constants of the links."""
        found: LinkCalibration = self._single("link_calibration")
        return found

    @property
    def host_calibration(self) -> "HostCalibration":
        """What engines reach of a computer's memory."""
        found: HostCalibration = self._single("host_calibration")
        return found

    @property
    def hints(self) -> "Hints":
        """What the adviser knows beside hardware and models."""
        found: Hints = self._single("hints")
        return found

    @property
    def wording(self) -> "Wording":
        """What the words of a question mean."""
        found: Wording = self._single("wording")
        return found

    @property
    def config_habits(self) -> "Habits":
        """How each kind of config.json is read."""
        found: Habits = self._single("config_habits")
        return found

    @property
    def typical_sizes(self) -> "Sizes":
        """The typical shapes that sizes in words stand for."""
        found: Sizes = self._single("typical_sizes")
        return found

    @property
    def choices(self) -> "Choices":
        """Numbers of the estimator that were chosen."""
        found: Choices = self._single("choices")
        return found

    @property
    def money(self) -> "Money":
        """Electricity, rates of exchange, prices of parts."""
        found: Money = self._single("money")
        return found

    def _single(self, kind: str) -> Any:
        try:
            return self.records(kind)[kind]
        except KeyError:
            raise CatalogError((f"{os.path.join(self.root, kind)}.yaml:1: file: missing",)) from None

    @cached_property
    def version(self) -> str:
        """The package's version and a digest of the shipped catalog's content."""
        return f"{__version__}+{self._layers[-1].copy.head['digest'][:8]}"

    @cached_property
    def prices_as_of(self) -> str:
        """The date of the newest price."""
        return max(str(layer.copy.head["prices_as_of"]) for layer in self._layers)
