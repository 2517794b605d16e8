"""Strategies: shares that sum up, messages that are counted, refusals that name the fact."""

import pytest

from advisor import choose, ways
from advisor.around import slot_of
from advisor.bind import bind
from advisor.cache import cache_of
from advisor.catalog import Catalog
from advisor.need import Workload
from advisor.placement import Job, Placement, lay
from advisor.placement.experts import boxes_visited
from advisor.placement.layers import shared_out
from advisor.reason import Reason
from advisor.record import replace
from advisor.weights import weights_of


def job_of(catalog: Catalog, words: str, model: str, quant: str, **changes: object) -> Job:
    system = bind(words, catalog)
    engine = system.engine or catalog.engine("llama.cpp")
    way = ways.way_of(system, engine, catalog.model(model), catalog.quant(quant), "f16", catalog)
    assert isinstance(way, ways.Way), way
    weights = weights_of(catalog.model(model), way.quant, engine.id)
    cache = cache_of(catalog.model(model), "f16", engine)
    return Job(catalog.model(model), weights, cache, way.system, engine, way.backend, Workload(**changes))


def laid(catalog: Catalog, strategy: str, words: str, model: str, quant: str) -> Placement:
    found = lay(strategy, job_of(catalog, words, model, quant))
    assert isinstance(found, Placement), found
    return found


def refused(catalog: Catalog, strategy: str, words: str, model: str, quant: str) -> Reason:
    found = lay(strategy, job_of(catalog, words, model, quant))
    assert isinstance(found, Reason), found
    return found


def total(placement: Placement, share: str) -> float:
    return sum(getattr(part, share) * part.count for part in placement.parts)


@pytest.mark.parametrize(
    ("strategy", "words", "model", "quant"),
    [
        ("whole", "rtx-3090", "llama-3-8b", "q4_k_m"),
        ("layers", "2x rtx-3090", "llama-3-70b", "q4_k_m"),
        ("layers", "rtx-4090 + tesla-p40", "llama-3-70b", "q4_k_m"),
        ("layers", "7x rtx-3090", "llama-3-70b", "q4_k_m"),
        ("tensor", "4x rtx-3090 on vllm", "llama-3-70b", "awq-4bit"),
        ("layers", "2x (4x h100-sxm as tensor) via ib-ndr on vllm", "llama-3.1-405b", "fp8"),
        ("tensor", "2x (4x h100-sxm) via ib-ndr on vllm", "llama-3.1-405b", "fp8"),
    ],
)
def test_shares_sum_to_the_whole_model(catalog: Catalog, strategy: str, words: str, model: str, quant: str) -> None:
    placement = laid(catalog, strategy, words, model, quant)
    for share in ("dense_share", "expert_share", "head_share", "embedding_share", "compute_share"):
        assert total(placement, share) == pytest.approx(1), share


def test_replicas_hold_a_model_each_and_send_nothing(catalog: Catalog) -> None:
    placement = laid(catalog, "replicas", "3x rtx-3090", "llama-3-8b", "q4_k_m")
    assert (total(placement, "dense_share"), placement.groups, placement.messages) == (3, 3, ())
    assert placement.parts[0].user_share == pytest.approx(1 / 3)


def test_replicas_of_unlike_devices_share_users_by_bandwidth(catalog: Catalog) -> None:
    placement = laid(catalog, "replicas", "rtx-4090 + tesla-p40", "llama-3-8b", "q4_k_m")
    shares = [part.user_share for part in placement.parts]
    assert sum(shares) == pytest.approx(1)
    assert shares[0] / shares[1] == pytest.approx(1008 / 347, rel=0.02)  # datasheet GB/s of the two cards


def test_tensor_sends_two_all_reduces_a_layer(catalog: Catalog) -> None:
    placement = laid(catalog, "tensor", "4x rtx-3090 on vllm", "llama-3-70b", "awq-4bit")
    (message,) = placement.messages
    assert (message.kind, message.ranks, message.per_step) == ("all-reduce", 4, 2 * 80)
    assert message.bytes_per_token == 2 * 8192  # hidden size of Llama 3 70B at 16 bits


