"""Session hosts, processes that each run one session, and their clients."""
