"""``python tests/support/tiny_models.py ARGS…``: builds tiny random models, then is ``transformers ARGS…``.

Both in one process, because loading PyTorch takes longer than everything else here. The models are
saved where the server looks for downloaded ones (``HF_HOME``), so that it lists them; nothing is
downloaded. Their weights are random and always the same; what they say is nonsense made of the bytes
and syllables of :data:`CORPUS`.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

TEXT_MODEL = "mosaic/tiny-llama"
VISION_MODEL = "mosaic/tiny-llava"
ACTION_MODEL = "mosaic/tiny-babyai"
ACTIONS = ("turn left", "turn right", "go forward", "pick up", "drop", "toggle")
"""All that :data:`ACTION_MODEL` says, in one token each: BabyAI's actions, as BALROG calls them."""
USERS = "users.json"
"""File in ``HF_HOME`` with the ids of the processes that use the server."""
_LOOK_S = 5.0

CORPUS = (
    "You are an agent. Reply with ACTION: followed by the name of one action. I go left. I go right.",
    "forward left right pickup drop toggle done noop still up down north south east west stay pass fire",
    "ACTION: forward ACTION: left ACTION: right ACTION: pickup ACTION: drop ACTION: toggle ACTION: still",
    "e2e4 d2d4 g1f3 b1c3 e7e5 d7d5 g8f6 b8c6 e4 d4 Nf3 Nc3 e5 d5 Nf6 Nc6 O-O Qxd4 get_legal_moves make_move",
    'The ball is 2 steps ahead. The goal is to the left. {"action": "forward", "reason": "the way is free"}',
    "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20",
)
_ROLES = (
    "{% for m in messages %}{{ '<|' + m['role'] + '|>' }}"
    "{% if m['content'] is string %}{{ m['content'] }}"
    "{% else %}{% for part in m['content'] or [] %}"
    "{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endif %}{{ '<|end|>' }}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
_MARKS = ["<|end|>", "<|pad|>", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>", "<image>"]
_SIDE, _PATCH = 28, 14


def _folder(name: str) -> Path:
    """Where the server looks for a downloaded model of this name."""
    revision = "0" * 40
    cached = Path(os.environ["HF_HOME"]) / "hub" / f"models--{name.replace('/', '--')}"
    (cached / "refs").mkdir(parents=True)
    (cached / "refs" / "main").write_text(revision)
    folder = cached / "snapshots" / revision
    folder.mkdir(parents=True)
    return folder


def _tokenizer() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(models.BPE())
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=512, special_tokens=_MARKS, initial_alphabet=alphabet, show_progress=False
    )
    words.train_from_iterator(CORPUS, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=words,
        eos_token="<|end|>",
        pad_token="<|pad|>",
        chat_template=_ROLES,
        model_max_length=8192,
    )


def _llama(vocabulary: int) -> dict[str, Any]:
    return {
        "vocab_size": vocabulary,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "max_position_embeddings": 8192,
        "bos_token_id": None,
        "eos_token_id": 0,
        "pad_token_id": 1,
    }


def _save(model: Any, folder: Path) -> None:
    # A temperature means something only where the server samples; with 0 it does not.
    model.generation_config.update(do_sample=True, top_k=0, eos_token_id=0, pad_token_id=1)
    model.save_pretrained(folder)


def build_text_model() -> None:
    """A Llama of two layers."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    folder, tokenizer = _folder(TEXT_MODEL), _tokenizer()
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    _save(LlamaForCausalLM(LlamaConfig(**_llama(len(tokenizer)))), folder)


def build_action_model() -> None:
    """A Llama that knows no words but :data:`ACTIONS`, and says another with another prompt."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    folder, tokenizer = _folder(ACTION_MODEL), _tokenizer()
    tokenizer.add_tokens(list(ACTIONS))
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    model = LlamaForCausalLM(LlamaConfig(**_llama(len(tokenizer)), initializer_range=0.5))
    numbers = tokenizer.convert_tokens_to_ids(list(ACTIONS))
    with torch.no_grad():
        said = model.lm_head.weight[numbers].clone()
        model.lm_head.weight.zero_()
        model.lm_head.weight[numbers] = said
    _save(model, folder)


def build_vision_model() -> None:
    """A LLaVA: such a Llama behind a vision transformer of one layer."""
    import torch
    from transformers import (
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    folder, tokenizer = _folder(VISION_MODEL), _tokenizer()
    image = tokenizer.convert_tokens_to_ids("<image>")
    size = {"height": _SIDE, "width": _SIDE}
    pictures = CLIPImageProcessorPil(size={"shortest_edge": _SIDE}, crop_size=size)
    processor = LlavaProcessor(
        image_processor=pictures,
        tokenizer=tokenizer,
        patch_size=_PATCH,
        vision_feature_select_strategy="default",
        image_token="<image>",
        num_additional_image_tokens=1,
        chat_template=_ROLES,
    )
    processor.save_pretrained(folder)
    vision = CLIPVisionConfig(
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        image_size=_SIDE,
        patch_size=_PATCH,
        projection_dim=16,
    )
    torch.manual_seed(0)
    text = LlamaConfig(**_llama(len(tokenizer)))
    config = LlavaConfig(
        vision_config=vision, text_config=text, image_token_index=image, vision_feature_layer=-1
    )
    _save(LlavaForConditionalGeneration(config), folder)


def _end_without_users() -> None:
    """End this server once no process that uses it lives: tests that were killed cannot end it."""
    users = Path(os.environ["HF_HOME"]) / USERS
    while True:
        time.sleep(_LOOK_S)
        try:
            living = [pid for pid in json.loads(users.read_text()) if Path(f"/proc/{pid}").exists()]
        except OSError:
            living = []
        if not living:
            os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=_end_without_users, daemon=True).start()
    import torch

    torch.set_num_threads(1)
    build_text_model()
    build_action_model()
    build_vision_model()
    from transformers.cli.transformers import main

    sys.argv[0] = "transformers"
    main()
