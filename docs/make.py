"""Makes the reference pages that follow from code and tables: `python docs/make.py [--verify]`.

divergences.md from the table of divergences, reasons.md and diagnostics.md from the closed lists and
the words below, commands.md from the commands' own options, the tables of releases.md from that of
rules.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "src")]

from pi_sessions import Code, Reason, load  # noqa: E402 - runs from a checkout as well
from pi_sessions.cli.main import COMMANDS  # noqa: E402
from pi_sessions.context import clues, rules  # noqa: E402
from pi_sessions.context import releases as names  # noqa: E402
from pi_sessions.repair.catalogue import MENDED, REMEDIES, Way  # noqa: E402  # noqa: E402

REASONS: dict[Reason, tuple[str, str]] = {
    Reason.BLANK: ("The line holds nothing but white space.", "lines/blank"),
    Reason.MALFORMED: ("The line is no JSON; Pi skips it in silence.", "json_values/bad-escape"),
    Reason.HEADER: ("The first line of a session; it says where and when.", "compaction/details"),
    Reason.NOT_AN_ENTRY: (
        "JSON that is no entry: no object, no type in text form, a second header, a message entry "
        "without its message.",
        "header/second-last",
    ),
    Reason.SHADOWED: (
        "A later line has the same id and takes its place.",
        "edits/duplicate-target",
    ),
    Reason.LATER: (
        "The point is among its ancestors: it came after. So are entries that were written while "
        "the request was under way.",
        "compaction/branch-before",
    ),
    Reason.UNREACHABLE: (
        "Its own chain or the path ends at a missing parent or in a circle, and the two are not in "
        "one tree.",
        "compaction/kept-off-path",
    ),
    Reason.OTHER_BRANCH: ("It is on a branch that was left.", "compaction/branch-before"),
    Reason.UNKNOWN_TYPE: (
        "An entry of a type nobody knows: kept, never sent.",
        "roles/unknown-type",
    ),
    Reason.SETTING: (
        "A change of model or thinking level; never sent itself.",
        "settings/model-change-after",
    ),
    Reason.BOOKKEEPING: ("State of an extension, a label, a name, a usage entry.", "labels/label"),
    Reason.CONTEXT_EDIT: (
        "An edit of an earlier entry; `because` names the line it acts on, and what overrules it. "
        "`inForce` in the JSON says whether it counts.",
        "edits/assistant-blocks",
    ),
    Reason.OLDER_COMPACTION: ("A newer compaction took its place.", "compaction/twice-kept-before"),
    Reason.CHECKPOINTED: (
        "A system message before the compaction: its checkpoint tells the prompt instead. If the "
        "compaction has none, the prompt is gone from here.",
        "compaction/details",
    ),
    Reason.SUMMARISED: (
        "Before the range a compaction keeps: its summary tells it.",
        "compaction/details",
    ),
    Reason.OMITTED: ("A context edit took it out.", "edits/branch-with"),
    Reason.UNKNOWN_ROLE: (
        "A message of a role nobody knows: kept, never sent.",
        "roles/role-unknown",
    ),
    Reason.EXCLUDED_SHELL: ("A shell run with `!!`, kept from the model.", "roles/bash-excluded"),
    Reason.FAILED_REPLY: (
        "A reply that ended in an error or was aborted.",
        "replay/aborted-call-open",
    ),
    Reason.SUPERSEDED: (
        "A system message all of whose sections and tools later ones replaced or removed.",
        "prompt/sections-all-removed",
    ),
    Reason.EMPTY: ("Nothing of it is left to send.", "edits/assistant-thinking"),
    Reason.EDITED: ("A context edit replaced its content.", "edits/assistant-text"),
    Reason.TRIMMED: (
        "Some of its blocks were dropped or replaced: another model's thinking, pictures for a model "
        "that takes none, blank text, unpaired surrogates.",
        "replay/thinking-between",
    ),
    Reason.MOVED: ("Sent, whole or in part, at another place than it stands.", "replay/image-one"),
    Reason.RENAMED: (
        "Only its tool-call ids were rewritten for another API.",
        "replay/rename-own-after",
    ),
    Reason.FOLDED: (
        "Its text, sections or tools are in the leading prompt.",
        "compaction/branch-before",
    ),
    Reason.CONVERTED: (
        "Told in other words: a shell run, a custom message or a summary as user text.",
        "roles/bash",
    ),
    Reason.AS_STORED: ("Every content block arrives whole.", "compaction/details"),
}
"""What each reason means, and a vector that shows it."""

CODES: dict[Code, str] = {
    Code.MALFORMED_JSON: "A line is no JSON.",
    Code.NOT_AN_ENTRY: "JSON, but no entry.",
    Code.INVALID_UTF8: "Bytes that are not UTF-8.",
    Code.BOM: "A byte order mark before the header.",
    Code.TOO_DEEP: "More than 1,000 levels of nesting. Beyond 250,000 levels, or 4 MB where it nests so deep, the line is not read.",
    Code.TORN_TAIL: "The last line is cut off.",
    Code.FUSED_LINE: "A torn line and a whole one on one line.",
    Code.SECOND_HEADER: "A second header.",
    Code.MISSING_ID: "An entry without an id.",
    Code.DUPLICATE_ID: "Two entries with one id.",
    Code.SELF_PARENT: "An entry is its own parent.",
    Code.ORPHAN: "A parent that is not in the file.",
    Code.CYCLE: "Parents in a circle.",
    Code.DANGLING_TARGET: "A label or edit of an id that is not there.",
    Code.DANGLING_FIRST_KEPT: "A compaction keeps from an id that is not before it.",
    Code.BAD_TIMESTAMP: "A time that is no date.",
    Code.UNKNOWN_ENTRY_TYPE: "An entry type nobody knows.",
    Code.UNKNOWN_ROLE: "A message role nobody knows.",
    Code.MISSING_FIELD: "A field is missing.",
    Code.WRONG_TYPE: "A field of the wrong type.",
    Code.FUTURE_VERSION: "A version newer than 3.",
    Code.MIGRATED: "A file of version 1 or 2.",
    Code.LEAF_ON_DEAD_BRANCH: "The last entry is on an older branch.",
    Code.INTERLEAVED_WRITERS: "Two branches written in turns.",
    Code.ORPHAN_RESULT: "A tool result without its call.",
    Code.UNANSWERED_CALL: "A call without a result.",
    Code.ANSWERED_TWICE: "A call with two results.",
    Code.INCOMPLETE_USAGE: "A reply without usage.",
    Code.STALE_FORK: "A fork whose turns an old release wrote into the file that was forked.",
    Code.MIXED_LINE_ENDS: "Some lines end with CR LF, others with LF alone.",
}
"""What each code says."""


SHOWN: dict[Code, str] = {
    Code.MALFORMED_JSON: "json_values/bad-escape",
    Code.NOT_AN_ENTRY: "json_values/number-last",
    Code.INVALID_UTF8: "lines/invalid-byte",
    Code.BOM: "lines/mark-first",
    Code.TOO_DEEP: "json_values/deep",
    Code.TORN_TAIL: "lines/torn-tail",
    Code.FUSED_LINE: "lines/torn-then-fused",
    Code.SECOND_HEADER: "header/second",
    Code.MISSING_ID: "tree/id-missing",
    Code.DUPLICATE_ID: "tree/duplicate-chain",
    Code.SELF_PARENT: "tree/self-parent",
    Code.ORPHAN: "lines/malformed-between",
    Code.CYCLE: "tree/cycle",
    Code.DANGLING_TARGET: "labels/label-unknown-target",
    Code.DANGLING_FIRST_KEPT: "compaction/kept-later",
    Code.BAD_TIMESTAMP: "roles/custom-bad-time",
    Code.UNKNOWN_ENTRY_TYPE: "roles/unknown-type",
    Code.UNKNOWN_ROLE: "roles/role-unknown",
    Code.MISSING_FIELD: "compaction/summary-missing",
    Code.WRONG_TYPE: "compaction/summary-number",
    Code.FUTURE_VERSION: "header/version-future",
    Code.MIGRATED: "header/version-one",
    Code.LEAF_ON_DEAD_BRANCH: "tree/leaf-label",
    Code.INTERLEAVED_WRITERS: "tree/two-writers",
    Code.ORPHAN_RESULT: "edits/omit-assistant",
    Code.UNANSWERED_CALL: "replay/orphan-call",
    Code.ANSWERED_TWICE: "replay/orphan-result-twice",
    Code.INCOMPLETE_USAGE: "settings/reply-without-usage",
    Code.STALE_FORK: "header/fork-without-turns",
    Code.MIXED_LINE_ENDS: "lines/crlf-mixed",
}
"""A vector that shows each code."""

JSON: dict[str, str] = {
    "repair": """
{"path", "backup": path|null, "header": {...}|null,
 "changed": [{"code", "line", "what", "before": [text], "after": [text]}],
 "closedTail": true|false, "appended": [{"code", "line", "what", "target", "id": id|null}],
 "left": [{"code", "line", "message", "why"}], "dryRun": true|false}

