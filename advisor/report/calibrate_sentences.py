"""Sentences of what `calibrate` says of a run, and of a local correction in an estimate."""

CALIBRATE = {
    "calibrate.aborted": "Refused: {said}.",
    "calibrate.no-speed": "Refused: no speed above zero was printed.",
    "calibrate.endless": "Refused: {measured_tokens_per_s} is no speed of a language model.",
    "calibrate.too-fast": "Refused: faster than the memory allows. A token reads {read_bytes}, so this needs {needed_bytes_per_s}; "
    "the memory gives {bandwidth_bytes_per_s}. Check --model and --quant; drafted tokens (speculative decoding) count more than once.",
    "calibrate.computes-too-fast": "Refused: faster than the chip computes. This needs {needed_flops} of at most {rate_flops}; part of "
    "the prompt was probably in the cache.",
    "calibrate.not-compared": "A server's {kind} figure: shown, not compared.",
    "calibrate.system": "The hardware is not in the file: say --system.",
    "calibrate.elsewhere": "Part of it ran on machines that the file does not name (RPC): say --system.",
    "calibrate.unbound": "“{words}” cannot be used here: {error}",
    "calibrate.model": "The model ({printed}) is not known: say --model.",
    "calibrate.quant": "The quantization ({printed}) is not known: say --quant.",
    "calibrate.prefill-at-depth": "Reading a prompt after {filled_tokens} tokens is not estimated.",
    "calibrate.unsupported": "No estimate: {error}",
    "calibrate.does-not-fit": "By the estimate it does not fit on {system}.",
    "calibrate.far": "{factor} of the estimate: probably another model, quantization, system or setting. Not used as a correction.",
    "calibrate.engine": "The engine is not in the file: say it in --system (… on vllm). Not used as a correction.",
    "calibrate.speculative": "With speculative decoding: not used as a correction.",
    "calibrate.shown-only": "A {kind} figure: compared, not used as a correction.",
    "calibrate.short-prompt": "A prompt of {prompt_tokens} does not fill the chip (under {least_tokens}): not used as a correction.",
    "calibrate.short-answer": "Only {generate_tokens} generated: not used as a correction.",
    "calibration.unmeasured-engine": "The speed of {engine} on {devices} × {device} is only estimated: nothing of it is saved, and with "
    "{measured_engine} you measured {decode_factor} of the estimate there ({date}). Measure it too (`advisor calibrate --save`).",
    "calibration.unmeasured-devices": "The speed of {system} is only estimated: nothing of it is saved, and on {measured_devices} × "
    "{device} with {measured_engine} you measured {decode_factor} of the estimate ({date}).",
    "calibration.local": "Corrected by your own {rows} measured rows of {device} on {engine} ({date}): {decode_factor} of the "
    "estimated generation speed. `advisor calibrate --reset` drops the correction.",
    "calibration.local-prompts": "Corrected by your own {rows} measured rows of {device} on {engine} ({date}): {prefill_factor} of the "
    "estimated speed of reading a prompt. `advisor calibrate --reset` drops the correction.",
    "calibration.local-both": "Corrected by your own {rows} measured rows of {device} on {engine} ({date}): {decode_factor} of the "
    "estimated generation speed, {prefill_factor} of that of reading a prompt. `advisor calibrate --reset` drops the correction.",
}