def test_tensor_over_boxes_reduces_inside_then_between(catalog: Catalog) -> None:
    placement = laid(catalog, "tensor", "2x (4x h100-sxm) via ib-ndr on vllm", "llama-3.1-405b", "fp8")
    assert [(m.link.id, m.ranks, m.boxes) for m in placement.messages] == [("nvlink4-nvswitch-h100", 4, 1), ("ib-ndr", 2, 2)]


def test_tensor_inside_layers_across(catalog: Catalog) -> None:
    placement = laid(catalog, "layers", "2x (4x h100-sxm as tensor) via ib-ndr on vllm", "llama-3.1-405b", "fp8")
    assert placement.stages == 2
    kinds = [(m.kind, m.link.id, m.per_step) for m in placement.messages]
    assert ("send", "ib-ndr", 1) in kinds
    assert sum(n for kind, _, n in kinds if kind == "all-reduce") == 2 * 126  # 126 layers, each in one of the stages


def test_layers_go_by_memory_and_stay_whole(catalog: Catalog) -> None:
    assert shared_out(80, [24, 24]) == [40, 40]
    assert shared_out(80, [24, 12]) == [53, 27]  # 53.3 and 26.7
    assert shared_out(32, [1, 1, 1, 1, 1, 1]) == [6, 6, 5, 5, 5, 5]
    assert shared_out(2, [1, 1, 1]) == [1, 1, 0]
    placement = laid(catalog, "layers", "rtx-5090 + rtx-3090", "llama-3-70b", "q4_k_m")
    assert placement.parts[0].layer_share == pytest.approx(46 / 80)  # 32 of 56 GB
    assert (placement.parts[0].embedding_share, placement.parts[1].head_share) == (1, 1)


def test_cache_by_heads_copied_beyond_them_and_whole_for_a_latent(catalog: Catalog) -> None:
    assert laid(catalog, "tensor", "4x rtx-3090 on vllm", "llama-3-70b", "awq-4bit").parts[0].cache_share == 1 / 4
    sixteen = laid(catalog, "tensor", "2x (8x h100-sxm) via ib-ndr on vllm", "llama-3-70b", "fp8")
    assert sixteen.parts[0].cache_share == 1 / 8  # 8 KV heads
    assert sixteen.reasons[0].code == "cache.heads-copied"
    latent = laid(catalog, "tensor", "8x h200-sxm on vllm", "deepseek-v3", "fp8")
    assert latent.parts[0].cache_share == 1
    assert latent.reasons[0].code == "cache.latent-copied"


def test_experts_over_two_boxes_exchange_between_them(catalog: Catalog) -> None:
    placement = lay("experts", job_of(catalog, "2x (8x h100-sxm) via ib-ndr on vllm", "qwen3-235b-a22b", "fp8"))
    assert isinstance(placement, Placement)
    assert [(each.kind, each.ranks) for each in placement.messages] == [("all-reduce", 8), ("all-to-all", 2)]
    # two boxes of one card each need no all-reduce
    apart = lay("experts", job_of(catalog, "2x (h100-sxm) via ib-ndr on vllm", "qwen3-30b-a3b", "fp8"))
    assert isinstance(apart, Placement)
    assert [(each.kind, each.ranks) for each in apart.messages] == [("all-to-all", 2)]


def test_copies_of_several_kinds_are_counted(catalog: Catalog) -> None:
    """Two cards of 936 and one of 1,008 GB/s: each has its share of the users, by how fast it reads the model."""
    placement = lay("replicas", job_of(catalog, "2x rtx-3090 + rtx-4090", "llama-3-8b", "q4_k_m"))
    assert isinstance(placement, Placement)
    slow, fast = (catalog.device(each).bandwidth_bytes_per_s for each in ("rtx-3090", "rtx-4090"))
    assert [(part.count, part.group) for part in placement.parts] == [(2, 0), (1, 1)]
    assert (placement.groups, placement.copies) == (3, (2, 1))
    assert [part.user_share for part in placement.parts] == pytest.approx([each / (2 * slow + fast) for each in (slow, fast)])