Lines of `changed` are those of the file before, all others those of the mended one. `header` is there
where one had to be made.""",
    "search": """
[{"path", "id", "line", "entryId": id|null, "role", "where", "excerpt", "score"}, ...]

The best first. `role` is that of a message, or the type of another entry; `where` the kind of text, as
in `saw`. Exit code 1 means that every file was looked at, 3 that some could not be.""",
    "move": """
{"moved": [{"path", "newPath", "cwd": path|null, "children": [path]}], "dryRun": true|false}

`children` are the files of sessions that were forked from it; their headers are told its new name.""",
    "rm": """
{"path", "id", "name", "children": [{"path", "id"}], "how": "trash"|"system trash"|"deleted"|null,
 "dryRun": true|false}

`children` are the sessions that were forked from it; with any, --force is needed.""",
    "stats": """
{"store", "sessions", "bytes", "lines",
 "kinds": [{"kind", "bytes", "share", "shrink", "parts": [{"of", "bytes"}]}],
 "projects": [{"cwd", "sessions", "bytes", "kinds": {kind: bytes}}],
 "largestSessions": [{"path", "id", "bytes", "mostly", "of"}],
 "longestLines": [{"path", "id", "bytes", "mostly", "of", "line"}],
 "ways": [{"command", "sessions", "bytes"}],
 "archive": {"path", "sessions", "bytes", "packed"}, "foreign": {"files", "bytes"},
 "unreadable": [{"path", "why"}]}

