"""Language models as agents: prompts, servers, parsing, budgets."""
