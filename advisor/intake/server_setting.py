"""What the command line, or the `Namespace(…)` printed before a server benchmark's result, says of it."""

import re

from advisor.intake.readings import whole
from advisor.record import dataclass

_NAMED = re.compile(
    r"\b(model|batch_size|input_len|output_len|max_concurrency|tensor_parallel_size|quantization|backend|random_input_len|random_output_len|tp_size|model_path|kv_cache_dtype)=('[^']*'|\"[^\"]*\"|[\w.:/-]+)"
)
_FLAG = re.compile(
    r"--(model|model-path|max-concurrency|tensor-parallel-size|tp|tp-size|random-input(?:-len)?|random-output(?"
    r":-len)?|input-len|output-len|batch-size|quantization|kv-cache-dtype|dtype)[ =]+([\w.:/-]+)"
)


@dataclass(frozen=True)
class Setting:
    """What the command line or the Namespace printed before the result says."""

    model: str | None = None
    devices: int | None = None
    users: int | None = None
    prompt: int | None = None
    generate: int | None = None
    batch: int | None = None
    quant: str | None = None
    kv_quant: str | None = None
    engine: str | None = None


def setting_of(text: str) -> Setting:
    """Model, lengths and concurrency, from `Namespace(…)`, `ServerArgs(…)` or the command."""
    head = text[:200_000]
    said: dict[str, str] = {}
    for name, value in (*_NAMED.findall(head), *_FLAG.findall(head)):
        value = value.strip("'\"")
        if value not in ("None", "auto", ""):
            said.setdefault(name.replace("-", "_"), value)
    prompt = said.get("random_input_len") or said.get("random_input") or said.get("input_len")
    generate = said.get("random_output_len") or said.get("random_output") or said.get("output_len")
    model = said.get("model") or said.get("model_path")
    random = "dataset_name='random'" in head or "dataset-name random" in head or "input_len" in said
    return Setting(
        model=model.rstrip("/") if model else None,
        devices=whole(said.get("tensor_parallel_size") or said.get("tp_size") or said.get("tp")),
        users=whole(said.get("max_concurrency")),
        prompt=whole(prompt) if random else None,
        generate=whole(generate) if random else None,
        batch=whole(said.get("batch_size")),
        quant=said.get("quantization"),
        kv_quant=said.get("kv_cache_dtype"),
        engine="sglang"
        if re.search(r"sglang|sgl_", head, re.IGNORECASE)
        else ("tensorrt-llm" if "trtllm" in head or "TensorRT-LLM" in head else ("vllm" if "vllm" in head.lower() else None)),
    )