Every byte of every line counts once; the largest come first. `of` is the tool, the extension or the
type of entry, "" where there is none. `shrink` is a command that makes this kind smaller, `ways` are
those that would give most room back. Kinds: prompt, user, reply, thinking, signature, tool-call,
tool-result, tool-details, image, shell, summary, edit, extension-state, extension-message,
bookkeeping, frame (ids, times, usage, keys), other, unreadable.""",
    "prune": """
{"plan", "chosen": [{"path", "id", "name", "cwd", "firstMessage", "modified", "size",
 "lacks": ["user message"|"reply"], "forks": [{"path", "id"}],
 "how": "archived"|"trash"|"system trash"|"deleted"|null, "newPath": path|null, "packed": n|null}],
 "kept": [{"path", "why"}], "refused": [{"path", "why"}], "sessions", "total", "bytes", "freed",
 "dryRun": true|false}

`chosen` are the sessions that would go or went, the longest untouched first; `forks` the sessions that
were forked from one and stay. `kept` are meant as well and stay. `plan` names just these files as they
are. `bytes` are those of all chosen, `total` those of the store's `sessions`, `freed` what is free now.
Exit code 4: some, told in `refused`, could not go; with `--plan`, the store has changed and nothing was
done.""",
    "relink": """
{"missing": [{"cwd", "sessions": [path, ...], "maybe": [path, ...]}],
 "moved": [{"path", "newPath", "cwd", "children": [path]}], "refused": [{"path", "why"}],
 "dryRun": true|false}

