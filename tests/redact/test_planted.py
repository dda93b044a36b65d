"""Secrets of many kinds in every place: found, missed, and what was taken for one and is none."""

from __future__ import annotations

import base64
import json
from collections import Counter
from random import Random
from urllib.parse import quote

import pytest

from conftest import ROOT, SHARED, need
from pi_sessions import load, loads
from pi_sessions.redact import Redaction
from pi_sessions.testing import SessionBuilder, tool_call
from redact.planted import KINDS, PLACES, UNFOUND, session_with
from redact.test_laws import assert_same_structure

GUIDE = " ".join((ROOT / "docs" / "exporting.md").read_text("utf-8").split())


def leaks(data: bytes, secret: str) -> bool:
    """Say whether a secret, or a line of it, still stands in a file, also JSON within JSON."""
    text = data.decode("utf-8", "replace")
    for part in (secret, *secret.split("\n")[1:-1]):
        once = json.dumps(part, ensure_ascii=False)[1:-1]
        twice = json.dumps(once, ensure_ascii=False)[1:-1]
        if any(form in text for form in (part, once, twice, json.dumps(part)[1:-1])):
            return True
    return False


def test_planted_secrets() -> None:
    """Each kind in each place; the guide has the counts."""
    found: Counter[str] = Counter()
    for kind, make in KINDS.items():
        for place in PLACES:
            text, secret = make(Random(f"{kind} in {place}"))
            session = loads(session_with(place, text).data)
            redaction = Redaction(session)
            data = b"".join(redaction.lines())
            assert_same_structure(session, loads(data))
            found[kind] += not leaks(data, secret)
    for kind in KINDS:
        print(f"{kind}: {found[kind]} of {len(PLACES)}")
    told = sum(found[kind] for kind in KINDS if kind not in UNFOUND)
    assert f"{len(KINDS) - len(UNFOUND)} kinds" in GUIDE
    assert f"{len(PLACES)} places" in GUIDE
    count = (len(KINDS) - len(UNFOUND)) * len(PLACES)
    sentence = f"{told} of {count}"
    print(f"found {sentence}")
    assert not any(found[kind] for kind in UNFOUND), "the guide says these are not found"
    assert told >= 0.99 * count
    assert f"**{sentence}**" in GUIDE


def test_found_once_replaced_everywhere() -> None:
    """What is known to be a secret from one place is replaced in all others, bare and encoded."""
    random = Random(7)
    texts = []
    session = SessionBuilder()
    for kind in sorted(KINDS.keys() - UNFOUND - {"random base64, quoted"}):
        text, secret = KINDS[kind](random)
        texts.append(secret)
        session.user(text)
        for place in PLACES.values():
            place(session, f"bare {secret} here")
        session.user(json.dumps({"a": json.dumps(secret)}))
        session.user(quote(secret, safe=""))
        for before in ("", "a", "ab"):
            raw = f"{before}{secret} and more".encode()
            session.user(base64.b64encode(raw).decode())
            session.user(base64.urlsafe_b64encode(raw).decode())
    redaction = Redaction(loads(session.data))
    data = b"".join(redaction.lines())

    for secret in texts:
        assert not leaks(data, secret)
        assert quote(secret, safe="").encode() not in data
        if "\\" not in secret:  # that is how it is written in a program, not what it is
            assert base64.b64encode(secret.encode())[:14] not in data, secret


DECOYS = """\
password = getpass.getpass("Password: ")
def login(username: str, password: str) -> Token:
token_count = len(tokenizer.encode(text))
max_tokens: 16384
commit 3f2a9c1d0b7e6f5a4b3c2d1e0f9a8b7c6d5e4f3a
Merge: 91ab2c3 77de0f1
session 01a20cb7-44b8-754a-b9e8-5db6ebe4c056
secret: ${{ secrets.DEPLOY_TOKEN }}
api_key = os.environ["API_KEY"]
const key = keys[index % keys.length];
<input type="password" name="password" placeholder="Password">
pip install cryptography==42.0.5 --require-hashes
see https://docs.example.org/en/latest/configuration.html#passwords?tab=linux
/usr/lib/python3.11/site-packages/pydantic_core/_pydantic_core.cpython-311-x86_64-linux-gnu.so
PASS tests/auth.test.ts (12 of 12)
The key insight is that tokens are counted twice.
passed: 1204
primary_key: order_id
import { TokenStream2 } from "proc-macro2";
-rw-r--r-- 1 ada ada 4096 Jan 12 10:31 secrets.md
user@host:~/src/orchard$ git remote -v
"integrity": "see package-lock.json"
const url = `https://${user}:${password}@${host}/`;
foreign_key = "orders.customer_id"
passwordless: true
""".splitlines()
"""Lines that have what secrets have, and hold none."""


