"""GGUF headers: shape and exact bytes, split files, and nothing that breaks the reader."""

import contextlib
import struct
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from advisor.errors import AdvisorError
from advisor.intake.gguf_header import in_folder, read

F32, Q4_K, Q6_K = 0, 12, 14  # ggml type numbers
MOSTLY_Q4_K_M = 15


def text(word: str) -> bytes:
    raw = word.encode()
    return struct.pack("<Q", len(raw)) + raw


def pair(key: str, value: Any) -> bytes:
    if isinstance(value, str):
        return text(key) + struct.pack("<I", 8) + text(value)
    if isinstance(value, list) and isinstance(value[0], str):
        return text(key) + struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))
    if isinstance(value, list):
        return text(key) + struct.pack("<IIQ", 9, 5, len(value)) + struct.pack(f"<{len(value)}i", *value)
    return text(key) + struct.pack("<II", 4, value)


def gguf(fields: dict[str, Any], tensors: list[tuple[str, tuple[int, ...], int]]) -> bytes:
    """A header as llama.cpp writes it, without weights behind."""
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(fields)) + b"".join(pair(*each) for each in fields.items())
    for name, shape, kind in tensors:
        out += text(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape) + struct.pack("<IQ", kind, 0)
    return out


def llama_8b() -> tuple[dict[str, Any], list[tuple[str, tuple[int, ...], int]]]:
    """Llama 3.1 8B in Q4_K_M: half of attn_v and ffn_down in Q6_K, as llama-quantize chooses them."""
    fields = {
        "general.architecture": "llama",
        "general.file_type": MOSTLY_Q4_K_M,
        "llama.block_count": 32,
        "llama.embedding_length": 4096,
        "llama.attention.head_count": 32,
        "llama.attention.head_count_kv": 8,
        "llama.feed_forward_length": 14336,
        "llama.context_length": 131072,
        "tokenizer.ggml.tokens": ["word"] * 5000,
    }
    tensors = [("token_embd.weight", (4096, 128256), Q4_K), ("output.weight", (4096, 128256), Q6_K), ("output_norm.weight", (4096,), F32)]
    for i in range(32):
        more = Q6_K if i < 4 or i >= 28 or (i - 4) % 3 == 2 else Q4_K
        shapes = {"attn_q": (4096, 4096), "attn_k": (4096, 1024), "attn_output": (4096, 4096)}
        shapes |= {"ffn_gate": (4096, 14336), "ffn_up": (4096, 14336)}
        tensors += [(f"blk.{i}.{name}.weight", shape, Q4_K) for name, shape in shapes.items()]
        tensors += [(f"blk.{i}.attn_v.weight", (4096, 1024), more), (f"blk.{i}.ffn_down.weight", (14336, 4096), more)]
        tensors += [(f"blk.{i}.{name}.weight", (4096,), F32) for name in ("attn_norm", "ffn_norm")]
    return fields, tensors


def test_shape_and_bytes(tmp_path: Path) -> None:
    file = tmp_path / "Llama-3.1-8B-Q4_K_M.gguf"
    file.write_bytes(gguf(*llama_8b()))
    model = read(file)
    assert model.params == 8030261248
    assert (model.native_quant, model.architecture, model.kv_heads) == ("q4_k_m", "llama", 8)
    # llama.cpp prints 4.58 GiB (4.89 BPW)
    assert (model.weights_bytes or 0) / 1024**3 == pytest.approx(4.58, abs=0.005)
    assert model.assumed == ()


def test_split_files_and_a_missing_part(tmp_path: Path) -> None:
    fields, tensors = llama_8b()
    first, second = (tmp_path / f"m-0000{i}-of-00002.gguf" for i in (1, 2))
    first.write_bytes(gguf(fields, tensors[:150]))
    second.write_bytes(gguf({}, tensors[150:]))
    whole = tmp_path / "w.gguf"
    whole.write_bytes(gguf(fields, tensors))
    assert read(second).weights_bytes == read(first).weights_bytes == read(whole).weights_bytes
    second.unlink()
    cut = read(first)
    assert "m-00002-of-00002.gguf" in cut.assumed[0]
    assert cut.weights_bytes is None


def test_dynamic_mixes_by_their_name(tmp_path: Path) -> None:
    file = tmp_path / "Llama-3.1-8B-UD-Q4_K_XL.gguf"
    file.write_bytes(gguf(*llama_8b()))
    assert read(file).native_quant == "ud-q4_k_xl"


def test_other_shape_than_expected_keeps_the_counted_weights(tmp_path: Path) -> None:
    fields, tensors = llama_8b()
    file = tmp_path / "m.gguf"
    file.write_bytes(gguf(fields, [*tensors, ("blk.0.extra.weight", (4096, 100_000), Q4_K)]))
    assert read(file).params == pytest.approx(8030261248 + 4096 * 100_000, rel=1e-6)


