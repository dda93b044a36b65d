"""What was fetched of a source, by which calls, and how much of it came back.

A page that was saved to a file counts by what was read of that file afterwards.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from pi_sessions.audit import addresses
from pi_sessions.audit.addresses import Address, AddressKind
from pi_sessions.audit.calls import LOOKING, READING, WRITING, Call

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FETCHING = re.compile(
    r"(?:^|[|;&({`]|\$\(|\b(?:sudo|time|xargs|then|do|timeout \S+)\s)\s*(?:\w+=\S+\s+)*(?:\S*/)?"
    r"(?:curl|wget|xh|https?|lynx|w3m|links|elinks|aria2c|git|gh|npm|npx|pip3?|chromium|iwr|"
    r"Invoke-WebRequest|pandoc|trafilatura|monolith|pdftotext)\s"
    r"|\b(?:urllib|requests|httpx|aiohttp|axios|playwright|puppeteer)\b|\b(?:fetch|urlopen|got)\(",
    re.MULTILINE,
)
_SAVED = re.compile(
    r"(?:\s(?:-o|--output|-O|--output-document|-OutFile)[\s=]*|\s>\s*)['\"]?([^\s'\";|&<>]+)"
)
_REMOTE_NAME = re.compile(r"\bcurl\b[^|;&]*\s-[a-zA-Z]*O\b|\bwget\b(?![^|;&]*\s-[qO]*O)")
_CUT_BY = re.compile(
    r"--range\b|\s-r\s*\d|--max-filesize|\bhead -c|\bcurl\b[^|;&]*\s-[a-zA-Z]*I|--head\b|--spider\b"
)
_STATUS = re.compile(r"^(?:< )?HTTP/[\d.]+ (\d{3})\b.*$", re.MULTILINE)
_WRITTEN_STATUS = re.compile(r"(?:^|\n)(?:status[:= ]+|http(?:_code)?[:= ]+)?([1-5]\d\d)\s*$")
_FAILURE = re.compile(
    r"curl: \(\d+\)[^\n]*|wget: [^\n]*(?:unable|failed|error)[^\n]*|ERROR \d{3}: [^\n]*|"
    r"Could not resolve host[^\n]*|Connection refused[^\n]*|"
    r"<(?:title|h1)[^>]*>\s*(?:Error\s*)?[45]\d\d\b[^<]*|"
    r"<(?:title|h1)[^>]*>[^<]{0,40}(?:Not Found|Page not found|Forbidden|Access Denied|"
    r"Unauthorized|Service Unavailable|Bad Gateway|Gateway Time-?out|Internal Server Error|"
    r"Too Many Requests|Just a moment|Attention Required|Are you a robot|Sign in|Log in)[^<]*|"
    r"^\s*(?:# )?(?:(?:Error )?[45]\d\d:? (?:Not Found|Forbidden|Unauthorized|Bad Gateway|"
    r"Service (?:Temporarily )?Unavailable|Internal Server Error|Too Many Requests|Gone)|Not Found|"
    r"Access Denied|Page not found)[^\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_MOVED = re.compile(
    r"^(?:< )?location:\s*(\S+)|<(?:title|h1)[^>]*>\s*(30[1278]\b[^<]*)|Redirecting to (\S+)",
    re.IGNORECASE | re.MULTILINE,
)
_HEAD = 4000
"""Characters in which an error page says that it is one."""


class Came(StrEnum):
    """How much of a source a call brought."""

    WHOLE = "whole"
    PART = "part"
    NOTHING = "nothing"
    """It was saved to a file, or said no more than that it had been fetched."""
    ERROR = "error"


class Fetch(msgspec.Struct, frozen=True):
    """One call that asked for a source, or read what was saved of it."""

    call: Call
    came: Came
    note: str
    """What it was and how it went, for a person."""
    is_abstract: bool = False
    words: str = ""
    """Of an error: how it was told."""


def fetches_of(address: Address, calls: Sequence[Call]) -> list[Fetch]:
    """Find all calls that brought a source, or failed to, in order."""
    found: list[Fetch] = []
    saved: list[str] = []
    for call in calls:
        if address.kind is AddressKind.FILE:
            if _reads(call, address.key):
                found.append(_fetch(call, "read"))
            continue
        asked = _asked(call, address)
        if asked is not None:
            target = _target(call.command)
            fetch = _fetch(call, "fetched", asked, saved_to=target)
            found.append(fetch)
            saved += [target] if target and fetch.came is not Came.ERROR else []
        elif any(_reads(call, name) for name in saved):
            found.append(_fetch(call, "read from the saved file"))
    return found


def _asked(call: Call, address: Address) -> Address | None:
    """Give the address a call asked for, if it is the one meant."""
    if call.name in WRITING | READING | LOOKING:
        return None
    if call.command and not _FETCHING.search(call.command):
        return None
    text = call.command or call.asked
    for asked in addresses.in_command(text):
        if asked.name == address.name:
            return asked
        if address.kind is AddressKind.DOI and address.key in asked.text.lower():
            return asked
    return next((way for way in _led_to(call) if way.name == address.name), None)


def _led_to(call: Call) -> list[Address]:
    """Give the addresses that a call was led to, as far as what came back tells them."""
    moved = [next(filter(None, match.groups())) for match in _MOVED.finditer(call.output[:_HEAD])]
    last = call.output.rstrip().rsplit("\n", 1)[-1].strip()
    effective = [last] if "url_effective" in call.command else []
    return [addresses.of_url(url) for url in (*moved, *effective) if "://" in url]


def _target(command: str) -> str:
    """Give the file into which a command saves, "" for none."""
    saved = _SAVED.search(command)
    if saved and saved[1] not in ("-", "/dev/stdout", "/dev/null"):
        return saved[1]
    if _REMOTE_NAME.search(command):
        urls = addresses.in_command(command)
        return urls[0].key.rsplit("/", 1)[-1] if urls else ""
    return ""


def _reads(call: Call, path: str) -> bool:
    """Say whether a call gives what is in a file."""
    if call.name in READING:
        return bool(call.path) and addresses.is_same_file(call.path, path)
    if not call.command or call.name in WRITING:
        return False
    words = re.findall(r"[^\s'\"|;&<>()=,]+", call.command)
    return any(addresses.is_same_file(word, path) for word in words if "." in word or word == path)


def _fetch(call: Call, way: str, asked: Address | None = None, saved_to: str = "") -> Fetch:
    is_abstract = asked is not None and asked.is_abstract
    came, words = _came(call, saved_to, is_read=asked is None)
    parts = [way, call.note]
    if came in (Came.WHOLE, Came.PART):
        parts.append("whole" if came is Came.WHOLE else "in part")
    if saved_to:
        parts.append(f"saved to {saved_to}")
    if words:
        parts.append(words.strip())
    moved = _MOVED.search(call.output[:_HEAD])
    if moved:
        parts.append(f"redirected to {next(filter(None, moved.groups()))}")
    if is_abstract:
        parts.append("the page of the abstract")
    if call.window:
        parts.append("lines {}-{} of {}".format(*call.window))
    return Fetch(call, came, ", ".join(parts), is_abstract, words)


def _came(call: Call, saved_to: str, *, is_read: bool) -> tuple[Came, str]:
    if not call.result:
        return Came.ERROR, "nothing came back"
    failure = None if is_read and not call.is_failed else _FAILURE.search(call.output[:_HEAD])
    statuses = [int(code) for code in _STATUS.findall(call.output[:_HEAD])]
    if not statuses and "http_code" in call.command:
        statuses = [int(code) for code in _WRITTEN_STATUS.findall(call.output)]
    if statuses and statuses[-1] >= 400:
        return Came.ERROR, f"HTTP status {statuses[-1]}"
    if statuses and 300 <= statuses[-1] < 400:
        return Came.ERROR, f"HTTP status {statuses[-1]}, not followed"
    if call.exit not in (0, None) or (call.is_failed and not call.command) or failure:
        return Came.ERROR, failure[0] if failure else call.output.strip()[-200:]
    if saved_to:
        return Came.NOTHING, ""
    if call.output.strip() in ("", "(no output)") or call.output.startswith("Cloning into"):
        return Came.NOTHING, ""
    if call.is_cut or _CUT_BY.search(call.command):
        return Came.PART, ""
    return Came.WHOLE, ""


def is_whole(fetches: Sequence[Fetch]) -> bool:
    """Say whether some calls together brought all of a source."""
    if any(fetch.came is Came.WHOLE and not fetch.is_abstract for fetch in fetches):
        return True
    windows = sorted(w for w in _windows(fetches))
    reached = 0
    for first, last, _ in windows:
        if first > reached + 1:
            return False
        reached = max(reached, last)
    return bool(windows) and reached >= max(total for _, _, total in windows)


def _windows(fetches: Sequence[Fetch]) -> Iterator[tuple[int, int, int]]:
    for fetch in fetches:
        if fetch.call.window and fetch.came in (Came.WHOLE, Came.PART):
            yield fetch.call.window
