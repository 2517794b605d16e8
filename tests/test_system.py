"""SYSTEM words: read with positions, bound to records, printed so that they read the same."""

import pytest

from advisor.bind import bind
from advisor.catalog import Catalog
from advisor.errors import AdvisorError, BadValue, UnknownName, Unsupported
from advisor.system import BoxWords, GroupWords, parse, spec
from advisor.units import GIB


def test_groups_clauses_and_counts() -> None:
    words = parse("2x rtx-3090 + tesla-p40 via pcie-3-x8 as layers on llama.cpp/vulkan")
    assert words.members == (GroupWords(2, "rtx-3090", 0), GroupWords(1, "tesla-p40", 14))
    assert (words.link, words.strategy, words.engine, words.backend) == ("pcie-3-x8", "layers", "llama.cpp", "vulkan")


def test_names_as_tools_print_them_keep_their_brackets_and_plus_signs() -> None:
    assert parse("2x Apple M3 Ultra (80-core GPU) 512GB").members == (GroupWords(2, "Apple M3 Ultra (80-core GPU) 512GB", 0),)
    assert parse("AMD RYZEN AI MAX+ 395 + rtx-3090").members == (GroupWords(1, "AMD RYZEN AI MAX+ 395", 0), GroupWords(1, "rtx-3090", 24))


def test_brackets_nest_and_keep_their_own_link() -> None:
    box = parse("2x (4x h100-sxm via nvlink as tensor) via ib-ndr as layers").members[0]
    assert isinstance(box, BoxWords)
    assert (box.count, box.inside.link, box.inside.strategy) == (2, "nvlink", "tensor")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        ("2x", "character 1"),
        ("0x rtx-3090", "between 1"),
        ("-2x rtx-3090", "between 1"),
        ("99999999x rtx-3090", "between 1"),
        ("rtx-3090 + ", "character 12"),
        ("rtx-3090 via", "one name must follow 'via'"),
        ("rtx-3090 as pipeline", "did you mean layers?"),
        ("rtx-3090 as tensr", "did you mean tensor?"),
        ("rtx-3090 on vllm on mlx", "'on' is written twice"),
        ("2x (rtx-3090", "'(' without ')'"),
        ("rtx-3090)", "')' without '('"),
        ("rtx-3090 on /cuda", "ENGINE"),
        ("rtx-3090 via nvlink + rtx-4090", "groups ('+') stand before"),
        ("2x (rtx-3090 on vllm)", "one engine runs the whole system"),
    ],
)
def test_what_does_not_read_says_where(text: str, says: str) -> None:
    with pytest.raises(BadValue) as caught:
        parse(text)
    assert says in caught.value.message


SPECS = [
    "rtx-3090",
    "2x rtx-3090 via nvlink3-bridge-3090 as tensor on vllm",
    "rtx-4090 + tesla-p40 via pcie-3-x8 as layers on llama.cpp/cuda",
    "4x mac-m3-ultra-80c 512gb via thunderbolt-5-rdma as tensor on mlx",
    "2x (4x h100-sxm via nvlink4-nvswitch-h100) via ib-ndr as tensor",
    "2x (2x rtx-3090 via pcie-4-x8 as tensor) via eth-10g-tcp as layers on vllm/cuda",
    "2x rtx-3090 via eth-10g-tcp as layers",
    "2x dgx-spark via dgx-spark-connectx7 as replicas on vllm/cuda",
]


@pytest.mark.parametrize("words", SPECS)
def test_printed_words_bind_to_the_same_system(catalog: Catalog, words: str) -> None:
    system = bind(words, catalog)
    assert spec(system) == words
    assert bind(spec(system), catalog) == system


def test_boxes_and_cards(catalog: Catalog) -> None:
    macs, cards = bind("2x mac-m3-ultra-80c 512gb", catalog), bind("2x rtx-3090", catalog)
    assert (len(macs.boxes), macs.count, len(cards.boxes), cards.count) == (2, 2, 1, 2)
    assert macs.groups[0].memory_bytes == 512 * GIB
    assert len(bind("2x rtx-3090 via eth-10g-tcp", catalog).boxes) == 2  # a network joins two computers


