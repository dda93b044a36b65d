"""Images of the user and of tools, then a model that takes none."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import TYPE_CHECKING

from recorder.steps import Call, reply

from .registry import scenario

if TYPE_CHECKING:
    from recorder.stage import Stage


def png(size: int, red: int, green: int, blue: int) -> bytes:
    """A small square of one colour."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + check

    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    rows = (b"\0" + bytes((red, green, blue)) * size) * size
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


APPLE = png(4, 200, 30, 40)
IMAGE = {"type": "image", "data": base64.b64encode(APPLE).decode(), "mimeType": "image/png"}
FILES: dict[str, str | bytes] = {"apple.png": APPLE, "pear.png": png(4, 150, 190, 60)}


def _images(stage: Stage) -> None:
    """An image of the user, two of tools in one reply, then the same for a text-only model."""
    provider = stage.setting.model.split("/")[0]
    stage.say("What is this?", reply("A red square."), images=[IMAGE])
    stage.say("And two at once?", reply("Two red squares."), images=[IMAGE, IMAGE])
    stage.say(
        "Look at both files.",
        reply(Call("read", {"path": "apple.png"}), Call("read", {"path": "pear.png"})),
        reply("One red, one green."),
    )
    stage.model(f"{provider}/{provider}-text")
    stage.say("Can you see them?", reply("No."))
    stage.say("And a new one?", reply("Neither."), images=[IMAGE])


for _api, _provider in (("chat", "birch"), ("anthropic", "larch"), ("responses", "cedar")):
    scenario(f"images-{_api}", model=f"{_provider}/{_provider}-1", files=FILES)(_images)
