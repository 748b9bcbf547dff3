"""A tiny Llama with random weights as a GGUF file, for llama.cpp's server.

The file is written here, format and all (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md): the
library for it is not needed for one model of a megabyte. The weights are always the same.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

_WIDTH, _HEADS, _INNER, _LAYERS, _CONTEXT = 64, 4, 128, 2, 8192
_ALIGNMENT: Final = 32
_UINT32, _FLOAT32, _BOOL, _STRING, _ARRAY, _INT32 = 4, 6, 7, 8, 9, 5
_NORMAL, _UNKNOWN, _CONTROL, _BYTE = 1, 2, 3, 6
_WORDS: Final = (
    *("action", "left", "right", "up", "down", "forward", "noop", "say", "the", "is", "You", "are"),
    *("agent", "goal", "ball", "one", "of", "to", "and", "in", "a"),
)
_TEMPLATE: Final = (
    "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def write_tiny_llama(path: Path) -> Path:
    """Write the model to ``path``."""
    tokens, scores, kinds = _vocabulary()
    known: dict[str, tuple[int, Any]] = {
        "general.architecture": (_STRING, "llama"),
        "general.name": (_STRING, "tiny-llama"),
        "general.alignment": (_UINT32, _ALIGNMENT),
        "llama.context_length": (_UINT32, _CONTEXT),
        "llama.embedding_length": (_UINT32, _WIDTH),
        "llama.feed_forward_length": (_UINT32, _INNER),
        "llama.block_count": (_UINT32, _LAYERS),
        "llama.attention.head_count": (_UINT32, _HEADS),
        "llama.attention.head_count_kv": (_UINT32, _HEADS),
        "llama.attention.layer_norm_rms_epsilon": (_FLOAT32, 1e-5),
        "llama.rope.dimension_count": (_UINT32, _WIDTH // _HEADS),
        "llama.vocab_size": (_UINT32, len(tokens)),
        "tokenizer.ggml.model": (_STRING, "llama"),
        "tokenizer.ggml.tokens": (_ARRAY, (_STRING, tokens)),
        "tokenizer.ggml.scores": (_ARRAY, (_FLOAT32, scores)),
        "tokenizer.ggml.token_type": (_ARRAY, (_INT32, kinds)),
        "tokenizer.ggml.unknown_token_id": (_UINT32, 0),
        "tokenizer.ggml.bos_token_id": (_UINT32, 1),
        "tokenizer.ggml.eos_token_id": (_UINT32, 2),
        "tokenizer.ggml.add_bos_token": (_BOOL, True),
        "tokenizer.chat_template": (_STRING, _TEMPLATE),
    }
    weights = _weights(len(tokens))
    head = b"GGUF" + struct.pack("<IQQ", 3, len(weights), len(known))
    head += b"".join(_text(key) + _typed(kind, value) for key, (kind, value) in known.items())
    data = b""
    for name, array in weights.items():
        # The fastest dimension comes first.
        shape = struct.pack(f"<I{array.ndim}Q", array.ndim, *reversed(array.shape))
        head += _text(name) + shape + struct.pack("<IQ", 0, len(data))
        data += _padded(array.tobytes())
    path.write_bytes(_padded(head) + data)
    return path


def _vocabulary() -> tuple[list[str], list[float], list[int]]:
    """Marks, all bytes, printable ASCII and some words, as SentencePiece would have them."""
    letters = [chr(code) for code in range(33, 127)] + ["\u2581"]
    # A word is put together from its beginnings, each of which must be a token.
    parts = {f"\u2581{word}"[:end] for word in _WORDS for end in range(2, len(word) + 2)}
    pieces = letters + sorted(parts, key=lambda part: (len(part), part))
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{code:02X}>" for code in range(256)), *pieces]
    scores = [0.0] * 259 + [float(len(piece)) if len(piece) > 1 else -100.0 for piece in pieces]
    kinds = [_UNKNOWN, _CONTROL, _CONTROL, *[_BYTE] * 256, *[_NORMAL] * len(pieces)]
    return tokens, scores, kinds


def _weights(words: int) -> dict[str, np.ndarray[Any, np.dtype[np.float32]]]:
    random = np.random.default_rng(0)

    def drawn(*shape: int) -> np.ndarray[Any, np.dtype[np.float32]]:
        return (random.standard_normal(shape) / shape[-1] ** 0.5).astype(np.float32)

    one = np.ones(_WIDTH, np.float32)
    weights = {
        "token_embd.weight": drawn(words, _WIDTH),
        "output_norm.weight": one,
        "output.weight": drawn(words, _WIDTH),
    }
    for layer in range(_LAYERS):
        block = f"blk.{layer}"
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            weights[f"{block}.{name}.weight"] = drawn(_WIDTH, _WIDTH)
        weights[f"{block}.attn_norm.weight"] = weights[f"{block}.ffn_norm.weight"] = one
        weights[f"{block}.ffn_gate.weight"] = drawn(_INNER, _WIDTH)
        weights[f"{block}.ffn_up.weight"] = drawn(_INNER, _WIDTH)
        weights[f"{block}.ffn_down.weight"] = drawn(_WIDTH, _INNER)
    return weights


def _text(text: str) -> bytes:
    content = text.encode()
    return struct.pack("<Q", len(content)) + content


def _typed(kind: int, value: Any) -> bytes:
    return struct.pack("<I", kind) + _value(kind, value)


def _value(kind: int, value: Any) -> bytes:
    if kind == _STRING:
        return _text(value)
    if kind == _ARRAY:
        inner: int = value[0]
        entries: Sequence[Any] = value[1]
        return struct.pack("<IQ", inner, len(entries)) + b"".join(_value(inner, entry) for entry in entries)
    return struct.pack({_UINT32: "<I", _INT32: "<i", _FLOAT32: "<f", _BOOL: "<?"}[kind], value)


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % _ALIGNMENT)
