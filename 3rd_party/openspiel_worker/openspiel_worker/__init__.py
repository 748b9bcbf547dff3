"""Search and CFR by OpenSpiel as a worker."""
