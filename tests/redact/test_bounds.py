"""Looking for secrets takes time in proportion to the text, whatever it holds."""

from __future__ import annotations

import time
from random import Random

import pytest

from pi_sessions import loads
from pi_sessions.redact import Redaction
from pi_sessions.redact.detectors import LONGEST_LINE, find
from pi_sessions.testing import SessionBuilder
from redact.planted import KINDS, UNFOUND

REPEATED = [
    *("eyJ", "eyJ.", "/", "//a/:_authToken=", "sk-", "sk-ant-", "password=", "password ", "'a"),
    *("-----BEGIN RSA PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----\n" + "A" * 64 + "\n"),
    *("Private-Lines: 1\n", "token=a1", "key:'", "aws key ", "xoxb-1-1-", "Bearer ", "?token="),
    *("?sig=aaaaaaaaaaaaaaaaaaa", " ", "password" + " " * 40, "://a", "://a:", "token: abc ", "a."),
    *(
        "1",
        "password = x\n",
        "secret = (",
        "secret[",
        '{\\"a\\":\\"b\\"}',
        "\\",
        '\\"',
        "github_pat_",
    ),
    *(
        "a" * 32 + "-us",
        "AKIA",
        "[redacted:",
        "1234567890:",
        "SG.",
        "\ud800",
        "é",
        "\n",
        "=",
        "AP0",
    ),
]
SIZE = 60_000
LIMIT = 6.0
"""Seconds that are far more than any of them takes, and far less than a quadratic one would."""


@pytest.mark.parametrize("text", REPEATED, ids=range(len(REPEATED)))
def test_repeated_texts(text: str) -> None:
    """What makes a pattern try again and again."""
    whole = text * (SIZE // len(text))
    start = time.perf_counter()
    for _ in find(whole):
        pass
    assert time.perf_counter() - start < LIMIT, text


def test_a_blob_costs_little() -> None:
    """Ten megabytes of base64 on one line, as a picture or an archive would be."""
    blob = "".join(
        Random(1).choices("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnop0123456789+/", k=10**7)
    )
    start = time.perf_counter()
    assert list(find(f"data:image/png;base64,{blob} end")) == []
    assert time.perf_counter() - start < LIMIT


LONG = {"private key", "openssh private key", "openai key", "pypi token", "password with signs"}
"""Kinds that have lines of their own, or are found in parts or in another form."""


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - UNFOUND - LONG))
def test_secrets_in_long_lines(kind: str) -> None:
    """A line is looked at in parts, and a secret that lies across two of them is found."""
    for before in range(LONGEST_LINE - 260, LONGEST_LINE + 40, 60):
        text, secret = KINDS[kind](Random(f"{kind}{before}"))
        filled = ("lorem ipsum " * 1_000)[:before] + " " + text + " dolor" * 2_000
        found = {value for _, value in find(filled)}
        assert any(secret in value for value in found), before


def test_many_secrets_are_replaced_in_time() -> None:
    """Two thousand secrets, each of them in every message."""
    random = Random(4)
    secrets = [KINDS["github token"](random)[1] for _ in range(2_000)]
    session = SessionBuilder()
    for number in range(0, len(secrets), 100):
        session.user("\n".join(secrets[number : number + 100]) + " and words between them" * 500)
    session.user(" ".join(secrets))
    start = time.perf_counter()
    redaction = Redaction(loads(session.data))
    data = b"".join(redaction.lines())
    assert time.perf_counter() - start < 20
    assert len(redaction.secrets) == 2_000
    assert not any(secret.encode() in data for secret in secrets)
