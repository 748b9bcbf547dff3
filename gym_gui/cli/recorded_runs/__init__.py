"""Commands on recorded runs: report, export, query, replay, verify and others."""
