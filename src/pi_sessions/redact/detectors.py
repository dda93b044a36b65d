"""Finding secrets in a text, with the detectors of detect-secrets and a few of our own.

Its detectors are made for short lines of source files and some take quadratic time on long ones.
So a text is cut into pieces of bounded lines, unbroken runs that are too long for a secret are left
out, and detectors that hang on a word are asked only about lines that hold it. Nothing is verified:
that would send the secret somewhere.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
from detect_secrets.filters import heuristic
from detect_secrets.plugins.artifactory import ArtifactoryDetector
from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.basic_auth import BasicAuthDetector
from detect_secrets.plugins.cloudant import CloudantDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.high_entropy_strings import (
    Base64HighEntropyString,
    HexHighEntropyString,
)
from detect_secrets.plugins.ibm_cloud_iam import IbmCloudIamDetector
from detect_secrets.plugins.ibm_cos_hmac import IbmCosHmacDetector
from detect_secrets.plugins.jwt import JwtTokenDetector
from detect_secrets.plugins.keyword import DENYLIST, KeywordDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.npm import NpmDetector
from detect_secrets.plugins.openai import OpenAIDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.softlayer import SoftlayerDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector

from pi_sessions.redact.patterns import (
    BODY,
    ApiTokenDetector,
    AssignedDetector,
    AuthorizationDetector,
    QueryDetector,
    private_keys,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detect_secrets.plugins.base import BasePlugin

LONGEST_RUN = 4_096
"""Characters of base64 or the like without a break beyond which they are a blob, not a secret."""
LONGEST_LINE = 4_096
"""Characters of a line that are looked at together."""
OVERLAP = 1_024
"""Characters that are looked at again in the next part of a longer line."""
PIECE = 32_768
"""Characters of lines that are looked at together."""
MARK = "[redacted:"
"""How every placeholder begins; what holds it is none of the secrets."""

PRIVATE_KEY, PART = "private-key", "part"
"""Kinds of a private key, and of each line of the one before."""


class Form(msgspec.Struct, frozen=True):
    """A detector that knows a secret by its own form."""

    detector: Any
    needs: tuple[str, ...] = ()
    """Texts of which one stands in whatever it finds; it is asked only where one does."""
    grouped: bool = True
    """Whether the groups of its patterns are the secret; else, as without any, all they match."""


ANYWHERE = (
    Form(AWSKeyDetector(), ("A3T", "ABIA", "ACCA", "AKIA", "ASIA", "aws", "AWS", "Aws")),
    Form(GitHubTokenDetector(), ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), grouped=False),
    Form(GitLabTokenDetector(), ("gl", "GR13"), grouped=False),
    Form(ApiTokenDetector(), ApiTokenDetector.needs),
    Form(JwtTokenDetector(), ("eyJ",)),
    Form(SlackDetector(), ("xox", "XOX", "hooks.slack")),
    Form(StripeDetector(), ("k_live_",)),
    Form(OpenAIDetector(), ("T3BlbkFJ",)),
    Form(PypiTokenDetector(), ("pypi-",)),
    Form(SendGridDetector(), ("SG.",)),
    Form(DiscordBotTokenDetector()),
    Form(TelegramBotTokenDetector()),
    Form(TwilioKeyDetector(), ("AC", "SK")),
    Form(SquareOAuthDetector(), ("sq0csp-",)),
    Form(MailchimpDetector(), ("-us",)),
    Form(AzureStorageKeyDetector(), ("AccountKey=",)),
    Form(ArtifactoryDetector(), ("AKC", "AP")),
    Form(BasicAuthDetector(), ("://",)),
    Form(AuthorizationDetector(), ("earer ", "asic ", "oken ")),
    Form(QueryDetector(), ("?", "&", ";")),
)
"""Detectors that know a secret by its own form, most certain first."""
BY_WORD = (
    NpmDetector(),
    CloudantDetector(),
    IbmCloudIamDetector(),
    IbmCosHmacDetector(),
    SoftlayerDetector(),
    AssignedDetector(),
)
"""Detectors that need a word such as `key` on the same line."""
_WORDS = ("key", "pass", "pwd", "pw", "token", "secret", "contrase", "cred", "softlayer")
"""One of these stands on a line, in any case, where those find something."""
_KEYWORD = KeywordDetector()
_KEYWORDS = re.compile("|".join(DENYLIST), re.IGNORECASE)
_BASE64 = Base64HighEntropyString()
_HEX = HexHighEntropyString()
_EXPORTED = re.compile(r"(?<![\w$])[A-Z][A-Z0-9_]{2,60}=([A-Za-z0-9+/=_-]{20,200})(?![\w+/=-])")
_BLOB = re.compile(rf"[A-Za-z0-9+/=_%\\-]{{{LONGEST_RUN + 1},}}")
_GAP = re.compile(" {5,}")
_QUOTE = re.compile("['\"`]")
_WINDOWS = 100
"""Words of one line from which on a value is looked for."""
_HEAD = 120
"""Characters in which a call would begin that gives the secret."""
_REACH = 400
"""Characters after a word in which its value begins and ends."""
_SHORTEST_HEX = 16
_SHORTEST_BASE64 = 20
_SHORTEST = 4
_LONGEST = 2_000


def find(text: str) -> Iterator[tuple[str, str]]:
    """Give the kind and the value of each secret in a text; the same one may come again."""
    for block in private_keys(text):
        if MARK not in block:
            yield PRIVATE_KEY, block
            yield from ((PART, line) for line in BODY.findall(block))
    for piece in _pieces(text):
        yield from _in_piece(piece)
        if '\\"' in piece:
            # JSON within a text, whose quotes would not be seen as such.
            yield from _in_piece(piece.replace('\\"', '"').replace("\\n", "\n"))


def _in_piece(piece: str) -> Iterator[tuple[str, str]]:
    yield from _anywhere(piece)
    if _has_word(piece):
        for line in piece.split("\n"):
            if _has_word(line):
                yield from _by_word(_GAP.sub("    ", line) if "     " in line else line)


def _has_word(text: str) -> bool:
    lower = text.lower()
    return any(word in lower for word in _WORDS)


def _pieces(text: str) -> Iterator[str]:
    """Cut a text at its lines; what is longer than a line may be is cut with an overlap."""
    if len(text) > LONGEST_RUN:
        text = _BLOB.sub(" ", text)
    if len(text) <= LONGEST_LINE:
        yield text
        return
    lines: list[str] = []
    size = 0
    for line in text.split("\n"):
        if len(line) > LONGEST_LINE:
            step = LONGEST_LINE - OVERLAP
            yield from (line[n : n + LONGEST_LINE] for n in range(0, len(line) - OVERLAP, step))
            continue
        lines.append(line)
        size += len(line) + 1
        if size > PIECE:
            yield "\n".join(lines)
            lines, size = [], 0
    yield "\n".join(lines)


def _anywhere(piece: str) -> Iterator[tuple[str, str]]:
    for form in ANYWHERE:
        if not form.needs or any(need in piece for need in form.needs):
            for value in _values(form, piece):
                if _is_plausible(value):
                    yield _kind(form.detector), value
    exported = _EXPORTED.findall(piece) if "=" in piece else []
    for value in [*_BASE64.analyze_string(piece), *exported]:
        if len(value) >= _SHORTEST_BASE64 and _is_random(value, _BASE64):
            yield from _unless_id(piece, value, _BASE64)
    for value in _HEX.analyze_string(piece):
        if len(value) >= _SHORTEST_HEX and _is_random(value, _HEX):
            yield from _unless_id(piece, value, _HEX)


def _values(form: Form, piece: str) -> Iterator[str]:
    """Give what a detector finds: its groups, or all it matches up to the end of the word.

    Its own list of values has mere prefixes for some kinds, and cuts others where they go on.
    """
    check = getattr(form.detector, "is_formally_valid", None)
    for pattern in form.detector.denylist:
        for match in pattern.finditer(piece):
            if form.grouped and pattern.groups:
                yield from filter(None, match.groups())
            elif check is None or check(match[0]):
                rest = _REST.match(piece, match.end())
                value = match[0] + (rest[0] if rest else "")
                yield value.strip(" \t\r\n\"'").removeprefix("AccountKey=").lstrip("=:")


_REST = re.compile(r"[\w+/-]{1,2000}={0,2}")


def _is_random(value: str, detector: Base64HighEntropyString | HexHighEntropyString) -> bool:
    return (
        len(value) <= _LONGEST
        and bool(detector.calculate_shannon_entropy(value) > detector.entropy_limit)
        and _is_plausible(value)
        and any(map(str.isdigit, value))
        and not heuristic.is_potential_uuid(value)
    )


def _unless_id(piece: str, value: str, detector: BasePlugin) -> Iterator[tuple[str, str]]:
    place = piece.index(value)
    start = piece.rfind("\n", 0, place) + 1
    if not heuristic.is_likely_id_string(value, piece[start : place + len(value)], detector):
        yield _kind(detector), value


def _by_word(line: str) -> Iterator[tuple[str, str]]:
    for detector in BY_WORD:
        for value in detector.analyze_string(line):
            if _is_plausible(value):
                yield _kind(detector), value
    if not _QUOTE.search(line):
        return
    starts = [match.start() for match in _KEYWORDS.finditer(line)][:_WINDOWS]
    # The detector tells of the first word it meets; so it is asked from each on.
    parts = [line[start : start + _REACH] for start in starts]
    for part in [line, *parts] if starts else []:
        for value in _KEYWORD.analyze_string(part):
            if (
                _is_plausible(value)
                and not _is_prose(value)
                and not heuristic.is_indirect_reference(part[:_HEAD])
            ):
                yield _kind(_KEYWORD), value


def _is_plausible(value: str) -> bool:
    return (
        len(value) >= _SHORTEST
        and MARK not in value
        and not heuristic.is_not_alphanumeric_string(value)
        and not heuristic.is_sequential_string(value)
        and not heuristic.is_templated_secret(value)
        and not heuristic.is_prefixed_with_dollar_sign(value)
    )


def _is_prose(value: str) -> bool:
    """Say whether a value is a sentence, or the word it stands behind."""
    return value.count(" ") >= 2 or _KEYWORDS.fullmatch(value) is not None


def _kind(detector: BasePlugin) -> str:
    return str(detector.secret_type).lower().replace(" ", "-")
