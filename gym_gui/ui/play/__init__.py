"""Components of the Play page: the game, its players, their input, its moves and clocks."""