def test_a_board_with_two_gpus_counts_twice_for_the_split_and_once_on_the_bill(catalog: Catalog) -> None:
    system = bind("2x arc-pro-b60-dual-48gb", catalog)
    assert (system.groups[0].count, system.count) == (2, 4)


def test_links_left_out(catalog: Catalog) -> None:
    assert bind("2x rtx-3090", catalog).boxes[0].link.id == "pcie-4-x8"  # two slots x8/x8 of the owned desktop; the card is PCIe 4
    assert bind("2x rtx-pro-6000-blackwell", catalog).boxes[0].link.id == "pcie-5-x8-p2p"  # its driver has peer access
    assert bind("8x h100-sxm", catalog).boxes[0].link.id == "nvlink4-nvswitch-h100"  # built in
    assert bind("2x mac-m3-ultra-80c on mlx", catalog).link.id == "thunderbolt-5-rdma"
    assert bind("2x mac-m4-10c on mlx", catalog).link.transport == "tcp"
    assert bind("rtx-3090", catalog).boxes[0].link is None


def test_link_words(catalog: Catalog) -> None:
    assert bind("2x rtx-3090 via nvlink", catalog).boxes[0].link.id == "nvlink3-bridge-3090"
    assert bind("2x mac-m3-ultra-80c via ethernet", catalog).link.id == "eth-10g-tcp"
    assert bind("2x mac-m3-ultra-80c via rdma", catalog).link.id == "thunderbolt-5-rdma"


@pytest.mark.parametrize(
    ("words", "adapters"),
    [
        ("2x mac-m3-ultra-80c via eth-10g-tcp", []),
        ("2x mac-m3-ultra-80c via eth-1g-tcp", []),  # a 10 GbE port also runs at 1
        ("2x mac-m3-ultra-80c via eth-25g-tcp", ["mac-m3-ultra-80c"]),  # 3.1 GB/s, over Thunderbolt
        ("mac-m3-ultra-80c + mac-m2-10c via eth-10g-tcp", ["mac-m2-10c"]),  # has 1 GbE
        ("2x dgx-spark via eth-200g-tcp", []),  # its ConnectX-7 is an Ethernet port
        ("2x rtx-3090 via eth-25g-tcp", []),  # a card in a slot
    ],
)
def test_an_ethernet_faster_than_the_built_in_port_needs_an_adapter(catalog: Catalog, words: str, adapters: list[str]) -> None:
    remarks = [remark for remark in bind(words, catalog).remarks if remark.code == "link.needs-adapter"]
    assert [remark.facts["device"] for remark in remarks] == adapters


def test_a_card_wired_x8_stays_x8(catalog: Catalog) -> None:
    system = bind("2x rtx-5060-ti-16gb via pcie-5-x16", catalog)
    assert system.boxes[0].link.id == "pcie-5-x8"
    assert [remark.code for remark in system.remarks] == ["link.card-wired"]


def test_peer_access_on_geforce_is_taken_as_stated_with_a_remark(catalog: Catalog) -> None:
    system = bind("2x rtx-4090 via pcie-4-x16-p2p", catalog)
    assert system.boxes[0].link.id == "pcie-4-x16-p2p"
    assert "link.peer-needs-patch" in [remark.code for remark in system.remarks]


def test_a_stated_host_that_cannot_give_the_link_is_said(catalog: Catalog) -> None:
    system = bind("2x rtx-3090 via pcie-4-x16", catalog, host=catalog.host("desktop-x8x8"))
    assert "link.host-cannot" in [remark.code for remark in system.remarks]


def test_a_board_x16_and_x4(catalog: Catalog) -> None:
    assert bind("2x rtx-3090", catalog, host=catalog.host("desktop-x16-x4")).boxes[0].link.id == "pcie-4-x4"


