"""What the catalog consists of: each kind of record, its class, and how its files lie."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from advisor.record import dataclass, field


@dataclass(frozen=True)
class Table:
    """One kind of record.

    `form` says how its files lie: `folder` (one record a file), `rows` (a folder of files, each a header and `rows`), `list`
    (one file with all of them) or `single` (one file that is the record). `refers` maps keys to the kind whose ids they hold.
    """

    kind: str
    one: str  # the kind in the singular
    module: str
    record: str
    form: str
    refers: Mapping[str, str] = field(default_factory=dict)

    @property
    def record_class(self) -> Any:
        """The record's class, imported when first asked for: `--help` and completion need none."""
        return _class(self.module, self.record)


@cache
def _class(module: str, record: str) -> Any:
    return getattr(import_module(f"advisor.{module}"), record)


RAN = {"device": "devices", "engine": "engines", "model": "models", "quant": "quants"}
TABLES = {
    table.kind: table
    for table in (
        Table("devices", "device", "device", "Device", "folder", {"links": "links", "network": "links"}),
        Table("links", "link", "link", "Link", "folder", {"devices": "devices"}),
        Table("models", "model", "model", "Model", "folder", {"native_quant": "quants"}),
        Table("hosts", "host", "host", "Host", "folder", {"network": "links", "storage": "storage"}),
        Table("engines", "engine", "engine", "Engine", "folder", {"usual_quant": "quants", "speeds_as": "engines"}),
        Table("measurements", "measurement", "measurement", "Measurement", "rows"),
        Table("link_measurements", "link measurement", "collective", "LinkRow", "rows"),
        Table("host_measurements", "run with a part in host memory", "hostrate", "HostRow", "rows", RAN),
        Table("quants", "quantization", "quant", "Quant", "list"),
        Table("storage", "storage", "host", "Storage", "list"),
        Table("platforms", "platform", "platforms", "Platform", "list"),
        Table("calibration", "calibration", "calibration", "Calibration", "single"),
        Table("link_calibration", "link calibration", "collective", "LinkCalibration", "single"),
        Table("host_calibration", "host calibration", "hostrate", "HostCalibration", "single"),
        Table("hints", "hints", "hints", "Hints", "single"),
        Table("wording", "words of questions", "intake.wording", "Wording", "single"),
        Table("config_habits", "habits of config.json files", "intake.hf_families", "Habits", "single"),
        Table("typical_sizes", "typical model sizes", "intake.size_words", "Sizes", "single"),
        Table("money", "money", "money", "Money", "single"),
        Table("choices", "chosen numbers", "choices", "Choices", "single", {"usual_storage": "storage"}),
        Table("bounds", "bounds", "bounds", "Bounds", "single"),
        Table("integrated", "marks of integrated GPUs", "integrated", "Integrated", "single"),
    )
}
FOLDERS = tuple(kind for kind, table in TABLES.items() if table.form in ("folder", "rows"))
LISTED = ("devices", "links", "models", "engines", "hosts", "quants", "measurements")  # what `list` and `show` know
