"""Write the session in another form: to standard output, or to a file."""

from __future__ import annotations

import argparse
import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from pi_sessions.cli import arguments as shared
from pi_sessions.cli import configuration, output
from pi_sessions.cli.arguments import UsageError
from pi_sessions.context.target import Target
from pi_sessions.export import FORMATS, Options, chunks, destination
from pi_sessions.export.options import Tools
from pi_sessions.export.sheets import SHEETS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pi_sessions.context.model import Model
    from pi_sessions.redact.secrets import Secret
    from pi_sessions.session import Session


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    shared.add_session(parser)
    parser.add_argument(
        "--format", choices=list(FORMATS), help="default: by the name of FILE, else md"
    )
    parser.add_argument("--out", metavar="FILE", help="write to this file; - is standard output")
    parser.add_argument("--force", action="store_true", help="replace FILE if it is there")
    parser.add_argument("--dry-run", action="store_true", help="tell what would be written")
    shared.add_point(parser)
    parser.add_argument("--branch", action="store_true", help="one branch, not the whole file")
    parser.add_argument(
        "--lines",
        metavar="A-B",
        type=_range,
        default=(1, None),
        help="only these lines of the file",
    )
    _add_redaction(parser)
    _add_markdown(parser)
    parser.add_argument(
        "--table", choices=list(SHEETS), default="entries", help="csv, parquet: which table"
    )
    parser.add_argument(
        "--no-provenance", action="store_true", help="requests: without the lines of each part"
    )
    parser.add_argument(
        "--pages",
        choices=["auto", "one", "many"],
        default="auto",
        help="html: one file, or a folder of pages; by default as large as the session is",
    )
    shared.add_target(parser)
    shared.add_configuration(parser)
    shared.add_common(parser)


