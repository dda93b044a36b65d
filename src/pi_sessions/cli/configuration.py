"""The person's models and settings, read from Pi's own files."""

from __future__ import annotations

import json
import os
from functools import cache
from glob import glob
from shutil import which
from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions._javascript import date_value
from pi_sessions.cli import environment
from pi_sessions.cli.arguments import UsageError, target_for
from pi_sessions.context import models
from pi_sessions.context.model import Found, Model

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from pi_sessions.context.target import Target
    from pi_sessions.session import Session

_SHIPPED = os.path.join("@earendil-works", "pi-ai", "dist", "providers", "data")


def preferences(args: argparse.Namespace, cwd: str | None) -> models.Preferences:
    """Read the settings of the person, overlaid by those of the session's project.

    Raises:
        UsageError: a named file cannot be read.
    """
    named = args.settings
    path = named or os.path.join(environment.agent_directory(), "settings.json")
    text = _text(path, named=bool(named))
    project = None
    if not named and cwd:
        project = _text(os.path.join(cwd, ".pi", "settings.json"), named=False)
    return models.parse_settings("{}" if text is None else text, project)


def model_for(args: argparse.Namespace, session: Session) -> Model:
    """Give the model a request goes to, with its configuration.

    A model that is configured nowhere has the defaults of a custom model, but that it takes
    pictures is assumed, as in `Session.target`.

    Raises:
        UsageError: a named models.json cannot be read or has errors.
    """
    target = target_for(args, session) or session.target(args.leaf, response=args.response)
    return models_for(args)(target)


def models_for(args: argparse.Namespace) -> Callable[[Target], Model]:
    """Give what finds the configuration of models, each looked up once.

    Raises:
        UsageError: a named models.json cannot be read or has errors.
    """
    path = args.models or os.path.join(environment.agent_directory(), "models.json")
    text = _text(path, named=bool(args.models))
    config = models.parse_models(text) if text else models.ModelsFile()
    if config.error and args.models:
        raise UsageError(f"{path}: {config.error}")
    catalogue = _catalogue()

    @cache
    def model_of(target: Target) -> Model:
        names = (target.provider, target.model, target.api)
        model = models.resolve(*names, config=config, catalogue=catalogue)
        if args.input or model.found is Found.NOWHERE:
            model = msgspec.structs.replace(model, input=target.input)
        return model

    return model_of


def _text(path: str, *, named: bool) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except (OSError, ValueError) as error:
        if named:
            why = getattr(error, "strerror", None) or "cannot be read"
            raise UsageError(f"{path}: {why}") from None
        return None


def _catalogue() -> models.Catalogue:
    """Read the models that come with the Pi that is installed, and the newer ones it has stored."""
    stored = _object(os.path.join(environment.agent_directory(), "models-store.json"))
    folder = _shipped_folder()
    if folder is None:
        return models.Catalogue(stored=stored)
    shipped = {
        os.path.basename(path)[: -len(".json")]: models.chat_models(_object(path))
        for path in sorted(glob(os.path.join(folder, "*.json")))
    }
    made = _object(os.path.join(folder, ".manifest.json")).get("generatedAt")
    return models.Catalogue(shipped, stored, date_value(made) if made else None)


def _shipped_folder() -> str | None:
    """Find the data of the installed package: pi-ai beside or inside pi-coding-agent."""
    program = which("pi")
    folder = os.path.dirname(os.path.realpath(program)) if program else ""
    while folder and folder != os.path.dirname(folder):
        candidate = os.path.join(folder, "node_modules", _SHIPPED)
        if os.path.isdir(candidate):
            return candidate
        folder = os.path.dirname(folder)
    return None


def _object(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8-sig") as file:
            value = json.load(file)
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
