"""Commands a report shows as run: were they, with which exit status, and did they say that."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

import msgspec

from pi_sessions.audit.findings import Evidence, Finding, Judgement, Part
from pi_sessions.audit.report import Block, BlockKind, Text, sentence_at
from pi_sessions.audit.units import marked
from pi_sessions.audit.wording import difference, normal
from pi_sessions.excerpt import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_sessions.audit.calls import Call
    from pi_sessions.audit.case import Case
    from pi_sessions.audit.report import Section

_SHELLS = frozenset({"sh", "bash", "zsh", "shell", "powershell"})
"""Languages of code whose lines are commands even without a prompt."""
_PROMPT = re.compile(
    r"^\s*(?:[$❯]|[\w.-]{1,40}@[\w.:~/ -]{1,80}[$%#❯]|~\S{0,80} ?[$%❯]|PS [^>\n]{0,80}>)\s+(?=\S)"
)
_PROGRAMS = (
    r"curl|wget|git|gh|python[\d.]*|pytest|node|npm|npx|pnpm|yarn|deno|bun|make|cargo|go|pip3?|uv|ls|cat|"
    r"head|tail|sed|awk|grep|rg|find|wc|sort|jq|diff|sha256sum|md5sum|shasum|openssl|tar|unzip|docker|"
    r"kubectl|psql|sqlite3|ruby|java|rustc|gcc|bash|sh|pi|pi-sessions|echo|date|du|stat|file|test"
)
_PROGRAM = re.compile(
    rf"(?:sudo |env |time |timeout \S+ )?(?:\./\S+|(?:[\w./~-]*/)?(?:{_PROGRAMS}))\s+\S.*",
    re.DOTALL,
)
_PAST = re.compile(
    r"\b(?:ran|run on|executed|(?:was|were|have|has) run|gave|gives|printed|prints|returned|"
    r"returns|exited|exits|exit(?: code| status)?|output|showed|shows|reported|reports|failed|"
    r"succeeded|passed|counted|measured|after running|by running)\b",
    re.IGNORECASE,
)
_FUTURE = re.compile(
    r"\b(?:would|should|could|to be run|propos\w+|not run|never run|will|planned|try|one can|"
    r"you can|if run|unrun|to (?:reproduce|repeat|verify|check)|reproduce (?:it )?with)\b",
    re.IGNORECASE,
)
_EXIT = re.compile(
    r"\bexit(?:ed|s|ing)?\b(?:\s+(?:with|status|code|was|is|of))*\s*[:=]?\s*`?(-?\d{1,3})\b"
    r"|\breturn(?:ed)? (?:code|status)\s*[:=]?\s*`?(-?\d{1,3})\b",
    re.IGNORECASE,
)
_SEGMENTS = re.compile(r"\s*(?:&&|\|\||[;|\n])\s*")
_ALIKE = 0.8


class Shown(msgspec.Struct, frozen=True):
    """A command that a report shows as run."""

    command: str
    line: int
    after: str
    """What the report says after it, in which an exit status may be told."""
    is_claimed: bool = True
    """Whether the report says that it was run, rather than naming it."""
    output: tuple[tuple[int, str], ...] = ()
    """Lines shown as its output, with their places in the report."""


def shown(case: Case) -> Iterator[Shown]:
    """Find the commands that a report shows as run."""
    sections = case.report.sections(case.outline.level)
    proposing = case.profile.section_asking("proposed")
    skipped = case.outline.of(proposing)
    for section in sections:
        if skipped is not None and section.line == skipped.line:
            continue
        yield from _of_section(section, case)


def _of_section(section: Section, case: Case) -> Iterator[Shown]:
    unrun = {
        id(block)
        for unit in section.units()
        if marked(unit.text, case.profile.unrun)
        for block in unit.blocks
    }
    before = ""
    for number, block in enumerate(section.blocks):
        if block.kind is BlockKind.CODE:
            follows = section.blocks[number + 1 : number + 2]
            after = (
                follows[0].text[:300] if follows and follows[0].kind is not BlockKind.CODE else ""
            )
            if id(block) not in unrun:
                claimed = not _FUTURE.search(before[-200:])
                yield from _of_code(block, f"{after}\n{before[-200:]}", is_claimed=claimed)
        elif block.kind not in (BlockKind.HEADING, BlockKind.HEAD) and id(block) not in unrun:
            for text in block.texts:
                yield from _of_text(text, block)
        before = block.text


def _of_code(block: Block, after: str, *, is_claimed: bool) -> Iterator[Shown]:
    text = block.texts[0]
    lines = text.text.rstrip("\n").split("\n")
    if any(_PROMPT.match(line) for line in lines) and block.info not in ("diff", "markdown", "md"):
        for run in _of_console(lines, text.line, after):
            yield msgspec.structs.replace(run, is_claimed=is_claimed)
    elif block.info in _SHELLS:
        for command, line in _logical(lines, text.line):
            yield Shown(command, line, after, is_claimed)


def _of_console(lines: list[str], first: int, after: str) -> Iterator[Shown]:
    command, line, output = "", first, list[tuple[int, str]]()
    continued = False
    for number, text in enumerate(lines, first):
        prompt = _PROMPT.match(text)
        if continued:
            command, continued = command.rstrip("\\") + " " + text.strip(), text.endswith("\\")
        elif prompt:
            if command:
                said = "\n".join(told for _, told in output)
                yield Shown(command, line, said, output=tuple(output))
            command, line, output = text[prompt.end() :], number, []
            continued = text.endswith("\\")
        elif text.strip() and command:
            output.append((number, text))
    if command:
        said = "\n".join(told for _, told in output)
        yield Shown(command, line, f"{said}\n{after}", output=tuple(output))


def _logical(lines: list[str], first: int) -> Iterator[tuple[str, int]]:
    """Give the commands of a script; continued lines as one."""
    command, line = "", first
    for number, text in enumerate(lines, first):
        if not command:
            line = number
        command = f"{command} {text.strip()}".strip()
        if command.endswith("\\"):
            command = command.rstrip("\\").rstrip()
            continue
        if command and not command.startswith("#"):
            yield command, line
        command = ""


def _of_text(text: Text, block: Block) -> Iterator[Shown]:
    commands = [
        span
        for span in text.spans
        if not span.url and _PROGRAM.fullmatch(text.text[span.start : span.stop].strip())
    ]
    is_row = block.kind is BlockKind.ROW
    for number, span in enumerate(commands):
        code = text.text[span.start : span.stop].strip()
        start, stop = sentence_at(text.text, span.start, span.stop)
        around = f"{text.text[start : span.start]} ` {text.text[span.stop : stop]}"
        whole = block.text[:1000] if is_row else around
        # A cell that is a command alone is told about by the cells beside it.
        told = whole if text.text.strip() == code else around
        if _FUTURE.search(whole):
            continue
        end = commands[number + 1].start if number + 1 < len(commands) else len(text.text)
        rest = text.text[span.stop : end]
        before = "" if number else text.text[start : span.start]
        rest = f"{rest[:400]} | {block.text[:1000]}" if is_row else f"{rest[:400]}\n{before}"
        # A command alone in brackets is given as the way to what is said before them.
        is_given = text.text[: span.start].endswith("(") and text.text[span.stop :].startswith(")")
        yield Shown(code, text.line_at(span.start), rest, is_given or bool(_PAST.search(told)))


class Match(msgspec.Struct, frozen=True):
    """A call that ran a command."""

    call: Call
    is_last: bool
    """Its exit status is that of the command."""


def check(case: Case) -> Iterator[Finding]:
    """Look for each command that is shown as run among the calls."""
    calls = [call for witness in case.witnesses for call in witness.calls if call.command]
    for command in shown(case):
        yield from _judge(case, command, calls)


def _judge(case: Case, command: Shown, calls: Sequence[Call]) -> Iterator[Finding]:
    writer = case.writer(command.line)
    path = case.witnesses[writer.session].path if writer else ""
    matches = [match for call in calls if (match := _match(command.command, call))]
    earlier = [
        m for m in matches if not writer or m.call.session != path or m.call.line < writer.line
    ]
    if not matches:
        if command.is_claimed:
            yield _never(case, command, calls)
        return
    if not earlier:
        says = "it was run only after this was written"
        evidence = tuple(_evidence(match.call) for match in matches[:4])
        yield _finding("run-afterwards", Judgement.CONTRADICTED, command, says, evidence)
        return
    evidence = tuple(_evidence(match.call) for match in earlier[:4])
    told = _EXIT.search(command.after)
    yield _exit(command, earlier, told, evidence)
    yield from _outputs(command, earlier)


def _exit(
    command: Shown,
    matches: Sequence[Match],
    told: re.Match[str] | None,
    evidence: tuple[Evidence, ...],
) -> Finding:
    if told is None:
        return _finding("run", Judgement.HOLDS, command, "it was run", evidence)
    status = int(told[1] or told[2])
    known = {match.call.exit for match in matches if match.is_last and match.call.exit is not None}
    if status in known:
        says = f"it was run, and exited with {status}"
        return _finding("run", Judgement.HOLDS, command, says, evidence)
    if not all(match.is_last and match.call.exit is not None for match in matches):
        says = f"it was run; whether it exited with {status} is not in the session"
        return _finding("exit-unknown", Judgement.CANNOT_TELL, command, says, evidence)
    says = f"it exited with {' and '.join(map(str, sorted(known)))}, not with {status}"
    return _finding("wrong-exit", Judgement.CONTRADICTED, command, says, evidence)


def _never(case: Case, command: Shown, calls: Sequence[Call]) -> Finding:
    wanted = _plain(command.command)
    near = max(
        ((_likeness(wanted, _plain(call.command)), -n, call) for n, call in enumerate(calls)),
        default=None,
        key=lambda found: found[:2],
    )
    if near and near[0] >= _ALIKE:
        says = "no call is this command; this one is like it"
        change = difference(wanted, _plain(near[2].command))
        alike = (_evidence(near[2]),)
        return _finding("near-command", Judgement.UNSUPPORTED, command, says, alike, change)
    evidence = tuple(
        Evidence(
            w.path, 0, f"{sum(1 for c in w.calls if c.command)} shell commands", "none is this one"
        )
        for w in case.witnesses
    )
    if case.authorship.main is None:
        says = "no call is this command; the session that wrote the report is not among these"
        return _finding("never-run", Judgement.UNSUPPORTED, command, says, evidence)
    says = "it is shown as run, and no call is this command"
    return _finding("never-run", Judgement.CONTRADICTED, command, says, evidence)


def _likeness(left: str, right: str) -> float:
    matcher = SequenceMatcher(None, left[:500], right[:500], autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= _ALIKE else 0.0


def _plain(command: str) -> str:
    bare = re.sub(r"(?:^|\s)#\s[^\n'\"]*$", "", command, flags=re.MULTILINE)
    return " ".join(bare.split()).strip().rstrip(";").strip()


def _match(command: str, call: Call) -> Match | None:
    """Say whether a call ran a command: it alone, or as one part of a longer one."""
    wanted, ran = _plain(command), _plain(call.command)
    if wanted == ran:
        return Match(call, is_last=True)
    parts = [_plain(part) for part in _SEGMENTS.split(call.command) if part.strip()]
    if wanted in parts:
        return Match(call, is_last=parts[-1] == wanted)
    if len(wanted) >= 6 and re.search(rf"(?:^|[\s;&|(]){re.escape(wanted)}(?:$|[\s;&|)])", ran):
        return Match(call, is_last=ran.endswith(wanted))
    asked = [_plain(part) for part in _SEGMENTS.split(command) if part.strip()]
    if len(asked) > 1 and asked[-1] == ran:
        return Match(call, is_last=True)
    return None


def _outputs(command: Shown, matches: Sequence[Match]) -> Iterator[Finding]:
    """Look for the lines that are shown as output in what came back."""
    outputs = [normal(match.call.output) for match in matches]
    good: list[str] = []
    for line, text in command.output:
        wanted = normal(text)
        if re.fullmatch(r"[.…\s]*|\[\.\.\.\]|#.*", wanted) or _EXIT.fullmatch(wanted):
            continue
        parts = [part for part in re.split(r"\s*(?:\.\.\.|…)\s*", wanted) if part]
        if any(all(part in output for part in parts) for output in outputs):
            good.append(text)
            continue
        says = "it is shown as output of this command, and is not in what came back"
        evidence = tuple(
            Evidence(m.call.session, m.call.result, one_line(m.call.output, 240), m.call.note)
            for m in matches[:4]
        )
        yield Finding(
            Part.COMMANDS, "output-from-nowhere", Judgement.CONTRADICTED, line, text, says, evidence
        )
    if good:
        says = f"{len(good)} line{'s' * (len(good) != 1)} of output, as they came back"
        evidence = tuple(
            Evidence(m.call.session, m.call.result, one_line(m.call.output, 240), m.call.note)
            for m in matches[:1]
        )
        yield Finding(
            Part.COMMANDS, "output", Judgement.HOLDS, command.output[0][0], good[0], says, evidence
        )


def _evidence(call: Call) -> Evidence:
    return Evidence(call.session, call.line, one_line(call.command), call.note)


def _finding(
    code: str,
    judgement: Judgement,
    command: Shown,
    says: str,
    evidence: tuple[Evidence, ...],
    change: tuple[tuple[str, str], ...] = (),
) -> Finding:
    words, line = command.command, command.line
    return Finding(Part.COMMANDS, code, judgement, line, words, says, evidence, None, change)
