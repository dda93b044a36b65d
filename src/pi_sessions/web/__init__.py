"""The local page: a session, or a store of sessions, to look at in a browser."""

from pi_sessions.web.app import create_app
from pi_sessions.web.site import Site

__all__ = ["Site", "create_app"]
