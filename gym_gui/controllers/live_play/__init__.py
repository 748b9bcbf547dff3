"""An operator that is watched and played while it runs: its session, its episodes, its figures."""