`missing` without OLD and NEW, `moved` with them. `maybe` are folders of the same name near by;
`children` the sessions forked from one, whose headers are told its new name.""",
    "archive": """
{"archive", "sessions": [{"path", "from": path|null, "id", "name", "cwd", "modified", "size",
 "packed": n|null}], "bytes", "packed", "refused": [{"path", "why"}], "dryRun": true|false}

`path` is where a session is now, `from` where it was; `size` and `bytes` are those of the sessions,
`packed` those of their files in the archive, not known in a dry run. Of those in `refused` nothing
was changed; the exit code is 4 then, or 3 if they could only not be read.""",
    "usage": """
{"input", "output", "cacheRead", "cacheWrite", "tokens", "cost",
 "rows": [{"key", "input", "output", "cacheRead", "cacheWrite", "tokens", "cost"}],
 "countedOnce": {"copies", "cost"}, "incomplete": [{"path", "line"}],
 "paidAgain": {"tokens", "cost", "replies", "why": [{"key", "tokens", "cost", "replies"}]}, "zone"}

Counted are replies, tool results, compactions, branch summaries and usage entries of any kind, of all
branches. An entry that forks have copied counts once; `countedOnce` has what was left out. `incomplete`
has replies whose tokens or cost are missing. `paidAgain` has tokens of prompts that the request before
had as well and no cache gave, what they cost more than from a cache, and why as far as the file tells:
`model`, `idle`, `branch`, `edit`, `prompt`, with commas between, "" where nothing is in sight. Days are
those of `zone`.""",
    "upgrade": """
{"path", "from", "to", "upgraded": true|false, "backup": path|null, "entries", "dryRun": true|false}""",
    "lines": """
{"path", "sessionId", "version", "cwd", "leaf": id | null, "response": id | null,
 "counts": {"sent", "changed", "not_sent"},
 "lines": [{"line", "offset", "length", "type", "id", "role", "verdict", "reason",
            "because": [line, ...], "excerpt"}],
 "synthetic": [{"kind", "text", "because": [line, ...]}],
 "unknown": [{"what", "why"}],
 "diagnostics": [{"code", "line", "offset", "message"}]}

One element of `lines` for every physical line. `length` is in bytes, without the newline. The line of
a context edit has `inForce` as well. With `--writers` there are `release`, whose rules were taken, and
`"writers": [{"first", "last", "oldest", "newest", "clues": [{"line", "told", "oldest", "newest",
"surety"}]}]`.""",
    "context": """
{"leaf": id | null, "messages": [...], "sources": [{"line", "id"} | null, ...],
 "model": {"provider", "modelId"} | null, "thinkingLevel"}

`sources` runs parallel to `messages`; null stands for a message that is in no line. With
`--stage entries` the document is `{"entries": [id, ...]}`. With `--tail`, if a part of the file was
not read, there are `"head": "not read"` and `skippedBytes`, each `line` is null, and so are `model`
and `thinkingLevel` where the end of the file does not tell them. With `--tokens` it is
`{"counted", "estimated", "reported", "parts": [{"part", "tokens"}],
"blocks": [{"part", "line", "id", "tokens", "excerpt"}]}`.""",
    "request": """
{"api", "provider", "model", "thinkingLevel", "body": {...},
 "provenance": {"/messages/3/content/0": [line, ...], ...},
 "synthetic": [{"kind", "text", "because": [line, ...]}],
 "unknown": [{"pointer", "why"}], "remarks": [{"code", "message", "lines": [line, ...]}],
 "estimatedTokens", "reportedTokens": n | null}

Keys of `provenance` are JSON pointers into `body`; a name behind `#` is a section of the prompt
there.""",
    "saw": """
{"matches": [{"line", "id", "where", "standing", "excerpt"}],
 "responses": [{"line", "id", "saw": true|false, "because": [{"line", "reason"}]}]}

