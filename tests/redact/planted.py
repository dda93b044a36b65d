"""Secrets of many kinds, made anew from a seed: none of them stands in this project."""

from __future__ import annotations

import base64
import json
import string
from collections.abc import Callable
from random import Random
from typing import Any

from pi_sessions.testing import SessionBuilder, system_message, text_block, tool, tool_call

LETTERS = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def some(random: Random, count: int, of: str = LETTERS) -> str:
    """Give random signs that hold at least a letter of each case and a digit, if there are such."""
    while True:
        text = "".join(random.choices(of, k=count))
        if any(c.isdigit() for c in text) and any(c.isalpha() for c in text):
            return text


def _pem(random: Random, name: str) -> str:
    rows = [some(random, 64, LETTERS + "+/") for _ in range(14)]
    body = "\n".join([*rows, some(random, 30) + "=="])
    return f"-----BEGIN {name}-----\n{body}\n-----END {name}-----"


def _jwt(random: Random) -> str:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    head, body = {"alg": "HS256", "typ": "JWT"}, {"sub": some(random, 12), "iat": 1770000000}
    return f"{part(head)}.{part(body)}.{some(random, 43, LETTERS + '_-')}"


def _basic(random: Random) -> str:
    return base64.b64encode(f"build:{some(random, 18)}".encode()).decode()


Made = tuple[str, str]
"""A text as it may be met, and the secret in it."""


def _in(pattern: str, secret: str) -> Made:
    return pattern.replace("%", secret), secret


KINDS: dict[str, Callable[[Random], Made]] = {
    "aws access key": lambda r: _in(
        "id %", "AKIA" + some(r, 16, string.ascii_uppercase + "234567")
    ),
    "aws secret key, quoted": lambda r: _in(
        'aws_secret_access_key = "%"', some(r, 40, LETTERS + "/+")
    ),
    "aws secret key, exported": lambda r: _in(
        "AWS_SECRET_ACCESS_KEY=%", some(r, 40, LETTERS + "/+")
    ),
    "github token": lambda r: _in("gh auth: %", "ghp_" + some(r, 36)),
    "github fine-grained token": lambda r: _in(
        "remote %", f"github_pat_{some(r, 22)}_{some(r, 59)}"
    ),
    "gitlab token": lambda r: _in("curl -H 'PRIVATE-TOKEN: %'", "glpat-" + some(r, 20)),
    "slack token": lambda r: _in(
        "SLACK %", f"xoxb-123456789012-987654321098-{some(r, 24).lower()}"
    ),
    "slack webhook": lambda r: _in(
        "post to %", f"https://hooks.slack.com/services/T{some(r, 8)}/B{some(r, 8)}/{some(r, 24)}"
    ),
    "stripe key": lambda r: _in("stripe.api_key = '%'", "sk_live_" + some(r, 99)),
    "openai key": lambda r: _in("OPENAI: %", "sk-proj-" + some(r, 74) + "T3BlbkFJ" + some(r, 74)),
    "openai key, old": lambda r: _in("use % please", f"sk-{some(r, 20)}T3BlbkFJ{some(r, 20)}"),
    "anthropic key": lambda r: _in("export K=%", f"sk-ant-api03-{some(r, 93, LETTERS + '_-')}AA"),
    "google key": lambda r: _in("maps?v=3&k=%", "AIza" + some(r, 35)),
    "hugging face token": lambda r: _in("login --with %", "hf_" + some(r, 34)),
    "npm token": lambda r: _in("//registry.example/:_authToken=%", "npm_" + some(r, 36)),
    "pypi token": lambda r: _in("TWINE %", "pypi-AgEIcHlwaS5vcmc" + some(r, 100)),
    "sendgrid key": lambda r: _in("mail %", f"SG.{some(r, 22)}.{some(r, 43)}"),
    "telegram token": lambda r: _in("bot %", f"7123456789:{some(r, 35)}"),
    "twilio key": lambda r: _in("twilio %", "SK" + some(r, 32, HEX)),
    "mailchimp key": lambda r: _in("chimp %", some(r, 32, HEX) + "-us12"),
    "azure storage key": lambda r: _in("AccountKey=%", some(r, 86, LETTERS + "+/") + "=="),
    "json web token": lambda r: _in("cookie session=%", _jwt(r)),
    "bearer header": lambda r: _in("Authorization: Bearer %", some(r, 40, LETTERS + "-_")),
    "basic header": lambda r: _in("Authorization: Basic %", _basic(r)),
    "password in a URL": lambda r: _in("postgres://app:%@db.example:5432/orders", some(r, 12)),
    "password, exported": lambda r: _in("DB_PASSWORD=%", some(r, 12)),
    "password, quoted": lambda r: _in('password = "%"', some(r, 10) + "!"),
    "password in JSON": lambda r: _in('{"user": "ada", "password": "%"}', some(r, 12)),
    "password in YAML": lambda r: _in("db:\n  password: %\n", some(r, 14)),
    "password in prose": lambda r: _in("The password is %, do not share it.", some(r, 11)),
    "password with signs": lambda r: _in('password = "%"', some(r, 6) + '\\"/&<é' + some(r, 6)),
    "password of letters": lambda r: _in(
        'secret = "%"', "".join(r.choices(string.ascii_letters, k=16))
    ),
    "token on a command line": lambda r: _in("deploy --token % --now", some(r, 24)),
    "signed URL": lambda r: _in(
        "https://store.example/b/o?X-Amz-Date=1&X-Amz-Signature=%", some(r, 64, HEX)
    ),
    "private key": lambda r: _in("cat id:\n%\n", _pem(r, "RSA PRIVATE KEY")),
    "openssh private key": lambda r: _in("%", _pem(r, "OPENSSH PRIVATE KEY")),
    "random hex, quoted": lambda r: _in("salt: '%'", some(r, 40, HEX)),
    "random base64, quoted": lambda r: _in('iv = "%"', some(r, 44, LETTERS + "+/")),
    "random, exported": lambda r: _in("SIGNING_SEED=%", some(r, 40)),
    "passphrase of words": lambda r: _in(
        "passphrase: %", " ".join(r.choices(["plum", "ladder", "amber", "tunnel", "sock"], k=5))
    ),
    "number alone": lambda r: _in("PIN is %", some(r, 9, string.digits + "a").replace("a", "7")),
    "random, in running text": lambda r: _in("it printed % and ended", some(r, 32)),
}
"""How each kind is met; the last three are known not to be found."""

