"""docs/licences.md names what the wheels really carry, and each package whose licence is not a permissive one."""

import ctypes
import platform
import re
import sys
from importlib.metadata import PackageNotFoundError, distribution, metadata, version
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "licences.md").read_text("utf-8")
ROW = re.compile(r"^\| (av|pyvips-binary) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)

LOCKED = Path(__file__).parents[2] / "requirements" / "serve.txt"
PINNED = re.compile(r"^([a-z0-9-]+)==([^ ]+)", re.MULTILINE)
PERMISSIVE = re.compile(r"MIT|BSD|Apache|PSF|any-OSI")

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="The page is about wheels for Linux on x86_64."
)


def carried(package: str) -> dict[str, Path]:
    """The shared libraries that the installed wheel carries, by their names without hash and version."""
    files = [Path(str(file.locate())) for file in distribution(package).files or [] if ".libs/" in str(file)]
    return {re.sub(r"-[0-9a-f]{8}\.so.*", "", file.name): file for file in files}


@pytest.mark.parametrize("package", ["av", "pyvips-binary"])
def test_every_library_in_a_wheel_is_named(package: str) -> None:
    named = [name.strip() for wheel, names, _ in ROW.findall(PAGE) if wheel == package for name in names.split(",")]
    assert sorted(named) == sorted(carried(package))


def test_gpl_libraries_are_named() -> None:
    assert {names.strip() for _, names, licence in ROW.findall(PAGE) if licence.startswith("GPL")} == {
        "libx264",
        "libx265",
    }


def test_versions_and_the_licence_of_ffmpeg_are_those_installed() -> None:
    library = ctypes.CDLL(str(carried("av")["libavutil"]))
    library.av_version_info.restype = library.avutil_license.restype = ctypes.c_char_p
    assert library.avutil_license() == b"LGPL version 3 or later"
    assert f"`av` {version('av')}" in PAGE
    assert f"FFmpeg {library.av_version_info().decode()} " in PAGE
    assert f"`libvips` {version('pyvips-binary')}" in PAGE


def test_every_package_that_is_not_under_a_permissive_licence_is_named() -> None:
    for package, its_version in PINNED.findall(LOCKED.read_text("utf-8")):
        try:
            said = metadata(package)
        except PackageNotFoundError:  # for other versions of Python
            continue
        named = said.get_all("License-Expression") or said.get_all("License") or []
        licences = [*named, *(said.get_all("Classifier") or [])]
        if not any(PERMISSIVE.search(licence) for licence in licences):
            assert f"`{package}` {its_version}" in PAGE or f"| {package} |" in PAGE, package