`where` is the part of the entry: text, thinking, arguments, result, shell, summary, prompt,
section NAME, tool NAME, replacement (of a context edit), stored (kept and never sent), entry.
`standing`: seen; seen-then-gone (replies had it, the next request has it no longer); abandoned (only
replies on branches that were left had it); next (no reply had it yet, the next request has it);
never-seen. `because` tells why a reply had it not, for the first five matches. Searched is the text
the model was given: every block after the replay, without wrappers and stand-ins.""",
    "audit": """
{"report", "profile", "sessions": [path, ...],
 "writers": [{"session", "line", "id", "timestamp", "way", "share"}],
 "counts": {"contradicted", "unsupported", "cannot tell", "holds"},
 "findings": [{"part", "code", "judgement", "line", "words", "says", "standing": text | null,
               "difference": [[sign, words], ...],
               "evidence": [{"session", "line", "words", "note"}]}],
 "summary"}

`line` of a finding is the report's, of evidence the session's; 0 where it is no single line.
`standing` is told of sources: seen, seen then lost, partly, failed, never. Signs of a `difference`:
`=` in both, `-` in the report alone, `+` as the model had it. The findings are worst first.
[auditing.md](auditing.md) tells parts and codes.""",
    "diff": """
{"from": {"line", "id"}, "to": {"line", "id"}, "in": [{"line", "id"}],
 "out": [{"line", "id", "reason", "because": [line, ...]}], "changed": [{"line", "id"}],
 "sections": {name: [line, line]}, "tools": {name: [line, line]},
 "synthetic": {"in": [{"kind", "text", "because"}], "out": [...]}, "estimatedTokens": [before, after],
 "cache": {"read", "written", "fresh", "again", "why": [...]}|null}

Lines are compared by what the model is told of them. Sections and tools of the prompt that are not
the same have the line they came from before and after, null where there is none. `cache` has what
the newer reply reported: tokens read from the cache, written to it and neither; `again` those that
the older request had and that were paid again, and `why`: branch, model, compaction, edit, prompt,
idle.""",
    "prompt": """
{"text", "content", "sections": {name: text}, "tools": [...], "sources": {name: line}}

A tool stands in `sources` as `tool:NAME`.""",
    "tree": """
{"leaf": id | null, "roots": [id, ...],
 "entries": [{"line", "lines": [line, ...], "id", "parentId", "children": [id, ...], "type", "role",
              "label", "excerpt", "onBranch"}]}

Flat, in file order. `lines` has the lines of every entry with this id.""",
    "show": """
[{"line", "id", "verdict", "reason", "entry": {...}}, ...]

`entry` is the whole object, whatever the other options leave out.""",
    "watch": """
{"new": {a row of `lines`, "usage" of a reply}}
{"next": {"isAnew", "counts": {"sent", "changed", "not_sent"}, "wentOut": [{"line", "reason"}]}}

One document a line: `new` for each line that came, and after them `next` for the request that would be
sent now. `wentOut` are lines it would have told at the last look. `isAnew`: the file is another one.""",
    "check": """
{"diagnostics": [{"code", "line", "offset", "message"}], "repairable": n}""",
    "ls": """
[{"path", "id", "cwd", "name", "parentSession", "created", "modified", "messageCount",
  "firstMessage", "size", "version", "tokens", "cost", "models": {model: replies}, "branches",
  "compactions", "defects", "parent": id|null, "children": [id], "resume"}, ...]

`parentSession` is what the header says, `parent` the session it was forked from where that is in a store
that was looked at, `children` those forked from it. `defects` counts what `check` finds in lines, ids,
parents and targets. `resume` is the command with which Pi goes on.""",
    "completion": """
{"shell", "script"}

With `--sessions` it is `[{"id", "name"}, ...]`, those of this directory first, the latest first.""",
    "serve": """
{"address", "host", "port"}

It is told before the page is there, and the command goes on; with `--dry-run` it ends.""",
    "export": """
{"header", "name", "leaf": id | null, "response": id | null,
 "counts": {"sent", "changed", "not_sent"},
 "lines": [{"line", "id", "parentLine", "type", "role", "onBranch", "verdict", "reason",
            "because": [line, ...], "label"?, "entry" | "text"}],
 "synthetic": [{"kind", "text", "because": [line, ...]}],
 "unknown": [{"what", "why"}],
 "diagnostics": [{"code", "line", "offset", "message"}]}

