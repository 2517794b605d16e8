"""Names as people and tools write them: the right record, or an error with the nearest; never a silent substitute."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as some

from advisor.catalog import Catalog
from advisor.errors import AmbiguousName, UnknownName
from advisor.lookup import DeviceNames, Names, names_of, normal

FROZEN = Path(__file__).parent / "catalog"
WHOLE = Catalog.load(user_folder=False)
SMALL = Catalog.load(root=FROZEN, user_folder=False)


@pytest.mark.parametrize(
    ("written", "form"),
    [("RTX 3090-Ti", "rtx3090ti"), ("Q4_K_M", "q4km"), ("3.1-8b", "3.1.8b"), ("Llama-3_1", "llama3.1"), ("llama3.3:70b", "llama3.3.70b"),
     ("gemma-31-2b", "gemma31.2b"), ("gemma-3-12b", "gemma3.12b"), ("  llama.cpp ", "llamacpp"), ("", ""), (".", ""), ("é", "")],
)  # fmt: skip
def test_normal_form(written: str, form: str) -> None:
    assert normal(written) == form


@pytest.mark.parametrize("catalog", [WHOLE, SMALL])
def test_an_id_with_one_of_its_sizes_is_read_without_names_as_with_them(catalog: Catalog) -> None:
    """The short way of `Catalog.find` finds what the names of all devices give, also where several of a family share a name."""
    names = catalog._names_of("devices")
    for device_id in catalog.ids("devices"):
        for size in catalog._memory_gib(device_id):
            written = f"{device_id} {size:g}gb"
            found = catalog.find("devices", written)
            assert found.id == device_id
            with suppress(UnknownName, AmbiguousName):  # `arc-a770-8gb 8gb` is no name, but clear
                assert names.find(written).id == device_id
                assert names.find(written).memory_gib in (size, None)  # None: the only size


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("mac-m3-ultra-80c 512gb", ("mac-m3-ultra-80c", 512.0)),
        ("rtx-3090 24gb", ("rtx-3090", 24.0)),
        ("arc-a770-8gb 8gb", ("arc-a770-8gb", 8.0)),
    ],
)
def test_an_id_may_state_its_size(written: str, wanted: tuple[str, float]) -> None:
    assert WHOLE.find("devices", written)[:2] == wanted


@pytest.mark.parametrize("written", ["rtx-3090 25gb", "mac-m3-ultra-80c 7gb", "mac-m3-ultra-80c ²gb"])
def test_a_size_that_is_not_sold_is_refused(written: str) -> None:
    with pytest.raises(UnknownName):
        WHOLE.find("devices", written)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("rtx-3090", "rtx-3090"),
        ("RTX-3090", "rtx-3090"),
        ("NVIDIA GeForce RTX 3090", "rtx-3090"),
        ("NVIDIA Corporation GeForce RTX 3090", "rtx-3090"),
        ("NVIDIA Corporation GA102 [GeForce RTX 3090]", "rtx-3090"),  # lspci
        ("CUDA0: NVIDIA GeForce RTX 3090", "rtx-3090"),  # llama.cpp
        ("Vulkan1 = AMD Radeon RX 7900 XTX (RADV NAVI31)", "rx-7900-xtx"),
        ("rtx3090", "rtx-3090"),
        ("3090", "rtx-3090"),
        ("rtx 3090 24gb", "rtx-3090"),
        ("RTX 3090 24 GB", "rtx-3090"),
        ("NVIDIA GeForce RTX 3090 Ti", "rtx-3090-ti"),
        ("RTX3090Ti", "rtx-3090-ti"),
        ("NVIDIA GeForce RTX 5090", "rtx-5090"),
        ("5090", "rtx-5090"),
        ("AMD Radeon RX 7900 XTX", "rx-7900-xtx"),
        ("Radeon(TM) RX 7900 XTX", "rx-7900-xtx"),
        ("7900 xtx", "rx-7900-xtx"),
        ("Intel(R) Arc(TM) A770 Graphics", "arc-a770-16gb"),
        ("Apple M3 Ultra (80-core GPU)", "mac-m3-ultra-80c"),
        ("Apple M3 Ultra 80 cores", "mac-m3-ultra-80c"),
        ("Apple M3 Ultra (32-core CPU, 80-core GPU)", "mac-m3-ultra-80c"),
        ("Mac Studio M3 Ultra 80c 512gb", "mac-m3-ultra-80c"),
        ("MacBook Pro M4 Max (40-core GPU)", "mac-m4-max-40c"),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "rtx-pro-6000-blackwell"),
        ("NVIDIA H100 80GB HBM3", "h100-sxm"),
        ("NVIDIA A100-SXM4-80GB", "a100-80gb-sxm"),
        ("NVIDIA A100-PCIE-40GB", "a100-40gb-pcie"),
        ("NVIDIA A100 80GB PCIe", "a100-80gb-pcie"),
        ("Tesla P40", "tesla-p40"),
        ("p40", "tesla-p40"),
        ("NVIDIA GB10", "dgx-spark"),
        ("dgx spark", "dgx-spark"),
        ("10de:2204", "rtx-3090"),
        ("[10DE:2204]", "rtx-3090"),
        ("0x10de:0x2204", "rtx-3090"),
        ("a6000", "rtx-a6000"),
        ("6000 ada", "rtx-6000-ada"),
    ],
)
def test_a_device_by_the_names_that_people_and_tools_use(name: str, wanted: str) -> None:
    assert WHOLE.device(name).id == wanted


@pytest.mark.parametrize(
    ("name", "among"),
    [
        ("H100", {"h100-sxm", "h100-pcie-80gb"}),
        ("h100 80gb", {"h100-sxm", "h100-pcie-80gb"}),
        ("A100", {"a100-40gb-sxm", "a100-80gb-pcie"}),
        ("V100", {"tesla-v100-16gb-pcie", "tesla-v100-32gb-pcie"}),
        ("V100 32GB", {"tesla-v100-32gb-pcie", "tesla-v100-32gb-sxm2"}),
        ("Apple M3 Ultra", {"mac-m3-ultra-60c", "mac-m3-ultra-80c"}),
        ("M4 Max", {"mac-m4-max-32c", "mac-m4-max-40c"}),
        ("Apple M3", {"mac-m3-8c", "mac-m3-10c"}),
        ("MacBook M1 Max 32GB", {"mac-m1-max-24c", "mac-m1-max-32c"}),
        ("Mac mini M4 16GB", {"mac-m4-8c", "mac-m4-10c"}),
        ("rtx 5060 ti", {"rtx-5060-ti-16gb"}),
    ],
)
def test_an_ambiguous_device_lists_its_candidates(name: str, among: set[str]) -> None:
    with pytest.raises(AmbiguousName) as error:
        WHOLE.device(name)
    assert among <= set(error.value.nearest)
    assert error.value.code == "ambiguous-name"
    assert all(each in str(error.value) for each in error.value.nearest)


def test_laptop_and_desktop_are_never_confused() -> None:
    for device in WHOLE.devices.values():
        laptop = "laptop" in device.id
        for name in (device.name, *device.aliases):
            assert all(("laptop" in each) == laptop for each in candidates("devices", name)), name


def candidates(kind: str, name: str, catalog: Catalog = WHOLE) -> set[str]:
    """What a name stands for, or could: its record, its candidates, nothing."""
    try:
        return {catalog.find(kind, name).id}
    except AmbiguousName as error:
        return set(error.nearest)
    except UnknownName:
        return set()


@pytest.mark.parametrize(
    ("name", "wanted"),
    [  # as lspci, rocm-smi, Vulkan drivers, Windows and Ollama print them
        ("NVIDIA Corporation AD107M [GeForce RTX 4060 Max-Q / Mobile]", {"rtx-4060-laptop"}),
        ("GA106M [GeForce RTX 3060 Mobile / Max-Q]", {"rtx-3060-laptop"}),
        ("NVIDIA Corporation GP102GL [Tesla P40]", {"tesla-p40"}),
        ("Vega 20 [Radeon VII]", {"radeon-vii"}),
        ("Intel(R) Arc(tm) A770 Graphics (DG2)", {"arc-a770-16gb"}),
        ("Intel(R) Arc(TM) B580 Graphics (BMG G21)", {"arc-b580-12gb"}),
        ("AMD Radeon 780M iGPU", {"radeon-780m"}),
        ("AMD Instinct MI60 / MI50", {"mi60-32gb", "mi50-32gb", "mi50-16gb"}),
        ("AMD Instinct MI60 / MI50 32GB", {"mi60-32gb", "mi50-32gb"}),
        ("AMD Instinct MI250X / MI250", {"mi250x-128gb", "mi250-128gb"}),
        ("1002:66a1", {"mi60-32gb", "mi50-32gb", "mi50-16gb", "radeon-pro-vii"}),
        ("NVIDIA H100", {"h100-sxm", "h100-pcie-80gb", "h100-nvl-94gb"}),
        ("NVIDIA CMP 170HX", set()),
        ("Quantum [GeForce RTX 9999]", set()),
        ("[]", set()),
        ("[[GeForce RTX 3090]]", {"rtx-3090"}),
    ],
)
def test_one_printed_name_may_stand_for_several(name: str, wanted: set[str]) -> None:
    assert candidates("devices", name) == wanted


@pytest.mark.parametrize("chip", ["3080", "4090", "5090", "3070"])
@pytest.mark.parametrize("word", ["Laptop GPU", "Laptop", "Mobile", "notebook"])
def test_the_laptop_chip_is_the_laptops_or_unknown(chip: str, word: str) -> None:
    assert all("laptop" in each for each in candidates("devices", f"NVIDIA GeForce RTX {chip} {word}"))


def test_a_bare_number_says_that_it_is_the_desktop_card() -> None:
    found = WHOLE.find("devices", "5090")
    assert (found.note.code, dict(found.note.facts)) == ("name.desktop", {"name": "5090", "id": "rtx-5090"})
    assert WHOLE.find("devices", "rtx-5090").note is None
    assert WHOLE.find("devices", "NVIDIA GeForce RTX 5090").note is None


def test_a_plain_name_of_the_common_variant_names_the_rarer_ones() -> None:
    note = WHOLE.find("devices", "NVIDIA GeForce RTX 3060").note
    assert note
    assert (note.code, note.facts["id"], note.facts["others"]) == ("name.variant", "rtx-3060-12gb", "rtx-3060-8gb")
    assert WHOLE.find("devices", "rtx 3060 12gb").note is None
    assert WHOLE.find("devices", "rtx-3060-12gb").note is None
    assert WHOLE.find("devices", "rtx 3060 8gb").id == "rtx-3060-8gb"


@pytest.mark.parametrize(
    ("name", "wanted", "gib"),
    [
        ("mac-m3-ultra-80c 512gb", "mac-m3-ultra-80c", 512),
        ("mac-m3-ultra-80c 96 GB", "mac-m3-ultra-80c", 96),
        ("Apple M3 Ultra (80-core GPU) 256GB", "mac-m3-ultra-80c", 256),
        ("M4 Max 40c 128gb", "mac-m4-max-40c", 128),
        ("rtx 4090 24g", "rtx-4090", 24),
    ],
)
def test_a_name_may_state_the_memory(name: str, wanted: str, gib: float) -> None:
    found = WHOLE.find("devices", name)
    assert (found.id, found.memory_gib) == (wanted, gib)


def test_a_memory_size_that_is_not_sold_is_an_error() -> None:
    with pytest.raises(UnknownName, match=r"mac-m3-ultra-80c is sold with 96, 256, 512 GB, not 48"):
        WHOLE.device("mac-m3-ultra-80c 48gb")
    with pytest.raises(UnknownName, match="rtx-5090 is sold with 32 GB, not 48"):
        WHOLE.device("RTX 5090 48GB")
    assert WHOLE.find("devices", "rtx-4090").memory_gib is None


@pytest.mark.parametrize(
    ("kind", "name", "nearest"),
    [
        ("devices", "rtx-309", "rtx-3090"),
        ("devices", "rtx 3095", "rtx-3090"),
        ("links", "pcie-4-x17", "pcie-4-x1"),
        ("engines", "vlm", "vllm"),
        ("quants", "q4_k_n", "q4_k_m"),
        ("models", "qwen3-9b", "qwen3-8b"),
        ("hosts", "desktop-x8x9", "desktop-x8x8"),
    ],
)
def test_an_unknown_name_gets_the_nearest(kind: str, name: str, nearest: str) -> None:
    with pytest.raises(UnknownName) as error:
        WHOLE.find(kind, name)
    assert nearest in error.value.nearest
    assert "did you mean" in str(error.value)


@pytest.mark.parametrize(
    "name", ["", " ", "gpu", "nvidia", "the", "\x1b[31m", "é" * 100, "24gb", "x" * 10_000, "NVIDIA Graphics", "laptop"]
)
@pytest.mark.parametrize("kind", ["devices", "links", "models", "quants", "engines", "hosts"])
def test_what_names_nothing_is_an_error(name: str, kind: str) -> None:
    if (kind, name) == ("hosts", "laptop"):  # a kind of computer, and a word that is part of many devices' names
        return
    with pytest.raises((UnknownName, AmbiguousName)):
        WHOLE.find(kind, name)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("Qwen/Qwen3-8B", "qwen3-8b"),
        ("Qwen3 8B", "qwen3-8b"),
        ("unsloth/Qwen3-8B-GGUF", "qwen3-8b"),
        ("meta-llama/Llama-3.3-70B-Instruct", "llama-3.3-70b"),
        ("Llama-3.3-70B", "llama-3.3-70b"),
        ("llama3.3:70b", "llama-3.3-70b"),
        ("openai/gpt-oss-120b", "gpt-oss-120b"),
        ("deepseek-ai/DeepSeek-R1", "deepseek-r1"),
    ],
)
def test_a_model_by_its_repository_or_tag(name: str, wanted: str) -> None:
    assert WHOLE.model(name).id == wanted


@pytest.mark.parametrize("size", ["Llama-70B", "Qwen-32B", "llama-8b", "qwen-1.5b", "qwen-7b", "qwen-14b"])
@pytest.mark.parametrize("form", ["DeepSeek-R1-Distill-{}", "deepseek-ai/DeepSeek-R1-Distill-{}", "deepseek r1 distill {}"])
def test_a_distilled_model_is_never_taken_for_the_original(size: str, form: str) -> None:
    assert not candidates("models", form.format(size)) & {"deepseek-r1", "deepseek-v3"}


def test_a_family_of_models_is_ambiguous() -> None:
    with pytest.raises(AmbiguousName) as error:
        WHOLE.model("qwen3")
    assert all(each.startswith("qwen3") for each in error.value.nearest)
    with pytest.raises(AmbiguousName):
        WHOLE.model("llama 70b")


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("Q4_K_M", "q4_k_m"), ("q4km", "q4_k_m"), ("q4-k-m", "q4_k_m"), ("fp16", "f16"), ("F16", "f16"), ("Q8_0", "q8_0"), ("q8_0", "q8_0"),
     ("BF16", "bf16"), ("MXFP4", "mxfp4"), ("ud-q4_k_xl", "ud-q4_k_xl"), ("UD-Q4_K_XL", "ud-q4_k_xl"), ("awq-4bit", "awq-4bit"),
     ("mlx-4bit", "mlx-4bit"), ("IQ2_XXS", "iq2_xxs")],
)  # fmt: skip
def test_a_quantization_however_it_is_spelled(name: str, wanted: str) -> None:
    assert WHOLE.quant(name).id == wanted


@pytest.mark.parametrize(("kind", "name", "wanted"), [
    ("links", "PCIe 4.0 x16", "pcie-4-x16"), ("links", "Thunderbolt 5 RDMA", "thunderbolt-5-rdma"), ("engines", "ollama", "llama.cpp"),
    ("engines", "LLaMA.cpp", "llama.cpp"), ("engines", "TensorRT-LLM", "tensorrt-llm"),
])  # fmt: skip
def test_links_and_engines(kind: str, name: str, wanted: str) -> None:
    assert WHOLE.find(kind, name).id == wanted


@pytest.mark.parametrize("kind", ["devices", "links", "models", "quants", "engines", "hosts"])
def test_every_id_and_name_finds_its_record(kind: str) -> None:
    """An id always; a name or an alias at least among the candidates."""
    for record_id in WHOLE.ids(kind):
        assert WHOLE.find(kind, record_id).id == record_id
        assert WHOLE.find(kind, record_id.upper()).id == record_id
        plain = WHOLE.plain(kind, record_id)
        for name in (plain.get("name") or record_id, *(plain.get("aliases") or ())):
            found = candidates(kind, name)
            assert record_id in found or len(found) >= 8, (record_id, name, found)


@for_all(some.text(max_size=30))
@settings(max_examples=300, deadline=None)
def test_no_text_breaks_the_lookup(name: str) -> None:
    for kind in ("devices", "models", "quants"):
        assert candidates(kind, name, SMALL) <= set(SMALL.ids(kind))


@for_all(some.sampled_from(SMALL.ids("devices")), some.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_spaces_dashes_and_case_do_not_matter(name: str, random: object) -> None:
    changed = "".join(random.choice("-_ ") if letter == "-" else random.choice([letter, letter.upper()]) for letter in name)  # type: ignore[attr-defined]
    assert SMALL.device(changed).id == name


MAKERS = {
    "nvidia": ("NVIDIA {}", "nvidia {}", "NVIDIA Corporation {}", "NVIDIA-{}"),
    "amd": ("AMD {}", "Advanced Micro Devices, Inc. {}", "Advanced Micro Devices, Inc. [AMD/ATI] {}"),
    "intel": ("Intel {}", "Intel(R) {}", "Intel Corporation {}"),
    "apple": ("Apple {}", "apple {}"),
}
SPELLINGS = (str, str.upper, str.lower, str.title, lambda name: name.replace(" ", "-"), lambda name: name.replace(" ", "_"),
             lambda name: name.replace("-", " "), lambda name: f"  {name.replace(' ', '   ')} ", lambda name: name.replace("(", " ( "))  # fmt: skip
CALLED = [(each.id, each.maker, name) for each in WHOLE.devices.values() for name in (each.id, each.name, *each.aliases)]


@for_all(some.sampled_from(CALLED), some.integers(0, 3), some.sampled_from(SPELLINGS))
@settings(max_examples=400, deadline=None)
def test_a_makers_word_case_spaces_and_dashes_change_no_device(
    called: tuple[str, str, str], place: int, spelled: Callable[[str], str]
) -> None:
    record_id, maker, name = called
    forms = MAKERS[maker]
    whole = name if name.lower().startswith(maker) else forms[place % len(forms)].format(name)
    for written in (spelled(name), spelled(whole)):
        found = candidates("devices", written)
        assert record_id in found or len(found) >= 8, written
        assert found == candidates("devices", name), written


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("AMD Radeon RX 7900 XTX (RADV NAVI31)", "rx-7900-xtx"),  # vulkaninfo
        ("Intel(R) Arc(TM) B580 Graphics (ANV BMG)", "arc-b580-12gb"),
        ("NVIDIA GeForce RTX 4090 (NVK AD102)", "rtx-4090"),
        ("NVIDIAGeForceRTX3090", "rtx-3090"),
        ("AMDInstinctMI300X", "mi300x-192gb"),
        ("Advanced Micro Devices, Inc. [AMD/ATI] Radeon RX 9070 XT", "rx-9070-xt"),
    ],
)
def test_what_drivers_put_around_a_name_is_no_part_of_it(name: str, wanted: str) -> None:
    assert WHOLE.device(name).id == wanted


def test_a_mig_slice_is_no_device_and_is_told_from_its_card() -> None:
    with pytest.raises(UnknownName, match="is a MIG slice, a part of a card.*the card is a100-80gb-sxm") as error:
        WHOLE.device("NVIDIA A100-SXM4-80GB MIG 1g.10gb")
    assert error.value.nearest == ("a100-80gb-sxm",)
    with pytest.raises(UnknownName, match="is a MIG slice"):
        WHOLE.device("MIG 3g.40gb")


@pytest.mark.parametrize(
    ("pci_id", "wanted"),
    [  # https://pci-ids.ucw.cz, seen 2026-11
        ("10de:2b85", "rtx-5090"), ("10de:2c58", "rtx-5090-laptop"), ("10de:2684", "rtx-4090"), ("10de:2757", "rtx-4090-laptop"),
        ("10de:2206", "rtx-3080-10gb"), ("10de:220a", "rtx-3080-12gb"), ("10de:2330", "h100-sxm"), ("10de:3182", "b300"),
        ("10de:2b00", "jetson-agx-thor-128gb"), ("1002:7551", "ai-pro-r9700-32gb"), ("1002:7449", "pro-w7800-48gb"),
        ("1002:75a3", "mi355x-288gb"), ("8086:e20b", "arc-b580-12gb"), ("8086:e223", "arc-pro-b70-32gb"),
    ],
)  # fmt: skip
def test_pci_ids_are_those_of_the_public_list(pci_id: str, wanted: str) -> None:
    assert WHOLE.device(pci_id).id == wanted


@pytest.mark.parametrize(
    ("pci_id", "among"), [("10de:2d04", {"rtx-5060-ti-8gb", "rtx-5060-ti-16gb"}), ("1002:744c", {"rx-7900-xt", "rx-7900-xtx"})]
)
def test_a_pci_id_of_several_cards_is_ambiguous(pci_id: str, among: set[str]) -> None:
    with pytest.raises(AmbiguousName) as error:
        WHOLE.device(pci_id)
    assert among <= set(error.value.nearest)


def test_every_measured_device_is_a_record_or_says_what_it_was() -> None:
    """A row names its device by id, and its printed name leads there; one without an id keeps the printed name and cannot be used."""
    for row in WHOLE.measurements.values():
        for ran in row.devices:
            assert ran.device in WHOLE.devices or (ran.name and row.unusable), row.id
            printed = (ran.name or "").partition(" (GPU core")[0].partition(" (memory")[0].partition(" (laptop")[0].rpartition(" + ")[2]
            found = candidates("devices", printed)
            assert ran.device is None or not printed or ran.device in found, (printed, found)


def names(**records: dict[str, object]) -> DeviceNames:
    """The names of made-up devices."""
    exact: dict[str, list[str]] = {}
    families: dict[str, list[str]] = {}
    for record_id, plain in records.items():
        for table, found in zip((exact, families), names_of("devices", plain), strict=True):
            for name in found:
                table.setdefault(name, []).append(record_id)
    return DeviceNames("device", exact, families, records, lambda each: records[each]["memory_gib"])  # type: ignore[arg-type, return-value]


def test_two_memory_sizes_of_one_name_are_ambiguous_until_one_is_said() -> None:
    cards = names(
        a={"id": "rtx-1-8gb", "name": "GeForce RTX 1 8GB", "memory_gib": [8]},
        b={"id": "rtx-1-16gb", "name": "GeForce RTX 1 16GB", "memory_gib": [16]},
    )
    with pytest.raises(AmbiguousName, match="a, b"):
        cards.find("RTX 1")
    assert cards.find("rtx 1 16gb").id == "b"
    assert cards.find("NVIDIA GeForce RTX 1 8 GB").id == "a"


def test_a_chip_with_one_gpu_size_needs_no_count() -> None:
    macs = names(a={"id": "mac-m9-10c", "name": "Mac M9 (10-core GPU)", "chip": "M9", "gpu_cores": 10, "memory_gib": [16]})
    assert macs.find("Apple M9").id == "a"
    assert macs.find("M9 (10-core GPU)").id == "a"
    with pytest.raises(UnknownName):
        macs.find("M9 (12-core GPU)")


def test_an_empty_table_knows_nothing() -> None:
    with pytest.raises(UnknownName, match="no host is called 'x': see `advisor list` for every host"):
        Names("host", {}, {}, ()).find("x")


@pytest.mark.parametrize(
    ("written", "model"),
    [
        ("llama3.3:70b-instruct-q4_K_M", "llama-3.3-70b"),
        ("qwen2.5-coder:32b-instruct-q4_K_M", "qwen2.5-coder-32b"),
        ("gemma-3-27b-it-Q4_K_M.gguf", "gemma-3-27b"),
        ("gemma3:27b-it-qat", "gemma-3-27b"),
        ("unsloth/Qwen3-30B-A3B-GGUF:UD-Q4_K_XL", "qwen3-30b-a3b"),
        ("Meta-Llama-3.1-8B-Instruct-Q8_0.gguf", "llama-3.1-8b"),
    ],
)
def test_a_file_or_tag_with_its_quantization_is_told_the_model(written: str, model: str) -> None:
    with pytest.raises(UnknownName) as error:
        Catalog.load(user_folder=False).model(written)
    assert error.value.nearest == (model,)
    assert "--quant" in str(error.value)
