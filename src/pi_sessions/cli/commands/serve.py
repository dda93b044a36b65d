"""Show sessions in a browser: the tree, the transcript, and what the model saw at every reply."""

from __future__ import annotations

import argparse
import gc
import secrets
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pi_sessions.cli import arguments as shared
from pi_sessions.cli import configuration, environment, output
from pi_sessions.cli.arguments import UsageError
from pi_sessions.errors import SessionNotFoundError
from pi_sessions.excerpt import harmless

if TYPE_CHECKING:
    from pi_sessions.web import Site
    from pi_sessions.web.site import Audited

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    shared.add_session(parser)
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen at; default: 127.0.0.1, which only this machine reaches",
    )
    parser.add_argument("--port", type=int, default=0, help="default: one that is free")
    parser.add_argument("--open", action="store_true", help="open it in the browser")
    parser.add_argument("--dry-run", action="store_true", help="tell the address, and end")
    parser.add_argument(
        "--read-only",
        action="store_true",
        help="refuse names and labels, too; always so where other machines reach it",
    )
    parser.add_argument(
        "--audit", metavar="REPORT.md", help="audit a report against SESSION, and show it beside it"
    )
    parser.add_argument("--brief", metavar="FILE", help="with --audit: what it was asked by")
    shared.add_configuration(parser)
    shared.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command; it ends with Ctrl-C."""
    if args.audit and args.session is None:
        raise UsageError("--audit takes a SESSION to audit against")
    return _serve(args)


def show_audit(audited: Audited, session_dir: list[str] | None) -> int:
    """Show an audit that was made already; it ends with Ctrl-C."""
    parser = argparse.ArgumentParser()
    arguments(parser)
    args = parser.parse_args([])
    args.session_dir = session_dir
    return _serve(args, audited)


def _serve(args: argparse.Namespace, audited: Audited | None = None) -> int:
    import uvicorn  # noqa: PLC0415 - start-up

    from pi_sessions.web import create_app  # noqa: PLC0415 - start-up

    gc.enable()  # other commands end before memory matters
    listener = _listen(args.host, args.port)
    try:
        port = listener.getsockname()[1]
        site = _site(args, port, audited)
        address = _tell(args, port, site.token)
        if args.dry_run:
            return 0
        if args.open:
            import webbrowser  # noqa: PLC0415 - only this option needs it

            webbrowser.open(address)
        config = uvicorn.Config(
            create_app(site), log_level="warning", server_header=False, timeout_graceful_shutdown=1
        )
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        listener.close()
    return 0


def _tell(args: argparse.Namespace, port: int, token: str) -> str:
    name = f"[{args.host}]" if ":" in args.host else args.host
    address = f"http://{name}:{port}/?token={token}"
    if args.json:
        output.write_json({"address": address, "host": args.host, "port": port})
    else:
        print(harmless(address))
        print("Ctrl-C ends it. The address holds a key: keep it to yourself.", file=sys.stderr)
    sys.stdout.flush()
    return address


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        # Who asks before the server is up waits, and is not turned away.
        listener.listen(128)
    except (OSError, OverflowError) as error:
        listener.close()
        why = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot listen at {host}:{port}: {why.lower()}") from None
    return listener


def _audit(args: argparse.Namespace, session: Path) -> Audited:
    from pi_sessions import reader  # noqa: PLC0415 - start-up
    from pi_sessions.audit import audit  # noqa: PLC0415
    from pi_sessions.cli.texts import text_of  # noqa: PLC0415
    from pi_sessions.web.site import Audited  # noqa: PLC0415

    report, brief = text_of(args.audit), text_of(args.brief) if args.brief else ""
    loaded = reader.load(session, zone=environment.local_zone())
    return Audited(audit(report, [loaded], path=args.audit, brief=brief), report)


def _site(args: argparse.Namespace, port: int, audited: Audited | None) -> Site:
    from pi_sessions import reader  # noqa: PLC0415 - start-up
    from pi_sessions.index import Cache  # noqa: PLC0415
    from pi_sessions.web import Site  # noqa: PLC0415

    args.input = None  # each reply is asked for with the model of its own
    session = None
    if args.session is not None:
        session = Path(shared.find_session(args)).absolute()
        reader.load(session)  # a file that is no session is told now, and not by the page
    root = Path(environment.session_directory(args.session_dir)).absolute()
    if session is not None and args.audit:
        audited = _audit(args, session)
    if session is None and audited is None and not root.is_dir():
        raise SessionNotFoundError("newest", where=str(root))
    here = () if args.host in LOOPBACK else (args.host, socket.gethostname().lower())
    return Site(
        token=secrets.token_urlsafe(24),
        root=root if root.is_dir() else None,
        session=session,
        hosts=(*LOOPBACK, *here),
        port=port,
        zone=environment.local_zone(),
        model_of=configuration.models_for(args),
        preferences_of=lambda cwd: configuration.preferences(args, cwd),
        retention=args.cache_retention,
        release=args.release,
        cache=Cache(environment.cache_directory(), str(root), time.time_ns),
        audited=audited,
        is_read_only=args.read_only or args.host not in (*LOOPBACK, "::1"),
    )
