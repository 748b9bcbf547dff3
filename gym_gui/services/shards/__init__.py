"""Run folders of shards: their leases, and the one run that is made of them."""
