"""Addresses of sources, in a form in which two ways of writing one address meet.

An address is a URL, a DOI, an arXiv id, a repository or a file.
"""

from __future__ import annotations

import re
from enum import StrEnum
from urllib.parse import unquote, urlsplit

import msgspec

from pi_sessions.audit.markdown import bare_urls
from pi_sessions.audit.report import Text

_DOI = re.compile(r"\b(10\.\d{4,9}/[^\s\"'<>|\])]+)")
_ARXIV = re.compile(
    r"\barxiv(?:\.org/(?:abs|pdf|html)/|[:\s]+|\.)(\d{4}\.\d{4,5}|[a-z-]+/\d{7})", re.IGNORECASE
)
_REPOSITORY = re.compile(
    r"^(?:github|gitlab|codeberg)\.(?:com|org)/([\w.-]+)/([\w.-]+?)(?:\.git)?$"
)
_BLOB = re.compile(r"^github\.com/([^/]+/[^/]+)/(?:blob|raw)/(.+)$")
_RAW = re.compile(r"^raw\.githubusercontent\.com/([^/]+/[^/]+)/(?:refs/heads/)?(.+)$")
_PACKAGE = re.compile(r"\bpkg:[^\s#|]+#([\w./@+-]*[\w@+-])")
_FILE = re.compile(r"(?:~|\.{1,2})?/?(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.[A-Za-z][A-Za-z0-9]{0,7}")


class AddressKind(StrEnum):
    """What an address is."""

    URL = "url"
    DOI = "doi"
    ARXIV = "arxiv"
    REPOSITORY = "repository"
    FILE = "file"


class Address(msgspec.Struct, frozen=True):
    """One address of a source."""

    kind: AddressKind
    key: str
    """In the form in which equal ones are equal."""
    text: str
    """As it was written."""
    is_abstract: bool = False
    """A page that holds an abstract alone."""

    @property
    def name(self) -> tuple[AddressKind, str]:
        """What two addresses are compared by."""
        return self.kind, self.key


def of_url(url: str) -> Address:
    """Give the address of a URL."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").removeprefix("www.")
        port = f":{parts.port}" if parts.port not in (None, 80, 443) else ""
        path = re.sub(r"/{2,}", "/", unquote(parts.path)).rstrip("/")
    except ValueError:
        return Address(AddressKind.URL, url.casefold(), url)
    arxiv = _ARXIV.search(f"{host}{path}") if host.endswith("arxiv.org") else None
    if arxiv:
        return Address(
            AddressKind.ARXIV, arxiv[1].lower(), url, "/abs/" in path or host != "arxiv.org"
        )
    doi = _DOI.search(path) if host in ("doi.org", "dx.doi.org") else None
    if doi:
        return Address(AddressKind.DOI, doi[1].lower().rstrip(".,;"), url)
    key = f"{host}{port}{path}" + (f"?{parts.query}" if parts.query else "")
    repository = _REPOSITORY.match(key)
    if repository:
        return Address(AddressKind.REPOSITORY, key.removesuffix(".git").lower(), url)
    blob, raw = _BLOB.match(key), _RAW.match(key)
    if found := blob or raw:
        key = f"github.com/{found[1]}/blob/{found[2]}"
    return Address(AddressKind.URL, key, url)


def of_text(text: Text, *, files: bool = False) -> list[Address]:
    """Find the addresses in a text of a report.

    Args:
        text: a cell or a paragraph.
        files: whether names of files in code spans count.
    """
    found = [of_url(span.url) for span in text.spans if _is_remote(span.url)]
    rest = text.text
    found += [
        Address(AddressKind.FILE, of_file(match[1]), match[0]) for match in _PACKAGE.finditer(rest)
    ]
    for url, _ in bare_urls(rest):
        rest = rest.replace(url, " ")
    found += [
        Address(AddressKind.ARXIV, match[1].lower(), match[0]) for match in _ARXIV.finditer(rest)
    ]
    found += [
        Address(AddressKind.DOI, match[1].lower().rstrip(".,;"), match[0])
        for match in _DOI.finditer(rest)
    ]
    if files:
        links = [s.url for s in text.spans if s.url and not _is_remote(s.url) and s.url[0] != "#"]
        named = [code.strip() for code in (*text.codes, *links)]
        found += [
            Address(AddressKind.FILE, of_file(name), name)
            for name in named
            if _FILE.fullmatch(name)
        ]
    return list({address.name: address for address in found}.values())


def of_file(path: str) -> str:
    """Give the key of a file: its path without what leads nowhere."""
    return re.sub(r"^(?:\./)+", "", path)


def is_same_file(left: str, right: str) -> bool:
    """Say whether two paths may mean one file: one ends with the other."""
    a, b = (of_file(path).strip("/").split("/") for path in (left, right))
    size = min(len(a), len(b))
    return size > 0 and a[-size:] == b[-size:]


def in_command(text: str) -> list[Address]:
    """Find the addresses in what a tool was asked."""
    urls = [of_url(url.rstrip("\\")) for url, _ in bare_urls(text)]
    git = re.findall(r"\bgit@([\w.-]+):([\w.-]+/[\w.-]+?)(?:\.git)?(?=\s|$)", text)
    urls += [of_url(f"https://{host}/{path}") for host, path in git]
    urls += [
        of_url(f"https://github.com/{name}")
        for name in re.findall(r"\bgh repo (?:clone|view) ([\w.-]+/[\w.-]+)", text)
    ]
    return urls


def _is_remote(url: str) -> bool:
    return url.startswith(("http://", "https://", "ftp://"))
