"""The sentences of flips: the change that turns the verdict, and what it becomes."""

_SO_FAR = {
    "users-up": "With {users} users (up to {before_users} {still})",
    "users-down": "With only {users} users (from {before_users} {still})",
    "context-tokens-up": "With a context of {context_tokens} (up to {before_tokens} {still})",
    "context-tokens-down": "With only {context_tokens} of context (from {before_tokens} {still})",
    "min-tokens-per-s-up": "If {floor_tokens_per_s} are wanted (up to {before_tokens_per_s} {still})",
    "min-tokens-per-s-down": "If {floor_tokens_per_s} are enough (from {before_tokens_per_s} {still})",
}
_STILL = {  # how today's kind of answer goes on, where the system itself changes
    "keep": "you keep what you have",
    "change-settings": "settings are enough",
    "replicas": "it stays copies side by side",
    "second-gpu": "it stays two cards",
    "nvlink-pair": "it stays a bridged pair",
    "one-bigger-gpu": "it stays one GPU",
    "unified-memory-machine": "it stays one machine with unified memory",
    "rdma-cluster": "it stays a cluster over RDMA",
    "network-cluster": "it stays a cluster over the network",
    "multi-gpu-server": "it stays a server of several cards",
    "new-host": "it stays another computer for your cards",
    "more-memory": "it stays more memory in your computer",
    "nothing-fits": "nothing does",
}


_THEN = {
    "keep": "keep what you have ({per_user_tokens_per_s})",
    "change-offload": "keep a part of it in host memory ({per_user_tokens_per_s} each)",
    "change-layers-dealt": "put more of the layers on the faster of what you have ({per_user_tokens_per_s} each)",
    "change-tensor": "cut every layer over what you have ({per_user_tokens_per_s} each)",
    "change-layers": "share the layers out over what you have ({per_user_tokens_per_s} each)",
    "change-whole": "run it on {name} alone ({per_user_tokens_per_s} each)",
    "change-replicas": "run a copy on each of what you have ({per_user_tokens_per_s} each)",
    "change-experts": "share the experts out over what you have ({per_user_tokens_per_s} each)",
    "change-engine": "run it with {engine} ({per_user_tokens_per_s} each)",
    "change-quant": "take weights as {quant} ({per_user_tokens_per_s} each)",
    "change-quant-offload": "take weights as {quant} and a part of it in host memory ({per_user_tokens_per_s} each)",
    "change-kv-quant": "keep the cache as {kv_quant} ({per_user_tokens_per_s} each)",
    "change-kv-quant-offload": "keep the cache as {kv_quant} and a part of it in host memory ({per_user_tokens_per_s} each)",
    "change-context": "take a context of {context_tokens} ({per_user_tokens_per_s} each)",
    "change-context-offload": "take a context of {context_tokens} and a part of it in host memory ({per_user_tokens_per_s} each)",
    "change-raise-limit": "raise the memory limit of {name} ({per_user_tokens_per_s} each)",
    "replicas": "copies side by side: {setup} ({spend_usd}, {per_user_tokens_per_s} each)",
    "second-gpu": "two cards: {setup} ({spend_usd}, {per_user_tokens_per_s} each)",
    "nvlink-pair": "a bridged pair: {setup} ({spend_usd}, {per_user_tokens_per_s} each)",
    "one-bigger-gpu": "one GPU: {setup} ({spend_usd}, {per_user_tokens_per_s} each)",
    "unified-memory-machine": "one machine with unified memory: {setup} ({spend_usd}, {per_user_tokens_per_s} each)",
    "rdma-cluster": "a cluster over RDMA: {setup} ({spend_usd}, {per_user_tokens_per_s} each)",
    "network-cluster": "a cluster over the network: {setup} ({spend_usd}, {per_user_tokens_per_s} each)",
    "multi-gpu-server": "a server of several cards: {setup} ({spend_usd}, {per_user_tokens_per_s} each)",
    "new-host": "your {setup} ({spend_usd}, {per_user_tokens_per_s} each)",
    "more-memory": "your {setup} ({spend_usd}, {per_user_tokens_per_s} each)",
    "nothing": "nothing meets the need",
    "nothing-among": "none of those that you named meets the need",
    "nothing-considered": "nothing of the kinds that you consider meets the need",
}


def _so_far() -> dict[str, str]:
    """From where on the answer is of another kind."""
    return {f"flip.{code}-still-{kind}": text.replace("{still}", still) for code, text in _SO_FAR.items() for kind, still in _STILL.items()}


FLIPS: dict[str, str] = {
    "flip.users-up": "With {users} users (as above up to {before_users})",
    "flip.users-down": "With only {users} users (as above from {before_users})",
    "flip.context-tokens-up": "With a context of {context_tokens} (as above up to {before_tokens})",
    "flip.context-tokens-down": "With only {context_tokens} of context (as above from {before_tokens})",
    "flip.min-tokens-per-s-up": "If {floor_tokens_per_s} are wanted (as above up to {before_tokens_per_s})",
    "flip.min-tokens-per-s-down": "If {floor_tokens_per_s} are enough (as above from {before_tokens_per_s})",
    **_so_far(),
    "flip.budget-usd-up": "With {budget_usd}",
    "flip.budget-usd-down": "With only {budget_usd}",
    "flip.price-usd-up": "If {name} costs {price_usd} (now {now_usd})",
    "flip.price-usd-down": "If {name} costs only {price_usd} (now {now_usd})",
    "flip.quant": "With weights as {quant}",
    "flip.kv-quant": "With the cache as {kv_quant}",
    "flip.consider": "With every kind of system considered",
    "flip.among": "With any system, not only those named",
    "flip.model-larger": "For the larger {model}",
    "flip.model-smaller": "For the smaller {model}",
    **{f"flip.{kind}": text for kind, text in _THEN.items()},
}
