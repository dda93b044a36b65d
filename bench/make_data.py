"""Makes the benchmark session: one branch of any size, with tool output, thinking and compactions.

Deterministic. The shape follows what real sessions look like: most bytes are tool results of one to
ten kilobytes, a compaction every two thousand entries keeps the last sixty.
"""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

WORDS = (
    "function return import from const value file path test error line read write patch tree model "
    "token branch session entry reply prompt cache build check index node array string object class"
).split()


def make(path: Path, size: int, seed: int = 7) -> int:
    """Write a session file of about `size` bytes; gives the number of entries."""
    rng = random.Random(seed)
    pool = [_text(rng, n) for n in (8, 30, 90, 250, 700, 1800) for _ in range(12)]
    written = count = 0
    parent: str | None = None
    with path.open("w", encoding="utf-8") as out:

        def put(entry: dict[str, Any]) -> None:
            nonlocal written, count, parent
            stamp = 1_770_000_000_000 + count * 1000
            entry = {"type": entry.pop("type"), "id": f"{count:08x}", "parentId": parent,
                     "timestamp": _iso(stamp), **entry}  # fmt: skip
            if "message" in entry:
                entry["message"]["timestamp"] = stamp
            line = json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n"
            written += out.write(line)
            parent, count = entry["id"], count + 1

        header = {"type": "session", "version": 3, "id": "01a20000-0000-7000-8000-000000000001",
                  "timestamp": _iso(1_770_000_000_000), "cwd": "/home/dev/bench"}  # fmt: skip
        written += out.write(json.dumps(header, separators=(",", ":")) + "\n")
        put({"type": "model_change", "provider": "larch", "modelId": "larch-1"})
        while written < size:
            put(
                {
                    "type": "message",
                    "message": {"role": "user", "content": [_block(rng.choice(pool[:24]))]},
                }
            )
            for _ in range(rng.randrange(2, 12)):
                _turn(rng, pool, put, count)
                if count % 500 < 2 and count > 400:
                    put({"type": "compaction", "summary": rng.choice(pool[36:48]),
                         "firstKeptEntryId": f"{count - 60:08x}", "tokensBefore": 150_000})  # fmt: skip
    return count


def _turn(rng: random.Random, pool: list[str], put: Any, count: int) -> None:
    call = f"toolu_{count:06d}"
    reply = {"role": "assistant", "content": [
        {"type": "thinking", "thinking": rng.choice(pool[12:48]), "thinkingSignature": "c2lnbmVk" * 8},
        _block(rng.choice(pool[:24])),
        {"type": "toolCall", "id": call, "name": "read", "arguments": {"path": f"src/part_{count % 97}.py"}},
    ], "api": "anthropic-messages", "provider": "larch", "model": "larch-1", "usage": {
        "input": 900, "output": 120, "cacheRead": 40_000, "cacheWrite": 800, "totalTokens": 41_820,
        "cost": {"input": 0.0027, "output": 0.0018, "cacheRead": 0.012, "cacheWrite": 0.003, "total": 0.0195}},
        "stopReason": "toolUse"}  # fmt: skip
    put({"type": "message", "message": reply})
    result = {"role": "toolResult", "toolCallId": call, "toolName": "read",
              "content": [_block(rng.choice(pool[36:]))], "isError": False}  # fmt: skip
    put({"type": "message", "message": result})


def _text(rng: random.Random, words: int) -> str:
    chosen = rng.choices(WORDS, k=words)
    return "\n".join(" ".join(chosen[n : n + 12]) + " — “ok”" for n in range(0, words, 12))


def _block(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _iso(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{milliseconds % 1000:03d}Z"
