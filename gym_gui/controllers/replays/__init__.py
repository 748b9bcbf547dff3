"""Uses recorded episodes again: as replays, films, datasets and programs."""
