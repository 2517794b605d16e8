"""A model from the header of a GGUF file, split files too: its shape, and the exact bytes of its tensors.

The shape is told to the reader of config.json in that one's words, so both know the same families.
"""

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.errors import BadInput
from advisor.intake.gguf_bytes import Header, TensorInfo, read_header
from advisor.intake.gguf_words import File, config_of, layer_of
from advisor.intake.hf_config import model_of
from advisor.intake.hf_families import habits_of
from advisor.model import Model
from advisor.record import replace

if TYPE_CHECKING:
    from advisor.catalog import Catalog

PART = re.compile(r"(.*)-(\d{5})-of-(\d{5})\.gguf$", re.IGNORECASE)
TOLERANCE_SHARE = 0.003
NOT_MODELS = ("clip", "mmproj", "whisper", "bert", "nomic-bert")


def read(path: Path | str, catalog: "Catalog | None" = None) -> Model:
    """The model in a GGUF file; of a split one any part may be named."""
    file = _whole(Path(path))
    sizes = _block_sizes()
    habits, architecture = habits_of(catalog), file.fields.get("general.architecture")
    if not isinstance(architecture, str):
        raise BadInput(f"{path}: general.architecture: missing; is it the first part of a split model?")
    if architecture in NOT_MODELS:
        raise BadInput(f"{path}: holds {architecture!r}, not a language model; name the model's own .gguf file")
    model = model_of(config_of(file, architecture, habits), str(path), file.name, habits=habits)
    weights = [t for t in file.tensors if not _is_draft(t, model.layers)]
    total = float(sum(_bytes(t, sizes) for t in weights))
    counted = sum(t.elements for t in weights)
    assumed = tuple(each for each in model.assumed if "quantization" not in each)
    model = replace(model, architecture=architecture, native_quant=_quant(file), assumed=assumed, vision_params=0)
    if file.missing:
        missing = ", ".join(file.missing)
        return replace(model, assumed=(*assumed, f"parts {missing} are not there; sizes follow from the shape"))
    if counted and abs(model.decoder_params / counted - 1) > TOLERANCE_SHARE:
        model = replace(model, shape_unknown="the tensors of the file have other sizes", stated_params=counted)
    return replace(model, weights_bytes=total or None)


def in_folder(folder: Path) -> Path | None:
    """The model's GGUF file of a folder, of a split one the first part; None where it holds none or a config.json tells more."""
    if (folder / "config.json").is_file():
        return None
    files = sorted(each for each in folder.glob("*.gguf") if not each.name.lower().startswith("mmproj"))
    first = [each for each in files if (part := PART.match(each.name)) is None or int(part[2]) == 1] or files[:1]
    if len(first) > 1:
        raise BadInput(f"{folder}: holds {len(first)} models; name one of them: {', '.join(each.name for each in first[:6])}")
    return first[0] if first else None


def _whole(path: Path) -> File:
    """The first part's metadata and every part's tensors."""
    match = PART.match(path.name)
    if match is None:
        found = read_header(path)
        return File(path.stem.lower(), found.fields, found.lengths, tuple(found.tensors), ())
    stem, count = match[1], int(match[3])
    names = [f"{stem}-{i:05d}-of-{count:05d}.gguf" for i in range(1, min(count, 999) + 1)]
    there = [path.parent / name for name in names if (path.parent / name).is_file()]
    headers = [read_header(each) for each in there]
    first = headers[0] if headers else Header()
    tensors = tuple(t for each in headers for t in each.tensors)
    missing = tuple(name for name in names if not (path.parent / name).is_file())
    return File(stem.lower(), first.fields, first.lengths, tensors, missing)


def _block_sizes() -> dict[int, tuple[int, int, str]]:
    """By ggml type number: weights in a block, bytes of a block, name."""
    try:
        from gguf.constants import GGML_QUANT_SIZES
    except ImportError as error:
        raise BadInput('reading .gguf files needs the package gguf: pip install "advisor[gguf]" (or pip install gguf)') from error
    return {int(kind): (block, size, kind.name) for kind, (block, size) in GGML_QUANT_SIZES.items()}


def _bytes(tensor: TensorInfo, sizes: dict[int, tuple[int, int, str]]) -> float:
    block, size, _ = sizes.get(tensor.type_number, (1, 2, "F16"))
    return tensor.elements * size / block


def _is_draft(tensor: TensorInfo, layers: int) -> bool:
    """Whether it belongs to a draft layer behind the model's own."""
    layer = layer_of(tensor)
    return ".nextn." in tensor.name or (layer is not None and layer >= layers)


def _quant(file: File) -> str:
    """The quantization by the file type it states, dynamic mixes by their name; else by the type of most weights."""
    from gguf.constants import GGMLQuantizationType, LlamaFileType

    stated = file.fields.get("general.file_type")
    try:
        word = LlamaFileType(stated if isinstance(stated, int) else -1).name.removeprefix("MOSTLY_").removeprefix("ALL_").lower()
    except ValueError:
        word = "guessed"
    if word == "guessed":
        most = Counter[int]()
        for tensor in file.tensors:
            most[tensor.type_number] += tensor.elements
        word = GGMLQuantizationType(most.most_common(1)[0][0]).name.lower() if most else "f16"
    word = {"mxfp4_moe": "mxfp4", "q4_k": "q4_k_m", "q5_k": "q5_k_m", "q3_k": "q3_k_m"}.get(word, word)
    dynamic = re.search(r"ud-((?:i?q|tq)\d\w*)", file.name)
    return f"ud-{dynamic[1]}" if dynamic else word
