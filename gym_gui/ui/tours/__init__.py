"""Guided tours of a few steps on real data; each step ends when its condition is true."""
