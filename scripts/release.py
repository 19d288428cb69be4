"""Makes the files of a release from a tag, byte for byte the same each time (docs/releasing.md#build).

    scripts/release.py --tag v0.1.0 --to dist [--key FILE] [--repository FOLDER]

Needs git, hatchling, cyclonedx-py (requirements/release.txt) and, to sign, ssh-keygen. Publishes nothing.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMESPACE = "pressroom-release"
"""What a signature is for: one that was made for something else does not verify."""

SUMS, SBOM, NOTES = "SHA256SUMS", "sbom.cdx.json", "RELEASE-NOTES.md"
CYCLONEDX = ROOT / ".venv" / "release" / "bin" / "cyclonedx-py"


class ReleaseError(Exception):
    """The release cannot be made, in one line."""


def make_release(repository: Path, tag: str, to: Path, key: Path | None = None) -> list[Path]:
    """Fills the folder `to`, which must be empty or missing; returns the files, signature included.

    Args:
        repository: The clone that has the tag.
        tag: The tag: `v` and the version.
        to: Where the files go.
        key: A private key of OpenSSH that signs the checksums.

    Raises ReleaseError.
    """
    if to.exists() and any(to.iterdir()):
        raise ReleaseError(f"{to} is not empty. Remove what is in it, or name another folder.")
    commit = _git(repository, "rev-parse", "--verify", "--quiet", f"refs/tags/{tag}^{{commit}}")
    epoch = _git(repository, "show", "--no-patch", "--format=%ct", commit)
    with tempfile.TemporaryDirectory(prefix="pressroom-release-") as folder:
        source, made = Path(folder) / "source", Path(folder) / "made"
        made.mkdir()
        # The commit's own files: nothing of the working tree gets into a release.
        _unpack(repository, commit, source)
        version = _check_version(source, tag)
        environment = {**os.environ, "SOURCE_DATE_EPOCH": epoch}
        for package in (source, source / "clients" / "python"):
            _run([sys.executable, "-m", "hatchling", "build", "-d", str(made)], package, environment)
        (made / SBOM).write_text(_sbom(source, version, environment), "utf-8")
        (made / NOTES).write_text(release_notes((source / "CHANGELOG.md").read_text("utf-8"), version), "utf-8")
        (made / SUMS).write_text(_sums(made), "utf-8")
        if key is not None:
            sign = ["ssh-keygen", "-q", "-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(made / SUMS)]
            _run(sign, made, environment)
        to.mkdir(parents=True, exist_ok=True)
        return [Path(shutil.copy(file, to)) for file in sorted(made.iterdir())]


def release_notes(changelog: str, version: str) -> str:
    """Returns the changelog's section of a version. Raises ReleaseError when there is none, or it has no date."""
    for section in re.split(r"^(?=## )", changelog, flags=re.MULTILINE):
        heading, _, text = section.partition("\n")
        if heading.split()[1:2] == [version]:
            if not re.fullmatch(r"## \S+ \(\d{4}-\d\d-\d\d\)", heading.strip()):
                raise ReleaseError(f"CHANGELOG.md: the heading of {version} wants its date: ## {version} (2026-12-01)")
            return f"# Pressroom {version}\n{text.rstrip()}\n"
    raise ReleaseError(f"CHANGELOG.md has no section ## {version}")


def _check_version(source: Path, tag: str) -> str:
    """Returns the version of the source and client. Raises ReleaseError unless the tag names it."""
    for file in (source / "src/pressroom/__init__.py", source / "clients/python/src/pressroom_client/_version.py"):
        found = re.search(r'^__version__ = "([^"]+)"$', file.read_text("utf-8"), re.MULTILINE)
        if found is None or tag != f"v{found[1]}":
            there = found[1] if found else "no version"
            raise ReleaseError(f"The tag is {tag}, but {file.relative_to(source)} has {there}.")
    return tag.removeprefix("v")


def _sbom(source: Path, version: str, environment: Mapping[str, str]) -> str:
    """Returns the CycloneDX document of all locked requirements of the server."""
    cyclonedx = [str(CYCLONEDX), "requirements", "--output-reproducible", "--of", "JSON"]
    command = [*cyclonedx, "--pyproject", "pyproject.toml", "requirements/serve.txt"]
    document = json.loads(_run(command, source, environment))
    document["metadata"]["component"]["version"] = version  # which pyproject.toml does not have
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def _sums(folder: Path) -> str:
    """Returns the lines that `sha256sum --check` reads."""
    digests = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.iterdir())}
    return "".join(f"{digest}  {name}\n" for name, digest in digests.items())


def _unpack(repository: Path, commit: str, to: Path) -> None:
    archive = subprocess.run(["git", "-C", str(repository), "archive", commit], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=BytesIO(archive)) as opened:
        opened.extractall(to, filter="data")


def _git(repository: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(repository), *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ReleaseError(f"git {arguments[0]}: {done.stderr.strip() or 'there is no such tag'}")
    return done.stdout.strip()


def _run(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> str:
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise ReleaseError(f"{command[0]} is not installed: make release installs what it needs.") from None
    if done.returncode != 0:
        raise ReleaseError(f"{Path(command[0]).name} failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def main() -> None:
    """Makes a release as the arguments say."""
    parser = argparse.ArgumentParser(description="Make the files of a release from a tag.")
    parser.add_argument("--tag", required=True, help="the tag, such as v0.1.0")
    parser.add_argument("--to", type=Path, default=ROOT / "dist", help="an empty folder; dist unless given")
    parser.add_argument("--key", type=Path, help="a private key of OpenSSH, which signs the checksums")
    parser.add_argument("--repository", type=Path, default=ROOT, help="the clone that has the tag")
    given = parser.parse_args()
    try:
        files = make_release(given.repository, given.tag, given.to.absolute(), given.key and given.key.absolute())
    except ReleaseError as error:
        sys.exit(f"release: {error}")
    for file in files:
        print(file)


if __name__ == "__main__":
    main()
