"""Worker that plays chess with a language model, in a dialogue for every move."""
