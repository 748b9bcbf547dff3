"""Widgets for language models and agent programs: server settings, model calls with their replies, and
prompts.
"""
