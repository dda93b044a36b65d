"""Messages of tests, told apart by a number."""

from __future__ import annotations

from typing import Any


def user(number: int = 0, text: str = "Name an apple.") -> dict[str, Any]:
    """Make a message of the user."""
    return {"role": "user", "content": f"{text} {number}", "timestamp": 1_790_000_000_000 + number}


def assistant(number: int = 0, text: str = "Cox.", **more: Any) -> dict[str, Any]:
    """Make a reply."""
    return {
        "role": "assistant",
        "content": [{"type": "text", "text": f"{text} {number}"}],
        "api": "openai-completions",
        "provider": "birch",
        "model": "birch-1",
        "usage": {"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2},
        "stopReason": "stop",
        "timestamp": 1_790_000_000_000 + number,
        **more,
    }


def result(number: int = 0, text: str = "Cox") -> dict[str, Any]:
    """Make a tool result."""
    return {
        "role": "toolResult",
        "toolCallId": f"call-{number}",
        "toolName": "read",
        "content": [{"type": "text", "text": text}],
        "isError": False,
        "timestamp": 1_790_000_000_000 + number,
    }


def turn(number: int) -> dict[str, Any]:
    """Make the message of a number in a conversation."""
    return assistant(number) if number % 2 else user(number)
