"""Qt objects for live sessions: operators, their playback and their recording."""