UNFOUND = {"passphrase of words", "number alone", "random, in running text"}

Place = Callable[[SessionBuilder, str], object]


def _call(session: SessionBuilder, arguments: Any) -> None:
    session.assistant("", calls=[tool_call("bash", arguments)])
    session.tool_result("call-1", "done")


PLACES: dict[str, Place] = {
    "what the user said": lambda s, t: s.user(f"So: {t}\nthat is it"),
    "a block of the user's": lambda s, t: s.user([text_block("one"), text_block(t)]),
    "a reply": lambda s, t: s.assistant(t),
    "thinking": lambda s, t: s.assistant("yes", thinking=t),
    "an argument": lambda s, t: _call(s, {"command": t}),
    "an argument within arguments": lambda s, t: _call(s, {"env": [{"name": "A", "value": t}]}),
    "an argument that is JSON": lambda s, t: _call(s, {"body": json.dumps({"say": t})}),
    "the name of an argument": lambda s, t: _call(s, {t: 1}),
    "a result": lambda s, t: (
        s.assistant("", calls=[tool_call("read", id="c")]),
        s.tool_result("c", f"first\n{t}\nlast"),
    ),
    "details of a result": lambda s, t: s.tool_result("c", "x", message={"details": {"diff": [t]}}),
    "the prompt": lambda s, t: s.system(t),
    "a section of the prompt": lambda s, t: s.system(sections={"env": t}),
    "the description of a tool": lambda s, t: s.system(tools_added=[tool("bash", t)]),
    "a summary": lambda s, t: s.compaction(t),
    "the prompt at a summary": lambda s, t: s.compaction(
        "so far", system_message=system_message(sections={"env": t})
    ),
    "the summary of a branch": lambda s, t: s.branch_summary(t),
    "a message of an extension": lambda s, t: s.custom_message(t),
    "what an extension remembers": lambda s, t: s.custom({"state": {"seen": [t]}}),
    "a label": lambda s, t: s.label("00000001", t),
    "the name of the session": lambda s, t: s.name(t),
    "a command of the user's": lambda s, t: s.bash(t, "ok"),
    "the output of a command": lambda s, t: s.bash("env", t),
    "an edit": lambda s, t: s.edit("00000001", t),
    "an error": lambda s, t: s.assistant("", stop_reason="error", message={"errorMessage": t}),
    "an entry of an unknown type": lambda s, t: s.add("quantum", {"said": {"deep": t}}),
    "a field nobody knows": lambda s, t: s.user("hi", extra={"hint": t}),
    "a line that is cut off": lambda s, t: s.raw_line(
        b'{"type":"message","id":"z","message":{"content":' + json.dumps(t).encode()
    ),
}
"""Where a text is put."""

HEADERS = {"the directory": "cwd", "the session it was forked from": "parentSession"}
"""Fields of the header where it is put."""
PLACES |= dict.fromkeys(HEADERS, lambda _session, _text: None)


def session_with(place: str, text: str) -> SessionBuilder:
    """Make a small session with a text in one place."""
    session = SessionBuilder(**({HEADERS[place]: text} if place in HEADERS else {}))
    session.user("Name an apple.")
    PLACES[place](session, text)
    session.user("Thanks.")
    return session
