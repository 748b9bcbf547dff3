"""The one editor of files: programs, experiments, environments, policies, with what is wrong at its line."""