def test_what_fits_is_not_offloaded(catalog: Catalog) -> None:
    job = job_of(catalog, "rtx-3090", "llama-3-8b", "q4_k_m")
    found = lay("offload", replace(job, short_bytes=(0.0,)))
    assert isinstance(found, Reason)
    assert found.code == "offload.not-needed"


def test_experts_over_boxes_copy_attention_and_visit_few_boxes(catalog: Catalog) -> None:
    job = job_of(catalog, "8x (8x h100-sxm) via ib-ndr on vllm", "deepseek-v3", "fp8", users=64)
    placement = lay("experts", job)
    assert isinstance(placement, Placement)
    assert placement.parts[0].expert_share == 1 / 64
    assert placement.parts[0].dense_share == 1 / 8
    assert placement.parts[0].user_share == 1 / 8  # each box has its own
    assert placement.expert_ranks == 64
    assert boxes_visited(job, 8) == 4  # DeepSeek-V3: at most 4 of 8 groups
    # two all-reduces in each of 61 layers; to the experts and back in the 58 that have some, 7,168 numbers of two bytes to three boxes
    inside, between = placement.messages
    assert (inside.kind, inside.ranks, inside.per_step, inside.boxes) == ("all-reduce", 8, 122, 1)
    assert (inside.bytes_per_token, between.bytes_per_token) == (14336, 3 * 14336)
    assert (between.kind, between.ranks, between.per_step, between.boxes) == ("all-to-all", 8, 116, 8)
    assert "experts.node-limited" in [reason.code for reason in placement.reasons]


@pytest.mark.parametrize(
    ("strategy", "words", "model", "quant", "code", "fact"),
    [
        ("tensor", "3x rtx-3090 on vllm", "llama-3-8b", "awq-4bit", "placement.heads", ("heads", 32)),
        ("tensor", "3x rtx-3090 on vllm", "qwen3.6-27b", "awq-4bit", "placement.kv-heads", ("kv_heads", 4)),
        (
            "tensor",
            "8x mac-m3-ultra-80c 512gb via eth-10g-tcp on mlx",
            "qwen3-235b-a22b",
            "mlx-8bit",
            "placement.kv-heads",
            ("kv_heads", 4),
        ),
        ("tensor", "2x rtx-3090 on llama.cpp", "minimax-m2", "q4_k_m", "placement.architecture", ("architecture", "minimax-m2")),
        ("tensor", "2x rtx-3090 via eth-10g-tcp on llama.cpp", "llama-3-8b", "q4_k_m", "placement.not-between-boxes", ("boxes", 2)),
        ("tensor", "2x mac-m3-ultra-80c on llama.cpp", "llama-3-8b", "q4_k_m", "placement.engine-cannot-split", ("strategy", "tensor")),
        ("tensor", "20x rtx-3090 on llama.cpp", "llama-3-70b", "q4_k_m", "placement.most-devices", ("most_devices", 16)),
        ("whole", "2x rtx-3090", "llama-3-8b", "q4_k_m", "placement.whole-is-one", ("devices", 2)),
        # 32 heads do not divide by 3 cards inside a box either
        ("layers", "2x (3x rtx-3090 as tensor) via eth-10g-tcp on vllm", "llama-3-8b", "awq-4bit", "placement.heads", ("devices", 3)),
        ("tensor", "2x (4x h100-sxm as layers) via ib-ndr on vllm", "llama-3-8b", "awq-4bit", "placement.inside", ("inside", "layers")),
        ("layers", "2x (4x h100-sxm as replicas) via ib-ndr on vllm", "llama-3-8b", "fp8", "placement.inside", ("inside", "replicas")),
        (
            "layers",
            "(4x h100-sxm as tensor) + rtx-4090 via ib-ndr on vllm",
            "llama-3-70b",
            "fp8",
            "placement.unlike-boxes",
            ("most_devices", 4),
        ),
        ("experts", "2x rtx-3090 on vllm", "llama-3-8b", "awq-4bit", "placement.no-experts", ("model", "llama-3-8b")),
        (
            "offload",
            "ryzen-ai-max-395-128gb on llama.cpp",
            "deepseek-r1",
            "q4_k_m",
            "offload.unified-memory",
            ("device", "ryzen-ai-max-395-128gb"),
        ),
        (
            "tensor",
            "2x rtx-4090 + rx-7900-xtx on llama.cpp/vulkan",
            "llama-3-8b",
            "q4_k_m",
            "placement.engine-cannot-split",
            ("strategy", "tensor"),
        ),
    ],
)
def test_refusals_name_the_fact(
    catalog: Catalog, strategy: str, words: str, model: str, quant: str, code: str, fact: tuple[str, object]
) -> None:
    reason = refused(catalog, strategy, words, model, quant)
    assert reason.code == code
    assert reason.facts[fact[0]] == fact[1]


