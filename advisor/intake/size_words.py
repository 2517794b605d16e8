"""A size in words – `70b`, `8x7b`, `30b-a3b` – as a model of the typical shape of that size, and saying so."""

import re

from advisor.feedforward import FeedForward
from advisor.mixer import Mixer
from advisor.model import Model
from advisor.price import Source
from advisor.record import dataclass, replace
from advisor.units import GIGA, MEGA, TERA
from advisor.yamlfile import given

UNITS = {"m": MEGA, "b": GIGA, "t": TERA}
DENSE = re.compile(r"(\d+(?:\.\d+)?)\s*([mbt])", re.ASCII)
ROUTED = re.compile(r"(\d+(?:\.\d+)?)\s*([mbt])[\s-]*a(\d+(?:\.\d+)?)\s*([mbt])", re.ASCII)
TIMES = re.compile(r"(\d+)\s*x\s*(\d+(?:\.\d+)?)\s*([mbt])", re.ASCII)
SMALLEST_PARAMS, LARGEST_PARAMS = 10 * MEGA, 10 * TERA
WIDTH_STEP = 64


@dataclass(frozen=True, kw_only=True)
class Body:
    """What a model of about so many billions of weights looks like around its feed-forward, as most makers build it."""

    params: float = given("params_b", GIGA, above=0)
    layers: int = given(least=1)
    hidden: int = given(least=1)
    heads: int = given(least=1)
    kv_heads: int = given(least=1)
    head_dim: int = given(least=1)
    vocabulary: int = given(least=1)
    tied: bool = given(default=False)
    after: str = given(default="")  # the models it is drawn after


@dataclass(frozen=True, kw_only=True, eq=False)
class Sizes:
    """The typical shapes that sizes in words stand for."""

    dense: tuple[Body, ...] = given()
    routed: tuple[Body, ...] = given()
    experts_per_token: int = given(least=1)  # of a mixture named by its totals: `30b-a3b`
    copied_experts_per_token: int = given(least=1)  # of a mixture of copies: `8x7b`
    max_context_tokens: int = given(above=0)
    latent_from_params: float = given("latent_from_params_b", GIGA)  # mixtures above this size cache a latent …
    latent: Mixer = given()  # … of these widths
    least_expert_share: float = given(above=0, most=1)  # of the active weights: below it the body is too wide for so few
    sources: tuple[Source, ...] = given()


def model(text: str, sizes: Sizes) -> Model | None:
    """The typical model of this size; None where the text is no size."""
    words = text.strip().lower()
    for pattern, build in ((TIMES, _times), (ROUTED, _routed), (DENSE, _dense)):
        match = pattern.fullmatch(words)
        if match:
            return build(match, words, sizes)
    return None


def _params(number: str, unit: str) -> float | None:
    params = float(number) * UNITS[unit]
    return params if SMALLEST_PARAMS <= params <= LARGEST_PARAMS else None


def _dense(match: re.Match[str], words: str, sizes: Sizes) -> Model | None:
    params = _params(match[1], match[2])
    return None if params is None else _dense_of(params, words, sizes)


def _dense_of(params: float, words: str, sizes: Sizes) -> Model:
    """The body of the nearest size, with as many layers as that takes, its feed-forward filled up to the asked size."""
    body = _nearest(sizes.dense, params)
    layers = max(1, round(body.layers * params / body.params))
    empty = _built(words, body, layers, sizes)
    width = (params - empty.decoder_params) / (3 * body.hidden * layers)
    ffn = FeedForward(kind="dense", layers=layers, width=_stepped(width))
    return _said(replace(empty, ffns=(ffn,)))


def _times(match: re.Match[str], words: str, sizes: Sizes) -> Model | None:
    """`8x7b`: every feed-forward of a 7B copied eight times, of which a token takes two [Mixtral]."""
    experts, params = int(match[1]), _params(match[2], match[3])
    if params is None or not 2 <= experts <= 1024:
        return None
    one = _dense_of(params, words, sizes)
    width = one.ffns[0].width
    ffn = FeedForward(kind="moe", layers=one.layers, experts=experts, experts_per_token=sizes.copied_experts_per_token, expert_width=width)
    return _said(replace(one, ffns=(ffn,), assumed=()))


def _routed(match: re.Match[str], words: str, sizes: Sizes) -> Model | None:
    """`30b-a3b`: as many experts as the ratio of all to active weights asks for, the body fixed."""
    params, active = _params(match[1], match[2]), _params(match[3], match[4])
    if params is None or active is None or active >= params:
        return None
    for body in sorted(sizes.routed, key=lambda each: abs(_distance(each, params))):
        empty = _built(words, body, body.layers, sizes, routed=True)
        spare_active = active - empty.active_params
        if spare_active >= sizes.least_expert_share * active:
            break
    else:
        return None
    chosen, spare = sizes.experts_per_token, params - empty.decoder_params
    experts = max(chosen + 1, round(chosen * spare / spare_active))
    width = _stepped(spare / (experts * 3 * body.hidden * body.layers))
    ffn = FeedForward(kind="moe", layers=body.layers, experts=experts, experts_per_token=chosen, expert_width=width)
    return _said(replace(empty, ffns=(ffn,), architecture="deepseek2" if params >= sizes.latent_from_params else "qwen3moe"))


def _distance(body: Body, params: float) -> float:
    """How far apart two sizes are: their ratio above 1."""
    return max(body.params / params, params / body.params)


def _nearest(bodies: tuple[Body, ...], params: float) -> Body:
    return min(bodies, key=lambda each: _distance(each, params))


def _stepped(width: float) -> int:
    return max(WIDTH_STEP, round(width / WIDTH_STEP) * WIDTH_STEP)


def _built(words: str, body: Body, layers: int, sizes: Sizes, *, routed: bool = False) -> Model:
    latent = routed and body.params >= sizes.latent_from_params
    full = Mixer(kind="full", layers=layers, heads=body.heads, kv_heads=body.kv_heads, head_dim=body.head_dim)
    mla = replace(sizes.latent, layers=layers, heads=body.heads)
    return Model(
        id=words.replace(" ", ""),
        name=f"{words.upper()} (typical shape)",
        architecture="llama",
        layers=layers,
        hidden_size=body.hidden,
        vocab_size=body.vocabulary,
        tied_embeddings=body.tied,
        max_context_tokens=sizes.max_context_tokens,
        mixers=(mla if latent else full,),
    )


def _said(built: Model) -> Model:
    """The model with what was assumed, in words."""
    moe = built.moe
    routed = f", {moe.experts} experts of which {moe.experts_per_token} work" if moe else ""
    shape = f"{built.layers} layers, {built.hidden_size} wide{routed}"
    return replace(built, assumed=(f"{built.id} is read as the typical model of that size: {shape}",))
