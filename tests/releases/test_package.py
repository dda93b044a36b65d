"""The package of a release is asked for by the name it had at the time."""

from __future__ import annotations

import pytest
from recorder.release import package_of


@pytest.mark.parametrize(
    ("release", "package"),
    [
        ("0.7.6", "@mariozechner/pi-coding-agent@0.7.6"),
        ("0.73.1", "@mariozechner/pi-coding-agent@0.73.1"),
        ("0.74.0", "@earendil-works/pi-coding-agent@0.74.0"),
        ("1.6.0", "@earendil-works/pi-coding-agent@1.6.0"),
        ("latest", "@earendil-works/pi-coding-agent@latest"),
    ],
)
def test_a_release_is_installed_by_the_name_of_its_day(release: str, package: str) -> None:
    assert package_of(release) == package
