"""A CLIP model of some kilobytes with random weights, always the same, saved as people have theirs."""

from __future__ import annotations

import json
from pathlib import Path

SIDE = 28


def build_clip(folder: Path) -> Path:
    """Write config, weights, tokenizer and picture processor to a new folder."""
    import torch
    from tokenizers import pre_tokenizers
    from transformers import CLIPConfig, CLIPModel
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    folder.mkdir(parents=True)
    # The bytes, within a word and at its end; nothing is merged.
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    (folder / "vocab.json").write_text(json.dumps({token: i for i, token in enumerate(tokens)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    layer = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    begin, end = len(tokens) - 2, len(tokens) - 1
    text = {
        **layer,
        "vocab_size": len(tokens),
        "bos_token_id": begin,
        "eos_token_id": end,
        "pad_token_id": end,
    }
    vision = {**layer, "image_size": SIDE, "patch_size": 7}
    # Random weights of the usual size hardly tell pictures apart: these are larger.
    config = CLIPConfig(text_config=text, vision_config=vision, projection_dim=16, initializer_factor=4.0)
    torch.manual_seed(5)
    CLIPModel(config).save_pretrained(folder)
    size = {"height": SIDE, "width": SIDE}
    CLIPImageProcessorPil(size={"shortest_edge": SIDE}, crop_size=size).save_pretrained(folder)
    return folder
