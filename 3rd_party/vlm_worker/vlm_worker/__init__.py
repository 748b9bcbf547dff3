"""Vision-language models as agents: the language worker, with a picture in every prompt."""