def test_offload_moves_experts_first_then_layers_then_to_disk(catalog: Catalog) -> None:
    from dataclasses import replace

    job = job_of(catalog, "rtx-5090", "qwen3-30b-a3b", "q8_0")
    weights = job.weights
    little = lay("offload", replace(job, short_bytes=(0.5 * weights.expert_bytes,), host_room_bytes=1e12))
    assert isinstance(little, Placement)
    assert little.parts[0].host_expert_share == pytest.approx(0.5)
    assert little.parts[0].host_dense_share == 0
    beside = job.cache.held_bytes(job.workload.context_tokens)  # a layer's cache goes with it
    short = weights.expert_bytes + 0.25 * (weights.dense_bytes + beside)
    much = lay("offload", replace(job, short_bytes=(short,), host_room_bytes=1e12))
    assert isinstance(much, Placement)
    part = much.parts[0]
    assert (part.host_expert_share, part.host_dense_share, part.host_cache_share) == pytest.approx((1, 0.25, 0.25))
    assert (part.layers, part.host_layers, part.host_expert_layers) == (48, 12, 36)  # 12 whole layers, of the other 36 the experts
    no_room = lay("offload", replace(job, short_bytes=(0.5 * weights.expert_bytes,), host_room_bytes=0.25 * weights.expert_bytes))
    assert isinstance(no_room, Placement)
    assert no_room.parts[0].disk_share == pytest.approx(0.25 * weights.expert_bytes / (weights.expert_bytes + weights.dense_bytes))
    assert "offload.disk" in [reason.code for reason in no_room.reasons]


def test_offload_moves_whole_layers_that_a_command_can_name(catalog: Catalog) -> None:
    from dataclasses import replace

    dense = lay("offload", replace(job_of(catalog, "2x rtx-3090", "llama-3.3-70b", "q8_0"), short_bytes=(0.0, 5e9), host_room_bytes=1e12))
    assert isinstance(dense, Placement)
    first, second = dense.parts
    assert (first.layers, first.host_layers, second.layers) == (40, 0, 40)
    # a layer of 70B at 8.5 bits is 0.91 GB with 34 MB of cache: six make up 5 GB
    assert (second.host_layers, dense.host_layers, dense.host_expert_layers) == (6, 6, 0)
    assert second.host_dense_share == pytest.approx(6 / 80)
    mixture = lay("offload", replace(job_of(catalog, "rx-6800", "gpt-oss-120b", "mxfp4"), short_bytes=(20e9,), host_room_bytes=1e12))
    assert isinstance(mixture, Placement)
    assert (mixture.host_layers, mixture.host_expert_layers) == (0, 12)  # 36 layers, 1.7 GB of experts each
    assert mixture.parts[0].host_expert_share == pytest.approx(12 / 36)


def test_every_refusal_has_its_words(catalog: Catalog) -> None:
    from advisor.refusals import REFUSALS, said
    from advisor.report.sentences import SENTENCES

    assert set(REFUSALS) <= set(SENTENCES)
    reason = refused(catalog, "tensor", "3x rtx-3090 on vllm", "llama-3-8b", "awq-4bit")
    assert said([reason, reason]) == "vllm needs the 32 attention heads to divide by the number of devices, 3"


