"""Secrets that agents meet and detect-secrets does not know, in the form of its own detectors."""

from __future__ import annotations

import re
from collections.abc import Iterator

from detect_secrets.plugins.base import RegexBasedDetector


class ApiTokenDetector(RegexBasedDetector):
    """Tokens that tell by their beginning whose they are."""

    secret_type = "API Token"  # noqa: S105 - the name of a kind
    needs = (
        *(
            "sk-",
            "AIza",
            "ya29.",
            "GOCSPX-",
            "github_pat_",
            "hf_",
            "gsk_",
            "xai-",
            "npm_",
            "k_test_",
        ),
        *(
            "k_live_",
            "whsec_",
            "xapp-",
            "_v1_",
            "shp",
            "dapi",
            "hvs.",
            "PMAK-",
            "AGE-SECRET-",
            "glsa_",
        ),
        *("lin_api_", "eyJ"),
    )
    """Texts of which one stands in every such token."""
    denylist = (
        re.compile(
            r"(?<![A-Za-z0-9])(?:"
            r"sk-(?:ant|proj|svcacct|admin|or)-[A-Za-z0-9_-]{20,200}"
            r"|sk-[A-Za-z0-9]{32,64}"
            r"|AIza[0-9A-Za-z_-]{35}"
            r"|ya29\.[0-9A-Za-z_-]{20,300}"
            r"|GOCSPX-[A-Za-z0-9_-]{28}"
            r"|github_pat_[0-9A-Za-z_]{22,100}"
            r"|hf_[A-Za-z0-9]{30,64}"
            r"|gsk_[A-Za-z0-9]{40,64}"
            r"|xai-[A-Za-z0-9]{40,100}"
            r"|npm_[A-Za-z0-9]{36}"
            r"|[rs]k_(?:test|live)_[0-9A-Za-z]{16,100}"
            r"|whsec_[A-Za-z0-9+/=]{24,64}"
            r"|xapp-[0-9]-[A-Z0-9]{6,16}-[0-9]{6,16}-[a-z0-9]{20,80}"
            r"|do[opr]_v1_[a-f0-9]{64}"
            r"|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"
            r"|dapi[a-f0-9]{32}"
            r"|hvs\.[A-Za-z0-9_-]{24,200}"
            r"|PMAK-[a-f0-9]{24}-[a-f0-9]{34}"
            r"|AGE-SECRET-KEY-1[0-9A-Z]{58}"
            r"|glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}"
            r"|lin_api_[A-Za-z0-9]{40}"
            r"|eyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,2000}(?:\.[A-Za-z0-9_-]{10,1000})?"
            r")(?![A-Za-z0-9])"
        ),
    )


class AuthorizationDetector(RegexBasedDetector):
    """What follows the scheme in an Authorization header."""

    secret_type = "Authorization Header"  # noqa: S105
    denylist = (
        re.compile(
            r"\b(?:[Bb]earer|[Bb]asic|[Tt]oken)[ ]{1,4}(?=[A-Za-z._~+/-]{0,200}[0-9])"
            r"([A-Za-z0-9._~+/-]{16,2000}={0,2})"
        ),
    )


class QueryDetector(RegexBasedDetector):
    """Parameters of a URL that sign or open it."""

    secret_type = "URL Parameter"  # noqa: S105
    denylist = (
        re.compile(
            r"[?&;](?:X-Amz-Signature|X-Amz-Credential|X-Amz-Security-Token|access_token|token|auth"
            r"|sig|signature|api[_-]?key|key|code|client_secret)="
            r"(?=[A-Za-z._~%+/-]{0,200}[0-9])([A-Za-z0-9._~%+/=-]{12,2000})",
            re.IGNORECASE,
        ),
    )


class AssignedDetector(RegexBasedDetector):
    """A value that is given to a name such as API_TOKEN, also without quotes."""

    secret_type = "Assigned Secret"  # noqa: S105
    denylist = (
        re.compile(
            r"(?:api[_-]?key|secret|passw(?:or)?d|passphrase|token|credential|private[_-]?key"
            r"|access[_-]?key|auth[_-]?key|client[_-]?key|encryption[_-]?key|pwd|pass)"
            r"(?-i:s?(?![a-z]))[A-Za-z0-9_.-]{0,24}[\\\"'`\]]{0,4}"
            r"[ \t]{0,4}(?::=|=>|=|:|is)[ \t]{0,4}"
            r"[\\\"'`]{0,4}([^\s\"'`,;()\[\]{}<>$\\|&*]{8,500})",
            re.IGNORECASE,
        ),
        # Options of a command that take the secret as the next word.
        re.compile(
            r"--?(?:password|passwd|token|api-key|secret|auth-token|access-token)[ ]{1,2}"
            r"[\\\"']{0,2}([^\s\"'`,;()\[\]{}<>$\\|&*-][^\s\"'`,;()\[\]{}<>$\\|&*]{7,500})"
        ),
    )
    _MIXED = re.compile(r"(?=.*[A-Za-z])(?=.*[0-9])")
    _CODE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\Z|\d+[a-z]{0,4}\Z|[a-z]+://|[/~.]")

    def analyze_string(self, string: str):  # type: ignore[no-untyped-def]  # noqa: ANN201
        """Give the values that mix letters and digits and look like no code and no path."""
        for value in super().analyze_string(string):
            if self._MIXED.match(value) and not self._CODE.match(value):
                yield value


_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|Private-Lines: \d+")
_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_ROWS = re.compile(r"(?:(?:\\[nrt]|[\s|:>+]|\d{1,5}[\t:|→]){1,40}[A-Za-z0-9+/=]{16,200}){1,400}")
_LONGEST = 16_384
"""Characters of a private key, at most."""


def private_keys(text: str) -> Iterator[str]:
    """Give the private keys in a text, whole, or as far as they go where their end was cut off."""
    if "PRIVATE KEY" not in text and "Private-Lines" not in text:
        return
    place = 0
    while begin := _BEGIN.search(text, place):
        place = begin.end()
        following = _BEGIN.search(text, place)
        limit = min(following.start() if following else len(text), place + _LONGEST)
        found = _END.search(text, place, limit) or _ROWS.match(text, place, limit)
        if found:
            place = found.end()
            yield text[begin.start() : place]


BODY = re.compile(r"(?:(?<=\\n)|(?<![A-Za-z0-9+/=]))[A-Za-z0-9+/]{24,}={0,2}")
"""The lines of a private key, each of which is as secret as the whole."""
