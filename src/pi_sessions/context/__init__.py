"""From a point in the tree to what the model was sent, stage by stage.

Each stage is a pure function over plain sequences and keeps, with every message, the line it came
from and what was done to it: `point` → `selection` → `projection` → `llm` → `replay` → `payload`,
and `explain` turns what they did into one verdict for every line. Nothing here opens a file.
"""