@pytest.mark.parametrize(
    ("words", "host", "link"),
    [
        ("2x rtx-4090", "desktop-x8x8", "pcie-4-x8"),  # one x16 slot shared by two cards
        ("rtx-4090", "desktop-x8x8", None),
        ("2x rtx-4090", "desktop-x16-x4", "pcie-4-x4"),  # the second slot hangs on the chipset
        ("2x rtx-5060-ti-16gb", "epyc-sp5", "pcie-5-x8"),  # wired x8: stays so in an x16 slot
        ("2x rtx-5060-ti-16gb via pcie-5-x16", "epyc-sp5", "pcie-5-x8"),
        ("4x rtx-3090", "epyc-sp3", "pcie-4-x16"),  # a pair bridge is not what joins four
    ],
)
def test_slots_give_the_lanes_that_boards_have(catalog: Catalog, words: str, host: str, link: str | None) -> None:
    box = bind(words, catalog, host=catalog.host(host)).boxes[0]
    assert (box.link.id if box.link else None) == link


def test_whom_a_stop_stops(catalog: Catalog) -> None:
    def code(words: str) -> tuple[str, object]:
        work = Workload(users=8, context_tokens=2048)
        found = choose.best(bind(words, catalog), catalog.model("llama-3.3-70b"), "fp8", "f16", work, catalog)
        reason = next(reason for reason in found.reasons if reason.code.startswith("stops."))
        return reason.code, reason.facts.get("devices_each")

    assert code("4x h100-sxm as tensor on vllm") == ("stops.together", None)
    assert code("2x (4x h100-sxm as tensor) via ib-ndr as replicas on vllm") == ("stops.group", 4)
    assert code("2x (2x h100-sxm as tensor) via ib-ndr as replicas on vllm") == ("stops.group", 2)
    assert code("2x h200-sxm as replicas on vllm") == ("stops.alone", 1)


def test_a_box_that_cuts_its_layers_is_one_stage_beside_a_smaller_one(catalog: Catalog) -> None:
    placement = laid(catalog, "layers", "(4x h100-sxm as tensor) + (4x rtx-4090 as tensor) via ib-ndr on vllm", "llama-3-70b", "fp8")
    assert placement.stages == 2
    # four of 80 GB count as 320, four of 24 as 96: 80 layers × 96 / 416 = 18.5, so 18, and 62 cut in four
    assert [(part.count, part.stage, part.layer_share) for part in placement.parts] == [(4, 0, 62 / 80), (4, 1, 18 / 80)]
    assert placement.parts[0].dense_share == pytest.approx(62 / 80 / 4)
    assert [(m.kind, m.ranks, m.per_step) for m in placement.messages] == [("send", 2, 1), ("all-reduce", 4, 124), ("all-reduce", 4, 36)]


@pytest.mark.parametrize("end", ["", " as layers"])
def test_a_box_that_states_nothing_cuts_where_the_others_do_and_says_so(catalog: Catalog, end: str) -> None:
    """vLLM cuts every stage over as many ranks."""
    found = choose.best(
        bind(f"(2x rtx-3090 as tensor) + (2x rtx-3090){end} on vllm", catalog),
        catalog.model("llama-3-8b"),
        "awq-4bit",
        "f16",
        Workload(),
        catalog,
    )
    assert found.placement.stages == 2
    assert [(reason.code, reason.facts["boxes"]) for reason in found.warnings if reason.code.startswith("layers")] == [
        ("layers.cut-everywhere", 1)
    ]
    both = bind(f"2x (2x rtx-3090 as tensor){end} on vllm", catalog)
    alike = choose.best(both, catalog.model("llama-3-8b"), "awq-4bit", "f16", Workload(), catalog)
    assert alike.decode == found.decode
    assert not [reason for reason in alike.warnings if reason.code == "layers.cut-everywhere"]


@pytest.mark.parametrize("inside", ["replicas", "experts"])
def test_what_boxes_are_stated_to_do_inside_is_done(catalog: Catalog, inside: str) -> None:
    system = bind(f"2x (4x h100-sxm as {inside}) via ib-ndr on vllm", catalog)
    found = choose.best(system, catalog.model("qwen3-30b-a3b"), "fp8", "f16", Workload(), catalog)
    assert found.placement.strategy == inside


