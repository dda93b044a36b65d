"""A store and a cache to which everything happens that can happen."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from pi_sessions.index import Cache
from pi_sessions.testing import SessionBuilder, tool_call

STEPS = int(os.environ.get("PI_SESSIONS_INDEX_STEPS", "60"))
"""Changes in one test."""


WORDS = ("walrus", "Kelvin \u212a", "日本語の文", "a-b_c", "ſtraße", "x" * 70 + "needle" + "y" * 50)


def session(name: str, turns: int = 2) -> bytes:
    made = SessionBuilder()
    for turn in range(turns):
        made.user(f"{name} {turn}")
        made.assistant(
            f"the answer to {turn}, {WORDS[turn % len(WORDS)]}",
            calls=[tool_call("read", {"path": f"src/{name}_{turn}.py", "n": turn})],
        )
        made.tool_result("call-1", f"{WORDS[(turn + 3) % len(WORDS)]} in a result\n\tnext {name}")
    return made.data


def damage(path: Path, rnd: random.Random) -> None:
    data = bytearray(path.read_bytes())
    if rnd.random() < 0.3:
        del data[rnd.randrange(len(data) + 1) :]
    for _ in range(rnd.randrange(1, 20)):
        if data:
            data[rnd.randrange(len(data))] = rnd.randrange(256)
    path.write_bytes(data)


def operations(cache: Cache, rnd: random.Random) -> Iterator[str]:
    """Change the store and the cache at random, for ever; gives what was done."""
    root, folder, names = Path(cache.root), Path(cache.folder), count()
    while True:
        files = sorted(root.rglob("*.jsonl"))
        file = rnd.choice(files) if files else None
        done = rnd.choice(["new", "append", "append", "half", "rewrite", "delete", "rename", "odd",
                           "foreign", "damage", "drop", "nothing", "swap"])  # fmt: skip
        if done == "new" or file is None:
            place = rnd.choice([root, root / "--a--"])
            (place / f"{next(names)}.jsonl").write_bytes(session("walrus", rnd.randrange(4)))
        elif done == "append":
            lines = session("grown", rnd.randrange(1, 4)).split(b"\n", 1)[1]
            is_odd = rnd.random() < 0.1  # its ids are there already
            with file.open("ab") as out:
                out.write(lines if is_odd else lines.replace(b'"00000', b'"%05d' % next(names)))
        elif done == "half":
            with file.open("ab") as out:
                out.write(b'{"type":"message","id":"half')
        elif done == "rewrite":
            file.write_bytes(session("anew", rnd.randrange(5)))
        elif done == "delete":
            file.unlink()
        elif done == "rename":
            file.rename(file.with_name(f"{next(names)}.jsonl"))
        elif done == "swap":
            other = rnd.choice(files)
            if other != file:
                file.replace(other)
        elif done == "odd":
            with file.open("ab") as out:
                out.write(b"no JSON, walrus\n")
        elif done == "foreign":
            (root / f"{next(names)}.jsonl").write_bytes(b"walrus, but no session\n")
        elif done in ("damage", "drop"):
            for path in sorted(folder.glob("*.sqlite*")) if folder.exists() else ():
                if path.suffix != ".lock" and rnd.random() < 0.7:
                    if done == "drop":
                        path.unlink()
                    else:
                        damage(path, rnd)
        yield done
