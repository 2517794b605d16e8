"""A size in words – `70b`, `8x7b`, `30b-a3b` – as a model of the typical shape of that size, and saying so."""

import re

from advisor.feedforward import FeedForward
from advisor.mixer import Mixer
from advisor.model import Model
from advisor.record import dataclass, replace
from advisor.units import GIGA, MEGA, TERA

UNITS = {"m": MEGA, "b": GIGA, "t": TERA}
DENSE = re.compile(r"(\d+(?:\.\d+)?)\s*([mbt])", re.ASCII)
ROUTED = re.compile(r"(\d+(?:\.\d+)?)\s*([mbt])[\s-]*a(\d+(?:\.\d+)?)\s*([mbt])", re.ASCII)
TIMES = re.compile(r"(\d+)\s*x\s*(\d+(?:\.\d+)?)\s*([mbt])", re.ASCII)
SMALLEST_PARAMS, LARGEST_PARAMS = 10 * MEGA, 10 * TERA
WIDTH_STEP = 64
TYPICAL_CONTEXT_TOKENS = 131072
LATENT_FROM_PARAMS = 500 * GIGA  # mixtures above this size cache a latent
CHOSEN_EXPERTS = 8
LEAST_EXPERT_SHARE = 0.2  # of the active weights: below it the body is too wide for so few


@dataclass(frozen=True)
class Body:
    """What a model of about so many billions of weights looks like around its feed-forward, as most makers build it."""

    billions: float
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    vocabulary: int
    tied: bool = False

    @property
    def params(self) -> float:
        """Weights."""
        return self.billions * GIGA


# After SmolLM2, Qwen2.5, Llama 3, Mistral, Gemma, Qwen3 and Command models of these sizes.
DENSE_BODIES = (
    Body(0.135, 30, 576, 9, 3, 64, 49152, True),
    Body(0.5, 24, 896, 14, 2, 64, 151936, True),
    Body(1.2, 16, 2048, 32, 8, 64, 128256, True),
    Body(1.7, 28, 2048, 16, 8, 128, 151936, True),
    Body(3.2, 28, 3072, 24, 8, 128, 128256, True),
    Body(4, 36, 2560, 32, 8, 128, 151936, True),
    Body(7, 32, 4096, 32, 8, 128, 32768),
    Body(8, 32, 4096, 32, 8, 128, 128256),
    Body(12, 40, 5120, 32, 8, 128, 131072),
    Body(14, 40, 5120, 40, 8, 128, 151936),
    Body(24, 40, 5120, 32, 8, 128, 131072),
    Body(32, 64, 5120, 64, 8, 128, 151936),
    Body(70, 80, 8192, 64, 8, 128, 128256),
    Body(123, 88, 12288, 96, 8, 128, 32768),
    Body(405, 126, 16384, 128, 8, 128, 128256),
)
# After Qwen3, GLM-4.5, MiniMax, DeepSeek-V3 and Kimi K2.
ROUTED_BODIES = (
    Body(7, 16, 2048, 16, 16, 128, 50304),
    Body(16, 27, 2048, 16, 16, 128, 102400),
    Body(30, 48, 2048, 32, 4, 128, 151936),
    Body(110, 46, 4096, 96, 8, 128, 151552),
    Body(230, 94, 4096, 64, 4, 128, 151936),
    Body(350, 92, 5120, 96, 8, 128, 151552),
    Body(480, 62, 6144, 96, 8, 128, 151936),
    Body(670, 61, 7168, 128, 128, 128, 129280),
    Body(1000, 61, 7168, 64, 64, 128, 163840),
)


def model(text: str) -> Model | None:
    """The typical model of this size; None where the text is no size."""
    words = text.strip().lower()
    for pattern, build in ((TIMES, _times), (ROUTED, _routed), (DENSE, _dense)):
        match = pattern.fullmatch(words)
        if match:
            return build(match, words)
    return None


def _params(number: str, unit: str) -> float | None:
    params = float(number) * UNITS[unit]
    return params if SMALLEST_PARAMS <= params <= LARGEST_PARAMS else None