@pytest.mark.parametrize(
    ("boxes", "model", "quant", "visited"),
    [
        (2, "qwen3-235b-a22b", "fp8", 2 * (1 - 0.5**8)),  # 8 of 128 experts, each as likely in either box: 1.99
        (4, "qwen3-235b-a22b", "fp8", 4 * (1 - 0.75**8)),  # 3.60
        (8, "qwen3-235b-a22b", "fp8", 8 * (1 - 0.875**8)),  # as many boxes as chosen experts: 5.25
        (16, "qwen3-235b-a22b", "fp8", 8.0),  # 8 experts lie in 8 boxes at most
        (4, "deepseek-v3", "fp8", 4 * (1 - 0.75**8)),  # four of its eight groups: no fewer than there are boxes
        (8, "deepseek-v3", "fp8", 4.0),
    ],
)
def test_boxes_that_a_token_visits(catalog: Catalog, boxes: int, model: str, quant: str, visited: float) -> None:
    job = job_of(catalog, f"{boxes}x (8x h100-sxm) via ib-ndr on vllm", model, quant)
    assert boxes_visited(job, boxes) == pytest.approx(visited)


@pytest.mark.parametrize(("groups", "visited"), [(2, 1.0), (1, 4 * (1 - 0.75**8))])
def test_one_group_of_experts_is_no_choice_of_boxes(catalog: Catalog, groups: int, visited: float) -> None:
    """A token that may use one of two groups stays in one box of four; where all are one group, its 8 experts lie anywhere: 3.60."""
    job = job_of(catalog, "4x (8x h100-sxm) via ib-ndr on vllm", "qwen3-235b-a22b", "fp8")
    grouped = tuple(replace(each, expert_groups=groups, groups_per_token=1) for each in job.model.ffns)
    assert boxes_visited(replace(job, model=replace(job.model, ffns=grouped)), 4) == pytest.approx(visited)


@pytest.mark.parametrize(
    ("words", "link"),
    [
        ("2x rtx-3090 via nvlink", "pcie-4-x8"),  # the bridge joins the cards; host memory comes through their slots
        ("2x rtx-3090 via pcie-3-x1", "pcie-3-x1"),  # a riser is the slot
    ],
)
def test_what_host_memory_reaches_the_cards_over(catalog: Catalog, words: str, link: str) -> None:
    reached = slot_of(bind(words, catalog).boxes[0])
    assert reached
    assert reached.id == link


def test_unlike_cards_share_layers_only_where_the_engine_lets_them(catalog: Catalog) -> None:
    from dataclasses import replace

    for strategy in ("tensor", "layers"):
        job = job_of(catalog, "rtx-4090 + rtx-3090 on llama.cpp", "llama-3-8b", "q4_k_m")
        assert isinstance(lay(strategy, job), Placement)
        alike = lay(strategy, replace(job, engine=replace(job.engine, mixed_devices=(), mixed_makers=())))
        assert isinstance(alike, Reason)
        assert alike.code == "placement.unlike-devices"


@pytest.mark.parametrize(("engine", "quant", "fill"), [("vllm", "awq-4bit", 1.0), ("llama.cpp", "q4_k_m", 0.0)])
def test_users_fill_the_pipeline_where_the_engine_has_one(catalog: Catalog, engine: str, quant: str, fill: float) -> None:
    # vLLM keeps a batch in each stage; llama.cpp decodes one batch through all of them
    assert laid(catalog, "layers", f"2x rtx-3090 on {engine}", "llama-3-8b", quant).pipeline_fill == fill


def test_cards_of_two_makers_share_layers_only_where_the_engine_lets_them(catalog: Catalog) -> None:
    from dataclasses import replace

    job = job_of(catalog, "rtx-4090 + rx-7900-xtx on llama.cpp/vulkan", "llama-3-8b", "q4_k_m")
    assert isinstance(lay("layers", job), Placement)
    refusal = lay("layers", replace(job, engine=replace(job.engine, mixed_makers=())))
    assert isinstance(refusal, Reason)
    assert (refusal.code, refusal.facts["makers"]) == ("placement.makers", "amd, nvidia")


def test_experts_in_one_box_exchange_nothing_between_boxes(catalog: Catalog) -> None:
    placement = laid(catalog, "experts", "8x h100-sxm on vllm", "qwen3-235b-a22b", "fp8")
    assert [(m.kind, m.ranks, m.per_step) for m in placement.messages] == [("all-reduce", 8, 2 * 94)]  # 94 layers
