"""Worker that plays actions by CLIP models."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from clip_worker.model import Clip, ModelError
from mosaic_worker.worker import Actions, Batch, Decision, Invalid, LoadError, PolicyFailed, Slot, Worker

ACTION: Final = "{action}"
CAPTION: Final = "a photo in which the agent should {action}"
MOST_ACTIONS: Final = 1000
"""Largest number of actions, because each caption must be embedded and distinguished from all others."""


class _Player:
    """A slot with its model and a caption for each action."""

    def __init__(self, slot: Slot) -> None:
        given = slot.settings
        if slot.action_space.kind != "Discrete":
            raise LoadError("CLIP needs discrete actions, but the slot's actions are not discrete")
        if not given.get("model"):
            raise LoadError("the setting model is missing: name the folder of a CLIP model")
        self.slot, self.meanings = slot, slot.action_meanings
        _require_few(len(self.meanings))
        self.caption, self.own = str(given.get("caption") or CAPTION), _own(given.get("captions"))
        if ACTION not in self.caption:
            raise LoadError(
                f"the caption {self.caption!r} has no {ACTION}: all actions would have the same caption"
            )
        self._check_own()
        folder = Path(str(given["model"])).expanduser()
        try:
            self.model = Clip(folder)
        except ModelError as error:
            raise LoadError(str(error)) from None
        self.name = f"clip:{folder.resolve().name}:{self.model.digest[:8]}"

    def _check_own(self) -> None:
        for word in self.own if self.meanings else ():
            if word not in self.meanings:
                near = difflib.get_close_matches(word, self.meanings, 1)
                raise LoadError(
                    f"captions has {word!r}, which is not an action of the slot; actions are "
                    f"{near[0] if near else ', '.join(self.meanings)}"
                )

    def decide(self, batch: Batch) -> Actions:
        """Choose actions for all pictures of a batch together."""
        answers: list[Any] = [Invalid("there was no image")] * len(batch)
        extras: list[dict[str, Any] | None] = [None] * len(batch)
        choices = [self._choices(decision) for decision in batch]
        seen = [i for i in range(len(batch)) if i < len(batch.images) and choices[i]]
        words = list(dict.fromkeys(word for i in seen for word in choices[i]))
        captions = [self.own.get(word) or self.caption.replace(ACTION, word) for word in words]
        pictures = [batch.images[i][0] for i in seen]
        logits = self.model.logits(pictures, captions) if seen else np.empty((0, 0))
        if not np.isfinite(logits).all():
            raise PolicyFailed("the model's output for these images is not a number")
        for row, i in enumerate(seen):
            own = logits[row, [words.index(word) for word in choices[i]]]
            answers[i] = list(choices[i].values())[int(own.argmax())]  # the first one of equally good actions
            scores = zip(choices[i], _softmax(own).tolist(), strict=True)
            extras[i] = {"scores": {word: round(score, 4) for word, score in scores}}
        return Actions(answers, extras=extras)

    def _choices(self, decision: Decision) -> dict[str, int]:
        """Return the legal actions by their words.

        Raises:
            PolicyFailed: The actions have no words, or there are too many.
        """
        if not decision.choices and not self.meanings:
            raise PolicyFailed("the slot's actions have no words to compare with an image")
        found = self.slot.legal_words(decision)
        _require_few(len(found), PolicyFailed)
        return found


def _own(captions: Any) -> Mapping[str, str]:
    if captions is None:
        return {}
    if not isinstance(captions, Mapping):
        raise LoadError('captions must be an object such as {"forward": "a free way ahead"}')
    own = cast("Mapping[Any, Any]", captions)
    for word, text in own.items():
        if not isinstance(text, str) or not text.strip():
            raise LoadError(f"captions: the caption of {str(word)!r} is {text!r:.40}, which is not text")
    return {str(word): text for word, text in own.items()}


def _require_few(actions: int, error: type[Exception] = LoadError) -> None:
    if actions > MOST_ACTIONS:
        raise error(f"there are {actions} actions, and CLIP is asked to tell at most {MOST_ACTIONS} apart")


def _softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


class ClipWorker(Worker):
    """Worker that plays the action whose caption fits the picture best; every slot has its own model."""

    inputs = ("image", "text")

    def __init__(self) -> None:
        self._players: dict[int, _Player] = {}

    def load(self, slot: Slot) -> str:
        player = self._players[slot.index] = _Player(slot)
        return player.name

    def select_actions(self, batch: Batch) -> Actions:
        return self._players[batch.slot.index].decide(batch)
