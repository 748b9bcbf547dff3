"""Vision-language models as agents: the language model worker with an image in every prompt."""
