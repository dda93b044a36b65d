"""Sessions as HTML: one renderer for the local page and for the exported file.

Whatever stands in a session file is hostile. Texts become markup in `markup` alone; all other
modules put elements together from its pieces, and the templates escape what they are given.
"""
