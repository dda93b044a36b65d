"""Putting sessions away."""
