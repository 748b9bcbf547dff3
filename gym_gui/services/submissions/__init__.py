"""Experiments that are played on other machines: cut into shards, sent, followed, collected."""
