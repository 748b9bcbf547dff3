"""Submissions: experiments and trainings that are split into shards and played on other machines."""
