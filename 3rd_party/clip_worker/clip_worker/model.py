"""A CLIP model, which rates how well captions fit pictures (Radford et al. 2021, arXiv:2103.00020)."""

# What the library's decorators return has no types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from transformers import CLIPModel, CLIPTokenizer
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
from transformers.utils.logging import disable_progress_bar

from mosaic_worker.plain_files import check_file, open_file, read_file

CONFIG: Final = "config.json"
WEIGHTS: Final = "model.safetensors"
PICTURES: Final = "preprocessor_config.json"
_TOKENIZERS: Final = (("tokenizer.json",), ("vocab.json", "merges.txt"))
_AT_ONCE: Final = 64
"""Largest number of captions that are embedded together."""
_KEPT: Final = 10_000
"""Number of embedded captions above which the cache is cleared: some 20 MB."""


class ModelError(Exception):
    """A folder contains no usable CLIP model; the message is a sentence."""


class Clip:
    """A CLIP model in main memory, with a cache of embedded captions.

    Args:
        folder: Folder with ``config.json``, ``model.safetensors``, ``preprocessor_config.json`` and the
            tokenizer. Nothing is unpickled, no code in it is run, and nothing is downloaded.

    Attributes:
        digest: SHA-256 of the weights, hexadecimal.

    Raises:
        ModelError: The folder holds no such model.
    """

    def __init__(self, folder: Path) -> None:
        _check(folder)
        self.digest = _digest(folder / WEIGHTS)
        torch.set_num_threads(1)
        disable_progress_bar()
        model_type: Any = CLIPModel
        try:
            model, told = model_type.from_pretrained(
                folder,
                local_files_only=True,
                use_safetensors=True,
                dtype=torch.float32,
                output_loading_info=True,
            )
            self._tokenizer: Any = CLIPTokenizer.from_pretrained(folder, local_files_only=True)
            self._pictures: Any = CLIPImageProcessorPil.from_pretrained(folder, local_files_only=True)
        except Exception as error:  # the library raises errors of many types
            raise ModelError(f"{folder.name} cannot be loaded: {_first_line(error)}") from None
        if missing := sorted(told["missing_keys"]):
            raise ModelError(f"{WEIGHTS} of {folder.name} lacks {len(missing)} weights: {missing[0]}, …")
        self._model: Any = model.eval()
        self._captions: dict[str, torch.Tensor] = {}

    def logits(self, pictures: Sequence[bytes], captions: Sequence[str]) -> NDArray[np.float64]:
        """Return how well each caption fits each picture.

        Values are rounded to a hundredth: smaller differences depend on the number of pictures in a batch.

        Args:
            pictures: Encoded pictures, N of them.
            captions: M texts.

        Returns:
            (N, M), the scaled cosine similarities.
        """
        with torch.inference_mode():
            self._embed(captions)
            words = torch.stack([self._captions[each] for each in captions])
            frames = [Image.open(BytesIO(data)).convert("RGB") for data in pictures]
            pixels = self._pictures(images=frames, return_tensors="pt")["pixel_values"]
            seen = _unit(self._model.get_image_features(pixel_values=pixels).pooler_output)
            found = self._model.logit_scale.exp() * seen @ words.T
        return np.round(found.double().numpy(), 2)

    def _embed(self, captions: Sequence[str]) -> None:
        if len(self._captions) > _KEPT:  # in games with ever new words, the cache would grow without limit
            self._captions.clear()
        new = [each for each in dict.fromkeys(captions) if each not in self._captions]
        for start in range(0, len(new), _AT_ONCE):
            texts = new[start : start + _AT_ONCE]
            longest = self._model.config.text_config.max_position_embeddings
            tokens = self._tokenizer(
                texts, padding="max_length", truncation=True, max_length=longest, return_tensors="pt"
            )
            found = _unit(self._model.get_text_features(**tokens).pooler_output)
            self._captions.update(zip(texts, found, strict=True))


def _unit(features: torch.Tensor) -> torch.Tensor:
    return features / features.norm(dim=-1, keepdim=True)


def _check(folder: Path) -> None:
    """Check that a folder holds the files of a model, before the library opens anything in it.

    Raises:
        ModelError: A file is missing, is no plain file, or belongs to another kind of model.
    """
    if not folder.is_dir():
        raise ModelError(f"there is no folder {folder}")
    with _said(folder):
        kind = _kind(folder)
        if kind != "clip":
            raise ModelError(
                f"{folder.name} is not a CLIP model: its {CONFIG} has the model_type {kind or 'nothing'}"
            )
        if not (folder / WEIGHTS).exists():
            others = sorted(path.name for path in folder.glob("pytorch_model*.bin"))
            pickled = f"; {others[0]} is a pickle, which is never opened" if others else ""
            raise ModelError(f"{folder.name} has no {WEIGHTS}{pickled}")
        if not any(all((folder / name).exists() for name in names) for names in _TOKENIZERS):
            raise ModelError(f"{folder.name} has no tokenizer: tokenizer.json, or vocab.json and merges.txt")
        check_file(folder / PICTURES)
        for path in folder.glob("*.*"):
            if path.suffix in (".json", ".txt", ".safetensors"):
                check_file(path)


@contextmanager
def _said(folder: Path) -> Generator[None, None, None]:
    try:
        yield
    except FileNotFoundError as error:
        missing = Path(str(error.filename)).name
        raise ModelError(f"{folder.name} is not the folder of a CLIP model: it has no {missing}") from None
    except OSError as error:
        advice = "; save the model with hf download --local-dir, which makes no links"
        is_link = "link" in str(error.strerror)
        raise ModelError(f"{folder.name}: {error.strerror}{advice if is_link else ''}") from None


def _kind(folder: Path) -> str:
    """Return the model type in a model's configuration; empty without one."""
    try:
        found: Any = json.loads(read_file(folder / CONFIG))
    except ValueError:
        raise ModelError(f"{folder.name} is not a CLIP model: its {CONFIG} is not JSON") from None
    return str(cast("dict[str, Any]", found).get("model_type", "")) if isinstance(found, dict) else ""


def _digest(path: Path) -> str:
    with open_file(path) as file:
        content: Any = file  # a BinaryIO, which the library's stub does not take
        return hashlib.file_digest(content, "sha256").hexdigest()


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), "") or type(error).__name__
