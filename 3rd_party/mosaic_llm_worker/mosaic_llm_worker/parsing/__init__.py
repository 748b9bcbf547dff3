"""From what a model writes to an action, or to the reason why there is none. Never a default."""

from mosaic_llm_worker.parsing.reading import Reader, Reading

__all__ = ["Reader", "Reading"]