def test_hybrid_layers_are_read_off_the_tensors(tmp_path: Path) -> None:
    fields = {
        "general.architecture": "qwen35",
        "qwen35.block_count": 4,
        "qwen35.embedding_length": 512,
        "qwen35.attention.head_count": 4,
        "qwen35.attention.head_count_kv": 2,
        "qwen35.attention.key_length": 128,
        "qwen35.feed_forward_length": 1024,
        "qwen35.ssm.inner_size": 1024,
        "qwen35.ssm.state_size": 128,
        "qwen35.ssm.time_step_rank": 8,
        "qwen35.ssm.group_count": 4,
        "qwen35.ssm.conv_kernel": 4,
        "qwen35.vocab_size": 1000,
    }
    tensors = [(f"blk.{i}.ssm_conv1d.weight", (4, 2048), F32) for i in range(3)] + [("blk.3.attn_q.weight", (512, 1024), Q4_K)]
    file = tmp_path / "m.gguf"
    file.write_bytes(gguf(fields, tensors))
    assert [(mixer.kind, mixer.layers) for mixer in read(file).mixers] == [("gated-deltanet", 3), ("full", 1)]


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "no GGUF file"),
        (b"PK\x03\x04" + b"\0" * 100, "does not begin with GGUF"),
        (b"GGUF" + struct.pack("<I", 99) + b"\0" * 100, "version 99"),
        (b"GGUF" + struct.pack("<IQQ", 3, 2**60, 2**60), "more than any model"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 2**62), "a name of"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("k") + struct.pack("<IIQ", 9, 8, 2**62), "ends too early"),
        (gguf({"general.architecture": "clip"}, []), "not a language model"),
        (gguf({"a": 1}, []), "general.architecture"),
        (gguf(*llama_8b())[:5000], "ends too early"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, raw: bytes, says: str) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(raw)
    with pytest.raises(AdvisorError, match=says):
        read(file)


def test_without_the_package_there_is_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(gguf(*llama_8b()))
    monkeypatch.setitem(sys.modules, "gguf", None)
    monkeypatch.setitem(sys.modules, "gguf.constants", None)
    with pytest.raises(AdvisorError, match=r"pip install .*gguf"):
        read(file)


SMALL = gguf({**llama_8b()[0], "llama.block_count": 1}, llama_8b()[1][:12])


@settings(max_examples=200, deadline=2000, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(st.integers(0, len(SMALL) - 1), st.binary(min_size=1, max_size=9), st.integers(0, len(SMALL)))
def test_no_mutation_breaks_the_reader(tmp_path: Path, at: int, noise: bytes, cut: int) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes((SMALL[:at] + noise + SMALL[at + len(noise) :])[: cut or None])
    with contextlib.suppress(AdvisorError):
        assert read(file).params >= 0


def test_layers_that_differ_in_heads_windows_and_widths(tmp_path: Path) -> None:
    """As Gemma 4 writes them: windows of 16 heads of 256, every sixth layer 4 heads of 512 on all tokens."""
    fields, tensors = llama_8b()
    slides = [int((i + 1) % 6 != 0) for i in range(32)]
    fields = {key.replace("llama.", "gemma4."): value for key, value in fields.items()} | {
        "general.architecture": "gemma4",
        "gemma4.attention.head_count_kv": [16 if each else 4 for each in slides],
        "gemma4.attention.key_length": 512,
        "gemma4.attention.value_length": 512,
        "gemma4.attention.key_length_swa": 256,
        "gemma4.attention.value_length_swa": 256,
        "gemma4.attention.sliding_window": 1024,
        "gemma4.attention.sliding_window_pattern": slides,
    }
    (tmp_path / "m.gguf").write_bytes(gguf(fields, tensors))
    found = {mixer.kind: (mixer.layers, mixer.kv_heads, mixer.head_dim, mixer.value_dim) for mixer in read(tmp_path / "m.gguf").mixers}
    assert found == {"sliding": (27, 16, 256, 256), "full": (5, 4, 512, 512)}


def test_layers_without_attention_keep_no_cache(tmp_path: Path) -> None:
    """Nemotron-NAS (`deci`): pruned layers have no attention at all."""
    fields, tensors = llama_8b()
    pruned = [each for each in tensors if not any(each[0].startswith(f"blk.{i}.attn_") and "norm" not in each[0] for i in (5, 9))]
    (tmp_path / "m.gguf").write_bytes(gguf(fields, pruned))
    mixers = {mixer.kind: mixer.layers for mixer in read(tmp_path / "m.gguf").mixers}
    assert mixers == {"full": 30, "none": 2}


def test_a_folder_with_one_model(tmp_path: Path) -> None:
    for name in ("m-Q4-00001-of-00002.gguf", "m-Q4-00002-of-00002.gguf", "mmproj-F16.gguf"):
        (tmp_path / name).touch()
    assert in_folder(tmp_path) == tmp_path / "m-Q4-00001-of-00002.gguf"
    (tmp_path / "m-Q8_0.gguf").touch()
    with pytest.raises(AdvisorError, match="holds 2 models.*m-Q8_0.gguf"):
        in_folder(tmp_path)
    (tmp_path / "config.json").touch()
    assert in_folder(tmp_path) is None
