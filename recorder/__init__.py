"""Records real sessions of the real Pi against a scripted server on loopback.

Run as ``python -m recorder``; README.md says what a recording is and how to add a scenario.
Nothing here is part of the installed package.
"""
