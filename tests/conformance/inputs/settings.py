"""Model and thinking level: the last on the whole path, a compaction does not cut it."""

from __future__ import annotations

from typing import Any

from pi_sessions.testing import MISSING, SessionBuilder

Vector = tuple[str, bytes]


def path(sentence: str, *steps: tuple[Any, ...]) -> Vector:
    """Call methods of a builder, each `(name, *arguments)`, a dict at the end as keywords."""
    session = SessionBuilder()
    session.user("Name an apple.")
    for method, *args in steps:
        keywords = args.pop() if args and isinstance(args[-1], dict) else {}
        getattr(session, method)(*args, **keywords)
    session.user("Another one.")
    return sentence, session.data


def other_branch(sentence: str) -> Vector:
    """Change the settings on a branch that was left."""
    session = SessionBuilder()
    question = session.user("Name an apple.")
    session.model_change("cedar", "cedar-1")
    session.thinking_level("high")
    session.at(question)
    session.user("Another one.")
    return sentence, session.data


CEDAR = {"provider": "cedar", "api": "openai-responses", "model": "cedar-1"}

VECTORS = {
    "none": path("Without an entry the model is unknown and thinking off."),
    "model-change": path("A change of model counts.", ("model_change", "birch", "birch-1")),
    "model-of-reply": path("A reply names its model.", ("assistant", "Cox.", CEDAR)),
    "model-change-after": path(
        "A change after a reply counts.",
        ("assistant", "Cox.", CEDAR),
        ("model_change", "larch", "larch-1"),
    ),
    "model-change-before": path(
        "A reply after a change counts.",
        ("model_change", "larch", "larch-1"),
        ("assistant", "Cox.", CEDAR),
    ),
    "model-failed": path(
        "A failed reply names its model too.",
        ("model_change", "larch", "larch-1"),
        ("assistant", "", {**CEDAR, "stop_reason": "error"}),
    ),
    "model-omitted": path(
        "A reply that is taken out still names its model.",
        ("model_change", "larch", "larch-1"),
        ("assistant", "Cox.", CEDAR),
        ("omit", "00000003"),
    ),
    "model-compacted": path(
        "A model before a compaction counts.", ("model_change", "larch", "larch-1"), ("compaction",)
    ),
    "model-parts-missing": path(
        "A change without a model id.",
        ("model_change", "larch", "larch-1", {"extra": {"modelId": MISSING}}),
    ),
    "thinking": path("A thinking level counts.", ("thinking_level", "high")),
    "thinking-last": path(
        "The last level counts.", ("thinking_level", "high"), ("thinking_level", "low")
    ),
    "thinking-unknown": path("A level may be any text.", ("thinking_level", "deepest")),
    "thinking-null": path("A level of null.", ("thinking_level", "high"), ("thinking_level", None)),
    "thinking-missing": path(
        "A missing level.", ("thinking_level", "high"), ("thinking_level", MISSING)
    ),
    "thinking-of-reply": path(
        "The level of a reply is not that of the path.",
        ("assistant", "Cox.", {"message": {"thinkingLevel": "high"}}),
    ),
    "thinking-compacted": path(
        "A level before a compaction counts.", ("thinking_level", "high"), ("compaction",)
    ),
    "other-branch": other_branch("Settings of another branch do not count."),
    "usage": path("Usage has no influence.", ("usage", {"input": 5, "output": 1})),
    "reply-without-usage": path(
        "A reply that has no usage.", ("assistant", "Cox.", {"usage": None})
    ),
}
