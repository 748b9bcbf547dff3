"""Reads actions from the replies of models; if a reply has no clear action, returns the reason, never a
default.
"""

from mosaic_llm_worker.parsing.reading import Reader, Reading

__all__ = ["Reader", "Reading"]