@pytest.mark.parametrize(
    ("words", "error", "says"),
    [
        ("2x rtx-4090 via nvlink", Unsupported, "no NVLink"),
        ("4x rtx-3090 via nvlink", Unsupported, "joins 2 cards, not 4"),
        ("4x rtx-3090 via nvlink3-bridge-3090", Unsupported, "at most 2 cards"),
        ("2x rtx-4090 via nvlink3-bridge-3090", Unsupported, "is not on rtx-4090"),
        ("rtx-3090 via eth-10g-tcp", Unsupported, "one box"),
        ("2x mac-m3-ultra-80c via pcie", Unsupported, "inside one box"),
        ("2x mac-m3-ultra-80c via pcie-4-x16", Unsupported, "inside one box"),
        ("2x mac-m3-ultra-80c via eth-400g-roce", Unsupported, "RDMA over thunderbolt only"),
        ("mac-m3-ultra-80c + mac-m2-ultra-76c via ib-ndr", Unsupported, "RDMA over thunderbolt only"),
        ("2x mac-m4-10c via rdma", Unsupported, "no rdma link"),
        ("2x mac-m3-ultra-80c via eth-100g-tcp", Unsupported, "fastest port is slower"),  # 12.5 GB/s; Thunderbolt 5 carries 10
        ("2x jetson-orin-nano-8gb via eth-10g-tcp", Unsupported, "it has eth-1g-tcp"),  # no port for an adapter
        ("2x mac-m2-ultra-76c via thunderbolt-5-rdma", Unsupported, "is not on mac-m2-ultra-76c"),
        ("9x mac-m3-ultra-80c via thunderbolt-5-rdma", Unsupported, "a cable between every two"),
        ("6x mac-m3-ultra-80c via rdma", Unsupported, "joins at most 4"),
        ("2x (2x mac-m3-ultra-80c) via eth-10g-tcp", Unsupported, "one computer"),
        ("rtx-3090 on llama.cpp/cudaa", UnknownName, "cuda"),
        ("rtx-3099", UnknownName, "rtx-3090"),
        ("rtx-3090 on vlm", UnknownName, "vllm"),
    ],
)
def test_contradictions_and_unknown_names_are_refused(catalog: Catalog, words: str, error: type[AdvisorError], says: str) -> None:
    with pytest.raises(error) as caught:
        bind(words, catalog)
    assert says in caught.value.message
    assert caught.value.exit_code == 2


def test_brackets_do_not_multiply_beyond_the_limit(catalog: Catalog) -> None:
    with pytest.raises(BadValue) as caught:
        bind("10000x (10000x rtx-3090) via ib-ndr", catalog)
    assert "100000000 devices" in caught.value.message


def test_memory_left_out(catalog: Catalog) -> None:
    assert bind("mac-m3-ultra-80c", catalog).groups[0].memory_bytes == 512 * GIB
    assert bind("mac-m3-ultra-80c", catalog, smallest_memory=True).groups[0].memory_bytes == 96 * GIB
    assert bind("mac-m3-ultra-80c", catalog).remarks[0].code == "system.memory-assumed"
    owned = bind("mac-m3-ultra-80c", catalog, smallest_memory=True).remarks[0]  # of what is owned the least is taken, aloud
    assert (owned.code, owned.facts["memory_bytes"], owned.facts["smallest"]) == ("system.memory-assumed", 96 * GIB, True)
    assert bind("mac-m3-ultra-80c 512gb", catalog, smallest_memory=True).remarks == ()


@pytest.mark.parametrize("text", ["rtx-3090 -0gb", "2x rtx-3090 -24gb", "2x (2x rtx-3090 -1gb) via eth-10g-tcp"])
def test_nothing_is_negative(text: str) -> None:
    with pytest.raises(BadValue, match="negative"):
        parse(text)


def test_no_memory_is_no_size(catalog: Catalog) -> None:
    with pytest.raises(UnknownName, match="not 0"):
        bind("rtx-3090 0gb", catalog)