def _add_redaction(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--redact", action="store_true", help="replace the secrets that are found")
    parser.add_argument(
        "--structure-only",
        action="store_true",
        help="replace all texts: only the structure is left",
    )
    parser.add_argument("--no-images", action="store_true", help="one pixel for each picture")


def _add_markdown(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--prompts", action="store_true", help="md: only what the user said")
    parser.add_argument("--thinking", action="store_true", help="md: with the model's thinking")
    parser.add_argument(
        "--tools", choices=list(Tools), default=Tools.BRIEF, help="md: how much of tools"
    )
    parser.add_argument("--times", action="store_true", help="md: with the time of each entry")
    parser.add_argument(
        "--no-states", action="store_true", help="md: without what was sent and what was not"
    )


def _range(text: str) -> tuple[int, int | None]:
    first, dash, last = text.partition("-")
    try:
        found = int(first or 1), (int(last) if last else None) if dash else int(first)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no range: 5, 5-9, 5- or -9") from None
    if found[0] < 1 or (found[1] is not None and found[1] < found[0]):
        raise argparse.ArgumentTypeError(f"there are no lines {text}")
    return found


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    name = _format(args)
    if name == "parquet" and find_spec("pyarrow") is None:
        raise UsageError("parquet needs pyarrow: pip install 'pi-sessions[parquet]'")
    shared.target_for(args, session := shared.open_session(args))
    path = None if args.out in (None, "-") else args.out
    if name == "html" and _has_pages(args, session):
        path = _folder(path)
        destination.check_folder(path, source=session.path)
    elif path:
        destination.check(path, source=session.path, force=args.force)
    told: dict[str, Any] = {"path": path, "format": name, "bytes": 0, "dryRun": args.dry_run}
    shown = session
    if args.redact or args.structure_only or args.no_images:
        shown, secrets = _redacted(args, session)
        told["secrets"] = [_row(secret) for secret in secrets]
        if args.redact and not args.json:
            _warn(secrets)
    if name == "html" and _has_pages(args, session):
        return _write_pages(args, told, shown, session)
    written = chunks(name, shown, _options(args, session))
    if args.dry_run:
        told["bytes"] = sum(map(len, written))
    elif path:
        told["bytes"] = destination.write(path, written, source=session.path, force=args.force)
    else:
        _pour(written)
        return 0
    _tell(args, told)
    return 0


def _has_pages(args: argparse.Namespace, session: Session) -> bool:
    """Say whether a session becomes a folder; what goes to standard output is one page."""
    if args.pages == "auto":
        from pi_sessions.export.html_pages import LARGE  # noqa: PLC0415 - start-up

        return args.out not in (None, "-") and session.table.source.size > LARGE
    return bool(args.pages == "many")


def _folder(path: str | None) -> str:
    """Name the folder: the name given, without its suffix.

    Raises:
        UsageError: no name is given.
    """
    if path is None:
        raise UsageError("pages are a folder: they need --out FOLDER")
    return path[: -len(".html")] if path.lower().endswith(".html") else path.rstrip("/")


def _write_pages(
    args: argparse.Namespace, told: dict[str, Any], shown: Session, session: Session
) -> int:
    from pi_sessions.export.html_pages import files  # noqa: PLC0415 - start-up

    written = files(shown, _options(args, session))
    if args.dry_run:
        told["bytes"] = sum(len(part) for _, chunks in written for part in chunks)
    else:
        told["bytes"] = destination.write_folder(told["path"], written, source=session.path)
    _tell(args, told)
    return 0


def _format(args: argparse.Namespace) -> str:
    """Choose the format: the one named, else by the name of the file."""
    is_reported = args.dry_run or args.out not in (None, "-")
    if args.format:
        if args.json and not is_reported and args.format != "json":
            raise UsageError("--json tells what was written to a file: it needs --out FILE")
        return str(args.format)
    if args.out not in (None, "-"):
        name = os.path.basename(args.out).lower()
        fitting = [key for key, row in FORMATS.items() if name.endswith(row.suffix)]
        if not fitting:
            raise UsageError(f"the name {name!r} tells no format: --format does")
        return max(fitting, key=lambda key: len(FORMATS[key].suffix))
    return "json" if args.json else "md"


def _options(args: argparse.Namespace, session: Session) -> Options:
    return Options(
        leaf=args.leaf,
        response=args.response,
        branch=args.branch,
        first=args.lines[0],
        last=args.lines[1],
        thinking=args.thinking,
        tools=Tools(args.tools),
        times=args.times,
        states=not args.no_states,
        prompts=args.prompts,
        provenance=not args.no_provenance,
        table=args.table,
        model_of=_models(args),
        preferences=configuration.preferences(args, session.cwd),
        cache_retention=args.cache_retention,
        release=args.release,
        workers=os.cpu_count() or 1,
    )


def _redacted(args: argparse.Namespace, session: Session) -> tuple[Session, Sequence[Secret]]:
    """Make the session that is exported instead, in a file that has no name any more."""
    from tempfile import NamedTemporaryFile  # noqa: PLC0415 - start-up

    from pi_sessions import reader  # noqa: PLC0415
    from pi_sessions.redact import Redaction  # noqa: PLC0415

    redaction = Redaction(
        session,
        secrets=args.redact,
        structure_only=args.structure_only,
        pictures=not args.no_images,
    )
    with NamedTemporaryFile(prefix="pi-sessions-", suffix=".jsonl") as file:
        file.writelines(redaction.lines())
        file.flush()
        return reader.load(file.name, zone=session.zone), redaction.secrets


def _row(secret: Secret) -> dict[str, Any]:
    return {
        "kind": secret.kind,
        "number": secret.number,
        "lines": secret.lines,
        "replacedOn": sorted(secret.replaced),
        "times": sum(secret.replaced.values()),
        "leftOn": sorted(secret.left),
    }


_MANY = 12
"""Lines that are told of one secret, and secrets of one kind."""


def _warn(secrets: Sequence[Secret]) -> None:
    """Tell on standard error what was found, by kind and line; never what it is."""
    for secret in secrets:
        row = _row(secret)
        where = ", ".join(map(str, row["replacedOn"][:_MANY]))
        more = "…" if len(row["replacedOn"]) > _MANY else ""
        told = f"{secret.kind}-{secret.number}: replaced {row['times']} times, on {where}{more}"
        print(told, file=sys.stderr)
        if secret.left:
            left = ", ".join(map(str, row["leftOn"][:_MANY]))
            print(
                f"{secret.kind}-{secret.number}: LEFT in an id or a name on {left}", file=sys.stderr
            )
    count = len(secrets)
    print(f"{count} secret{'' if count == 1 else 's'} found", file=sys.stderr)


def _models(args: argparse.Namespace) -> Callable[[Target], Model]:
    """Give what finds the model of a request: the reply's own, or what the words name of it."""
    find = configuration.models_for(args)

    def model_of(target: Target) -> Model:
        takes = tuple(args.input.split(",")) if args.input else target.input
        if args.target:
            api, provider, model = args.target.split("/", 2)
        else:
            api, provider = args.api or target.api, args.provider or target.provider
            model = args.model or target.model
        return find(Target(api, provider, model, takes))

    return model_of


def _pour(written: Iterable[bytes]) -> None:
    out = sys.stdout.buffer
    for chunk in written:
        out.write(chunk)


def _tell(args: argparse.Namespace, told: dict[str, Any]) -> None:
    if args.json:
        output.write_json(told)
        return
    from pi_sessions.excerpt import harmless  # noqa: PLC0415 - start-up

    would = "would write" if told["dryRun"] else "wrote"
    where = harmless(told["path"] or "standard output")
    print(f"{would} {told['bytes']} bytes of {told['format']} to {where}")
