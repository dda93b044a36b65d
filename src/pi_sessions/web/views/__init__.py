"""The views: each takes a request apart, asks a session, and fills a template."""
