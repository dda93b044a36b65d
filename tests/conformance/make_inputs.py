"""Writes the input sessions of `inputs/` to `vectors/`, or says which files are not up to date.

    PYTHONPATH=src python tests/conformance/make_inputs.py [--verify]

Every module of `inputs/` is a topic and has `VECTORS`: name → (what it shows, the bytes of a file).
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path

HERE = Path(__file__).parent
INPUTS = HERE / "inputs"
VECTORS = HERE / "vectors"

Vectors = dict[str, tuple[str, bytes]]


def topics() -> dict[str, Vectors]:
    """Read the vectors of every topic."""
    return {path.stem: _vectors(path) for path in sorted(INPUTS.glob("[!_]*.py"))}


def _vectors(path: Path) -> Vectors:
    spec = importlib.util.spec_from_file_location(f"conformance_inputs_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    vectors: Vectors = module.VECTORS
    return vectors


def wanted() -> dict[Path, bytes]:
    """Give the bytes of every file there should be."""
    return {
        VECTORS / topic / f"{name}.jsonl": data
        for topic, vectors in topics().items()
        for name, (_, data) in vectors.items()
    }


def verify(files: dict[Path, bytes]) -> bool:
    """Report on every file; true if there are files and all are as they should be."""
    found = set(VECTORS.rglob("*.jsonl"))
    states = {}
    for path in sorted(found | set(files)):
        if path not in files:
            states[path] = "unexpected"
        elif path not in found:
            states[path] = "missing"
        else:
            states[path] = "ok" if path.read_bytes() == files[path] else "outdated"
        print(f"{states[path]:10} {path.relative_to(VECTORS)}")
    print(f"{len(files)} vectors")
    return bool(files) and set(states.values()) == {"ok"}


def write(files: dict[Path, bytes]) -> None:
    """Write every file and remove those that no topic names any more."""
    for path in set(VECTORS.rglob("*.jsonl")) - set(files):
        path.unlink()
    for path, data in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    print(f"{len(files)} vectors written")


def main() -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--verify", action="store_true", help="write nothing, report")
    files = wanted()
    if parser.parse_args().verify:
        return 0 if verify(files) else 1
    write(files)
    return 0


if __name__ == "__main__":
    sys.exit(main())