def test_false_alarms() -> None:
    """What holds no secret is left alone; the guide has the counts."""
    need(SHARED / "wire")
    session = SessionBuilder()
    for line in DECOYS:
        session.user(line)
    decoys = Redaction(loads(session.data)).secrets
    for secret in decoys:
        print("false alarm:", secret.kind, secret.value)
    paths = [*SHARED.glob("real/*.jsonl"), *SHARED.glob("wire/*/session*.jsonl")]
    paths += ROOT.glob("examples/*/session.jsonl")
    alarms = [
        (path, secret.kind, secret.value)
        for path in sorted(paths)
        for secret in Redaction(load(path)).secrets
    ]
    for alarm in alarms:
        print("false alarm:", *alarm)
    sentence = f"{len(decoys)} of {len(DECOYS)}"
    assert f"**{sentence}**" in GUIDE
    assert f"**{len(alarms)}** in {len(paths)} recorded and real sessions" in GUIDE


def test_redacting_twice_changes_nothing() -> None:
    for kind, make in KINDS.items():
        text, _ = make(Random(kind))
        session = session_with("an argument that is JSON", text)
        session.user(text)
        once = b"".join(Redaction(loads(session.data)).lines())
        twice = b"".join(Redaction(loads(once)).lines())
        assert twice == once, kind


def test_numbers_go_on_where_placeholders_are() -> None:
    """A second round does not use a number again."""
    session = SessionBuilder()
    session.user("was [redacted:api-token-7]")
    session.user('password = "' + "Zebra4Tulip" + '"')
    (secret,) = Redaction(loads(session.data)).secrets
    assert secret.placeholder() == "[redacted:secret-keyword-8]" or secret.number == 8


def test_words_are_replaced_only_where_they_are_secrets() -> None:
    """A password that is a word stays a word elsewhere."""
    session = SessionBuilder()
    session.user('password = "orchard"')
    session.user("How is the orchard?")
    data = b"".join(Redaction(loads(session.data)).lines())
    assert b"How is the orchard?" in data
    assert b'password = \\"[redacted:' in data


def test_what_stays_in_ids_is_told() -> None:
    """An id is never changed, and it is told that a secret stands in it."""
    secret = KINDS["github token"](Random(1))[1]
    session = SessionBuilder()
    session.user(f"use {secret}")
    session.assistant("", calls=[tool_call("bash", {"a": secret}, id=secret)])
    redaction = Redaction(loads(session.data))
    data = b"".join(redaction.lines())
    (found,) = redaction.secrets
    assert found.left == {3: 1}
    assert found.replaced == {2: 1, 3: 1}
    assert data.count(secret.encode()) == 1


@pytest.mark.parametrize("hidden", ['"text":"%","text":"ok"', '"\\u0074ext":"%","text":"ok"'])
def test_keys_that_are_doubled_hide_nothing(hidden: str) -> None:
    """Of a key that stands twice the reader sees the last; the other is not written again."""
    secret = KINDS["github token"](Random(1))[1]
    session = SessionBuilder()
    block = "{" + '"type":"text",' + hidden.replace("%", secret) + "}"
    session.raw_line(
        b'{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":['
        + block.encode()
        + b"]}}"
    )
    assert secret.encode() in session.data
    assert secret.encode() not in b"".join(Redaction(loads(session.data)).lines())


@pytest.mark.parametrize("text", ['password = "\ud800abcd1efg"', 'pwd = "a1\udc00b2c3d4"'])
def test_lone_surrogates_stay(text: str) -> None:
    """They decide whether a message counts as trimmed."""
    session = loads(session_with("a reply", text).data)
    redaction = Redaction(session)
    assert redaction.secrets
    assert_same_structure(session, redaction.result())


def test_structure_only_leaves_no_text() -> None:
    """Nothing that was said is left, in any place, and the sizes are."""
    for place in PLACES:
        text = "Gravensteiner 4711, née Grævestøjn 🍏"
        before = session_with(place, text).data
        after = b"".join(Redaction(loads(before), structure_only=True).lines())
        for word in ("Gravensteiner", "4711", "Gr\\u00e6", "Græ", "apple", "orchard", "Thanks"):
            assert word.encode() not in after, place
        assert_same_structure(loads(before), loads(after))


def test_pictures_go_and_their_places_stay() -> None:
    session = SessionBuilder()
    picture = base64.b64encode(bytes(range(256)) * 20).decode()
    session.user([{"type": "image", "data": picture, "mimeType": "image/png"}])
    before = loads(session.data)
    for way in ({"secrets": False, "pictures": False}, {"structure_only": True}):
        after = Redaction(before, **way).result()
        assert after.responses or picture[:20].encode() not in b"".join(
            e.bytes for e in after.entries
        )
        assert_same_structure(before, after)
    assert Redaction(before).result().entries[0].raw == before.entries[0].raw
