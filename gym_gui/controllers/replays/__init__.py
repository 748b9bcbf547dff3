"""Uses of recorded episodes: replays, films, datasets, demonstrations and programs."""
