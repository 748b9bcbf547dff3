"""Commands about recorded runs: reported, exported, asked, played again."""
