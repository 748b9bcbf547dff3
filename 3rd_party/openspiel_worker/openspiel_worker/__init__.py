"""Worker that plays games by search and by CFR, with OpenSpiel."""
