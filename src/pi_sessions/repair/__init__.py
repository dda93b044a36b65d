"""Mending session files: what is wrong, what can be done, and doing it without losing a byte."""