That is the same as `--format json`. With `--out FILE` or `--dry-run` it tells what was written instead:
`{"path", "format", "bytes", "dryRun"}`. The formats are told in [exporting.md](exporting.md).""",
    "name": """
{"path", "sessionId", "entries": [{"line", "id": id | null, "type"}], "dryRun"}

The new entry; in a dry run it has no id yet.""",
    "label": """
{"path", "sessionId", "entries": [{"line", "id": id | null, "type"}], "dryRun"}

The new entry; in a dry run it has no id yet.""",
    "edit": """
{"path", "sessionId",
 "entries": [{"line", "id": id | null, "type", "targetId", "replacement": {...} | null}], "dryRun",
 "in": [{"line", "id"}], "out": [{"line", "id"}], "changed": [{"line", "id"}],
 "contentBytes": [before, after],
 "diagnostics": [{"code", "line", "offset", "message"}]}

The new entries; what the next request gains and loses by them and what is told otherwise in it;
bytes of the content of its messages, as JSON; calls and results that match no longer. All edits of
one call are one write. [writing.md](writing.md) tells more.""",
    "fork": """
{"path": path | null, "sessionId", "parentSession", "cwd", "leaf": id | null, "entries": n, "dryRun"}

`entries` counts those of the new session. In a dry run there is no path. Old versions are migrated on
the way; the session itself stays as it is.""",
    "clone": """
{"path": path | null, "sessionId", "parentSession", "cwd", "leaf": id | null, "entries": n, "dryRun"}""",
}
"""The document of `--json`, and after a blank line what there is to say about it."""


def divergences() -> str:
    """Make divergences.md."""
    table = tomllib.loads((ROOT / "tests/conformance/divergences.toml").read_text("utf-8"))
    rows = [
        f"## {row['id']}\n\n- The reference {row['reference']}.\n- Ours: {row['ours']}.\n"
        f"- Why: {row['why']}.\n- Shown by: {', '.join(f'`{v}`' for v in row['vectors'])}.\n"
        for row in table["divergence"]
    ]
    return (
        "# Where we answer otherwise than the reference\n\n"
        "Made from `tests/conformance/divergences.toml`; a row that has become untrue fails the "
        "tests. On a path that runs in a circle there is no reference answer: it never ends.\n\n"
        + "\n".join(rows)
    )


def reasons() -> str:
    """Make reasons.md."""
    demo = load(ROOT / "examples/demo/session.jsonl")
    explanation = demo.explain()
    lines: dict[Reason, list[str]] = {reason: [] for reason in Reason}
    for line in range(1, len(demo.table) + 1):
        lines[explanation.reason(line)].append(str(line))
    rows = [
        f"| {reason.verdict} | `{reason}` | {REASONS[reason][0]} | "
        f"{', '.join(lines[reason][:3])} | `{REASONS[reason][1]}` |"
        for reason in Reason
    ]
    return (
        "# Verdicts and reasons\n\n"
        "Every physical line of a file has one verdict and one reason, for one point: the first "
        "reason of this list that applies. Vectors are the sessions in "
        "`tests/conformance/vectors`. Lines of the demo are up to three lines of "
        "`examples/demo/session.jsonl`, for its own leaf.\n\n"
        "| verdict | reason | meaning | lines of the demo | shown by |\n|---|---|---|---|---|\n"
        + "\n".join(rows)
        + "\n"
    )


def diagnostics() -> str:
    """Make diagnostics.md."""
    rows = []
    for code in Code:
        known = REMEDIES[code]
        mended = "yes" if code in MENDED else "on request" if known.way is Way.ASKED else ""
        rows.append(
            f'| <a id="{code}"></a>`{code}` | {CODES[code]} | {known.cause} | {known.consequence} | '
            f"{known.remedy} | {mended} | `{SHOWN[code]}` |"
        )
    return (
        "# Diagnostics\n\n"
        "What reading tolerates, it tells: code, line, byte offset, sentence. The list is closed; "
        "codes may be added, none changes its meaning. Every code has a vector. How a repair mends "
        "them is told in [repair.md](repair.md).\n\n"
        "| code | what it is | cause | consequence | remedy | can be mended | shown by |\n"
        "|---|---|---|---|---|---|---|\n" + "\n".join(rows) + "\n"
    )


def commands() -> str:
    """Make commands.md."""
    parts = [
        "# Commands\n\n"
        "`pi-sessions COMMAND [SESSION] [options]`. Exit codes: 0 done; 1 done, and problems were "
        "found; 2 wrong use; 3 cannot read, empty, or not a session; 130 interrupted. Errors are "
        "one sentence on standard error. `NO_COLOR`, a pipe and `--no-color` give plain text.\n"
    ]
    for name in COMMANDS:
        module = import_module(f"pi_sessions.cli.commands.{name}")
        parser = argparse.ArgumentParser(prog=f"pi-sessions {name}", add_help=False)
        module.arguments(parser)
        parts.append(f"## {name}\n\n{module.__doc__}\n\n" + _options(parser) + _json(name))
    return "\n".join(parts)


def _json(name: str) -> str:
    shape, _, words = JSON[name].strip("\n").partition("\n\n")
    return f"\n`--json` gives:\n\n```\n{shape}\n```\n" + (f"\n{words}\n" if words else "")


def _options(parser: argparse.ArgumentParser) -> str:
    rows = ["| option | meaning |", "|---|---|"]
    for action in parser._actions:
        names = ", ".join(f"`{name}`" for name in action.option_strings) or f"`{action.metavar}`"
        if action.choices:
            names += f" ({' · '.join(map(str, action.choices))})"
        elif action.option_strings and action.metavar:
            names += f" {action.metavar}"
        rows.append(f"| {names} | {action.help or ''} |")
    return "\n".join(rows) + "\n"


def releases() -> str:
    """Make the tables of releases.md; the words around them stand in the page itself."""
    text = (ROOT / "docs/releases.md").read_text("utf-8")
    changes = [
        f"| {change.what} | {change.kind} | {_cell(change.old[1])} | {_since(change)} | "
        f"{_cell(change.new[1])} | `{change.rule}` | {change.seen} |"
        for change in rules.changes()
    ]
    head = "| what | class | before | since | then | field | known from |\n|---|---|---|---|---|---|---|"
    text = _filled(text, "rules", "\n".join([head, *changes]))
    apis = {clues.CHAT: "chat", clues.ANTHROPIC: "Anthropic", clues.RESPONSES: "Responses"}
    fields = [
        f"| `{telltale.name}` | {', '.join(apis[api] for api in telltale.apis)} | "
        f"{telltale.after} | {telltale.since} |"
        for telltale in clues.TELLTALES
    ]
    head = "| field | APIs | last without | first with |\n|---|---|---|---|"
    return _filled(text, "telltales", "\n".join([head, *fields]))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _since(change: rules.Change) -> str:
    if names.before(change.release) == change.after:
        return change.release
    return f"{change.release} (after {change.after})"


def _filled(text: str, name: str, table: str) -> str:
    """Put a table between its marks."""
    head, mark, rest = text.partition(f"<!-- {name} -->\n")
    _, end, tail = rest.partition("<!-- end -->\n")
    return f"{head}{mark}\n{table}\n\n{end}{tail}"


PAGES = {
    "divergences.md": divergences,
    "reasons.md": reasons,
    "diagnostics.md": diagnostics,
    "commands.md": commands,
    "releases.md": releases,
}


def main() -> int:
    """Write the pages, or with --verify say which are not as they would be written."""
    verify = "--verify" in sys.argv[1:]
    outdated = 0
    for name, make in PAGES.items():
        path, text = ROOT / "docs" / name, make()
        if not path.exists() or path.read_text("utf-8") != text:
            outdated += 1
            if verify:
                print(f"outdated: docs/{name}")
            else:
                path.write_text(text, "utf-8")
    return int(verify and outdated > 0)


if __name__ == "__main__":
    sys.exit(main())
