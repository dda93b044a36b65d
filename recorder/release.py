"""Check a release of Pi (`make releases`): install it, record scenarios, say what is explained.

A request that is built otherwise by the rules of the release is built again with every other value
of every rule; what makes it equal is the rule that the release has changed, or changed back.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from pi_sessions import Rules, Session, UnknownReleaseError, load
from pi_sessions._json import dumps
from pi_sessions.context import asking, models, point, rules

from .pi import PACKAGE, node_executable

NAME = PACKAGE.removeprefix("node_modules/")
EARLIER_NAME, NAMED_ANEW = "@mariozechner/pi-coding-agent", (0, 74)
"""The package had another name before this release."""
SCENARIOS = (
    *(f"{name}-{api}" for name in ("plain", "thinking", "aborts", "images", "runs", "unanswered")
      for api in ("anthropic", "chat", "responses")),
    "model-switch",
    "unsigned-thinking",
    "compaction",
    "retry",
    "edits-chat",
    "steering",
)  # fmt: skip


def main() -> int:
    """Check the release that is named; 1 if a request is not explained."""
    parser = argparse.ArgumentParser(prog="recorder.release", description=__doc__)
    parser.add_argument("release", help="a release of Pi, such as 1.6.0, or latest")
    parser.add_argument("--only", action="append", metavar="NAME", help="one scenario, repeatable")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where the recordings are kept")
    parser.add_argument("--home", type=Path, default=Path("/home/dev"), help="home to record in")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pi-release-") as folder:
        try:
            installed = install(options.release, Path(folder))
        except subprocess.CalledProcessError:
            print(f"npm cannot install {package_of(options.release)}", file=sys.stderr)
            return 2
        print(package_of(installed))
        out = options.keep or Path(folder) / "recordings"
        record(
            _unpacked(Path(folder), installed), out, options.home, options.only or list(SCENARIOS)
        )
        return report(installed, out)


def package_of(release: str) -> str:
    """Give what npm installs for a release: the package, by the name it had then."""
    parts = release.split(".")
    numbers = tuple(int(part) for part in parts) if all(map(str.isdecimal, parts)) else NAMED_ANEW
    return f"{EARLIER_NAME if numbers < NAMED_ANEW else NAME}@{release}"


def _unpacked(folder: Path, release: str) -> Path:
    """Give the folder that npm put the package of a release into."""
    return folder / "node_modules" / package_of(release).rpartition("@")[0]


def install(release: str, folder: Path) -> str:
    """Install a release with npm, and give the number it has."""
    node = Path(node_executable())
    npm = node.parent.parent / "lib/node_modules/npm/bin/npm-cli.js"
    words = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(
        [node, npm, *words, "--prefix", folder, package_of(release)],
        check=True,
        env={**os.environ, "PATH": f"{node.parent}:{os.environ.get('PATH', '')}"},
    )
    package = json.loads((_unpacked(folder, release) / "package.json").read_text("utf-8"))
    return str(package["version"])


def record(reference: Path, out: Path, home: Path, names: list[str]) -> None:
    """Record scenarios with the Pi that was installed."""
    chosen = [word for name in names for word in ("--only", name)]
    subprocess.run(
        [sys.executable, "-m", "recorder", "--out", out, "--home", home, *chosen],
        check=False,
        env={**os.environ, "PI_SESSIONS_REFERENCE": str(reference)},
    )


def report(release: str, out: Path) -> int:
    """Print the share of requests that are explained, and the rules that explain others."""
    try:
        known = Rules.of(release)
    except UnknownReleaseError:
        known = Rules()
        print(f"no rules of {release} are known: those of {known.release} are taken")
    requests = [
        request
        for folder in sorted(path.parent for path in out.glob("*/requests.meta.jsonl"))
        for request in turns(folder)
    ]
    rest = [request for request in requests if not request.is_explained(known)]
    equal = len(requests) - len(rest)
    print(f"{equal} of {len(requests)} requests are equal by the rules of {known.release}")
    while rest and (found := most_helpful(rest, known)):
        known, told, rest = found
        print(f"{len(requests) - len(rest)} of {len(requests)} if {told}")
    for request in rest:
        print(f"no rule explains {request.name}")
    return int(not requests or equal < len(requests))


def most_helpful(rest: list[Request], known: Rules) -> tuple[Rules, str, list[Request]] | None:
    """Find the change of one rule that explains most, and what is left then; None if none helps."""
    best = None
    for change in rules.changes():
        for value, told in (change.old, change.new):
            if value == getattr(known, change.rule):
                continue
            other = msgspec.structs.replace(known, **{change.rule: value})
            left = [request for request in rest if not request.is_explained(other)]
            if len(left) < len(best[2] if best else rest):
                best = (other, f"{change.rule} is {value!r}: {change.what}: {told}", left)
    return best


class Request:
    """A recorded request that is built again by any rules."""

    def __init__(
        self, name: str, session: Session, line: int, folder: Path, sent: dict[str, Any]
    ) -> None:
        self.name = name
        self.sent = sent
        self.session = session
        self.where = point.at_response(session.table, line, session.zone)
        self.asking = asking.Asking(session.table, session.zone, session.id)
        target = self.asking.target(self.where)
        config = models.parse_models((folder / "models.json").read_text("utf-8"))
        self.model = models.resolve(target.provider, target.model, target.api, config=config)
        settings = (folder / "settings.json").read_text("utf-8")
        self.preferences = models.parse_settings(settings)

    def is_explained(self, by: Rules) -> bool:
        """Say whether rules make of it what was sent."""
        where = msgspec.structs.replace(self.where, rules=by)
        staged = self.asking.messages(where)
        built = self.asking.payload(where, staged, self.model, self.preferences, "short")
        recorded = by.records_prompt
        ours = json.loads(dumps(built.body))
        return dumps(_recorded(ours, prompt=recorded)) == dumps(
            _recorded(self.sent, prompt=recorded)
        )


def _recorded(body: dict[str, Any], *, prompt: bool) -> dict[str, Any]:
    """Give what of a body is in the session: without prompt and tools, where these are not."""
    if prompt:
        return body
    kept = {key: value for key, value in body.items() if key not in ("system", "tools")}
    for key in ("messages", "input"):
        if key in kept and kept[key][:1] and kept[key][0].get("role") in ("system", "developer"):
            kept[key] = kept[key][1:]
    return kept


def turns(folder: Path) -> Iterator[Request]:
    """Give the model turns of a recording that a reply answers."""
    meta = (folder / "requests.meta.jsonl").read_text("utf-8").splitlines()
    bodies = (folder / "requests.jsonl").read_bytes().split(b"\n")
    for number, (told, line) in enumerate(zip(meta, bodies, strict=False), 1):
        entry = json.loads(told)
        if entry["kind"] == "turn" and entry.get("answered"):
            session = load(folder / entry["session_file"])
            reply = session.entry(entry["answered"]).line
            sent = json.loads(line)["body"]
            yield Request(f"{folder.name}#{number}", session, reply, folder, sent)


if __name__ == "__main__":
    sys.exit(main())