def _dense(match: re.Match[str], words: str) -> Model | None:
    params = _params(match[1], match[2])
    return None if params is None else _dense_of(params, words)


def _dense_of(params: float, words: str) -> Model:
    """The body of the nearest size, with as many layers as that takes, its feed-forward filled up to the asked size."""
    body = _nearest(DENSE_BODIES, params)
    layers = max(1, round(body.layers * params / body.params))
    empty = _built(words, body, layers, ())
    width = (params - empty.decoder_params) / (3 * body.hidden * layers)
    ffn = FeedForward(kind="dense", layers=layers, width=_stepped(width))
    return _said(replace(empty, ffns=(ffn,)))


def _times(match: re.Match[str], words: str) -> Model | None:
    """`8x7b`: every feed-forward of a 7B copied eight times, of which a token takes two [Mixtral]."""
    experts, params = int(match[1]), _params(match[2], match[3])
    if params is None or not 2 <= experts <= 1024:
        return None
    one = _dense_of(params, words)
    width = one.ffns[0].width
    ffn = FeedForward(kind="moe", layers=one.layers, experts=experts, experts_per_token=2, expert_width=width)
    return _said(replace(one, ffns=(ffn,), assumed=()))


def _routed(match: re.Match[str], words: str) -> Model | None:
    """`30b-a3b`: as many experts as the ratio of all to active weights asks for, the body fixed."""
    params, active = _params(match[1], match[2]), _params(match[3], match[4])
    if params is None or active is None or active >= params:
        return None
    for body in sorted(ROUTED_BODIES, key=lambda each: abs(_distance(each, params))):
        empty = _built(words, body, body.layers, ())
        spare_active = active - empty.active_params
        if spare_active >= LEAST_EXPERT_SHARE * active:
            break
    else:
        return None
    spare = params - empty.decoder_params
    experts = max(CHOSEN_EXPERTS + 1, round(CHOSEN_EXPERTS * spare / spare_active))
    width = _stepped(spare / (experts * 3 * body.hidden * body.layers))
    ffn = FeedForward(kind="moe", layers=body.layers, experts=experts, experts_per_token=CHOSEN_EXPERTS, expert_width=width)
    return _said(replace(empty, ffns=(ffn,), architecture="deepseek2" if params >= LATENT_FROM_PARAMS else "qwen3moe"))


def _distance(body: Body, params: float) -> float:
    """How far apart two sizes are: their ratio above 1."""
    return max(body.params / params, params / body.params)


def _nearest(bodies: tuple[Body, ...], params: float) -> Body:
    return min(bodies, key=lambda each: _distance(each, params))


def _stepped(width: float) -> int:
    return max(WIDTH_STEP, round(width / WIDTH_STEP) * WIDTH_STEP)


def _built(words: str, body: Body, layers: int, ffns: tuple[FeedForward, ...]) -> Model:
    latent = body.params >= LATENT_FROM_PARAMS
    full = Mixer(kind="full", layers=layers, heads=body.heads, kv_heads=body.kv_heads, head_dim=body.head_dim)
    mla = Mixer(
        kind="mla",
        layers=layers,
        heads=body.heads,
        kv_heads=1,
        head_dim=192,
        v_head_dim=128,
        q_lora_rank=1536,
        kv_lora_rank=512,
        nope_dim=128,
        rope_dim=64,
    )
    return Model(
        id=words.replace(" ", ""),
        name=f"{words.upper()} (typical shape)",
        architecture="llama",
        layers=layers,
        hidden_size=body.hidden,
        vocab_size=body.vocabulary,
        tied_embeddings=body.tied,
        max_context_tokens=TYPICAL_CONTEXT_TOKENS,
        mixers=(mla if latent and body in ROUTED_BODIES else full,),
        ffns=ffns,
    )


def _said(built: Model) -> Model:
    """The model with what was assumed, in words."""
    moe = built.moe
    routed = f", {moe.experts} experts of which {moe.experts_per_token} work" if moe else ""
    shape = f"{built.layers} layers, {built.hidden_size} wide{routed}"
    return replace(built, assumed=(f"{built.id} is read as the typical model of that size: {shape}",))
