"""Sustained throughput: a closed loop of users, each of whom reads a prompt, gets an answer, and starts again."""

from advisor.step import Constants


def sustained_tokens_per_s(
    users: float, prompt_tokens: float, generate_tokens: float, prompt_s: float, step_s: float, constants: Constants
) -> float:
    """Generated tokens over time, all users together.

    In one round each of N users has its prompt read (`prompt_s` each, less what the engine hides behind generating) and takes
    part in g steps: N·g / (N·prompt + g·step) [closed loop; Agrawal et al., "Sarathi-Serve", 2024, for the hiding].
    """
    reading_s = users * prompt_s * constants.prompt_share if prompt_tokens else 0.0
    return users * generate_tokens / (reading_s + generate_tokens * step_s)
