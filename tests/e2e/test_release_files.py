"""`make release`: from a tag, the same bytes each time, with checksums, a signature, and a list of all libraries."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pressroom import __version__
from tests.services.process import alone

ROOT = Path(__file__).parents[2]
VERSION = __version__.partition(".dev")[0]
RELEASE = ROOT / "scripts" / "release.py"
PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^ ;]+)", re.MULTILINE)
NAMESPACE, SIGNER = "pressroom-release", "releases@example.org"

pytestmark = [
    pytest.mark.skipif(not (ROOT / ".git").exists(), reason="A release is made from a clone with its history."),
    pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="OpenSSH signs releases."),
]


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Releases", "-c", f"user.email={SIGNER}", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", "-C", folder, *identity, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone whose last commit is a release, tagged; that before it is not ready for one."""
    tools = ["make", "--silent", ".venv/.release"]
    with alone(Path(sys.prefix) / "release.gate"):  # every worker of a run needs them
        installed = subprocess.run(tools, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    if installed.returncode != 0:
        pytest.skip(f"The tools of a release cannot be installed: {installed.stderr.strip()[-300:]}")
    folder = tmp_path_factory.mktemp("clone") / "pressroom"
    subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True, capture_output=True)
    for name in ("src/pressroom/__init__.py", "clients/python/src/pressroom_client/_version.py"):
        file = folder / name
        file.write_text(re.sub("^__version__ = .*$", f'__version__ = "{VERSION}"', file.read_text("utf-8"), flags=re.M))
    for heading in (f"## {VERSION} (unreleased)", f"## {VERSION} (2026-12-01)"):
        changelog = folder / "CHANGELOG.md"
        changelog.write_text(re.sub("^## .*$", heading, changelog.read_text("utf-8"), count=1, flags=re.M), "utf-8")
        git(folder, "commit", "--quiet", "--allow-empty", "--all", "--message", heading)
    git(folder, "tag", f"v{VERSION}")
    return folder


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key for this run alone; beside it, the file by which everybody verifies."""
    file = tmp_path_factory.mktemp("key") / "release"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file], check=True)
    public = file.with_suffix(".pub").read_text().split()[:2]
    (file.parent / "allowed_signers").write_text(f'{SIGNER} namespaces="{NAMESPACE}" {" ".join(public)}\n')
    return file


def release(clone: Path, to: Path, *more: str | Path, tag: str = f"v{VERSION}") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, RELEASE, "--repository", clone, "--tag", tag, "--to", to, *more]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.fixture(scope="module")
def made(clone: Path, key: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the release, signed."""
    folder = tmp_path_factory.mktemp("made") / "first"
    done = release(clone, folder, "--key", key)
    assert done.returncode == 0, done.stderr
    return folder


def verify(folder: Path, key: Path) -> int:
    """The status of the command in SECURITY.md."""
    sums = folder / "SHA256SUMS"
    names = ["-f", key.parent / "allowed_signers", "-I", SIGNER, "-n", NAMESPACE, "-s", f"{sums}.sig"]
    with sums.open() as given:
        command = ["ssh-keygen", "-Y", "verify", *names]
        return subprocess.run(command, stdin=given, capture_output=True, check=False).returncode


def test_second_release_has_the_same_bytes(clone: Path, key: Path, made: Path, tmp_path: Path) -> None:
    # What lies in the working tree, and when files were written, is not part of a release.
    (clone / "src" / "pressroom" / "leftover.py").write_text("secret = 1\n")
    for file in clone.rglob("*.py"):
        file.touch()

    done = release(clone, tmp_path / "again", "--key", key)

    assert done.returncode == 0, done.stderr
    first, second = (
        {file.name: file.read_bytes() for file in folder.iterdir()} for folder in (made, tmp_path / "again")
    )
    assert first == second
    assert set(first) == {
        *(f"pressroom-{VERSION}-py3-none-any.whl", f"pressroom-{VERSION}.tar.gz"),
        *(f"pressroom_client-{VERSION}-py3-none-any.whl", f"pressroom_client-{VERSION}.tar.gz"),
        *("sbom.cdx.json", "RELEASE-NOTES.md", "SHA256SUMS", "SHA256SUMS.sig"),
    }


def test_checksums_name_every_file_and_the_signature_holds(made: Path, key: Path, tmp_path: Path) -> None:
    pairs = [line.split("  ") for line in (made / "SHA256SUMS").read_text().splitlines()]
    lines = {name: digest for digest, name in pairs}
    files = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in made.iterdir()}

    assert lines == {name: digest for name, digest in files.items() if not name.startswith("SHA256SUMS")}
    assert verify(made, key) == 0
    changed = shutil.copytree(made, tmp_path / "changed")
    (changed / "SHA256SUMS").write_text((made / "SHA256SUMS").read_text().replace("a", "b"))
    assert verify(changed, key) != 0


def test_list_of_libraries_is_that_of_the_locked_requirements(made: Path) -> None:
    document = json.loads((made / "sbom.cdx.json").read_text())
    listed = {(each["name"].lower(), each["version"]) for each in document["components"]}
    locked = PINNED.findall((ROOT / "requirements" / "serve.txt").read_text("utf-8"))

    assert document["bomFormat"] == "CycloneDX"
    assert document["metadata"]["component"]["name"] == "pressroom"
    assert document["metadata"]["component"]["version"] == VERSION
    assert listed == {(name.lower(), version) for name, version in locked}
    assert all(each.get("externalReferences") for each in document["components"]), "with the hashes of its archives"


def test_notes_are_the_section_of_the_changelog(made: Path, clone: Path) -> None:
    notes = (made / "RELEASE-NOTES.md").read_text("utf-8")
    assert notes.startswith(f"# Pressroom {VERSION}\n")
    assert notes.splitlines()[-1] in (clone / "CHANGELOG.md").read_text("utf-8")
    assert "\n## " not in notes


def test_release_that_would_be_wrong_is_refused(clone: Path, made: Path, tmp_path: Path) -> None:
    git(clone, "tag", "--force", "v99.0.0", f"v{VERSION}")
    git(clone, "tag", "--force", f"v{VERSION}-early", f"v{VERSION}~1")
    git(clone, "tag", "--force", "early", f"v{VERSION}~1")
    for more, says in (
        ({"tag": "v98.0.0"}, "there is no such tag"),
        ({"tag": "v99.0.0"}, f"The tag is v99.0.0, but src/pressroom/__init__.py has {VERSION}."),
        ({"tag": f"v{VERSION}-early"}, f"The tag is v{VERSION}-early, but"),
    ):
        done = release(clone, tmp_path / "refused", **more)
        assert (done.returncode, done.stdout) == (1, "")
        assert says in done.stderr
    full = release(clone, made)
    assert (full.returncode, full.stdout) == (1, "")
    assert "is not empty" in full.stderr
    unreleased = clone.parent / "unreleased"
    subprocess.run(["git", "clone", "--quiet", clone, unreleased], check=True, capture_output=True)
    git(unreleased, "checkout", "--quiet", "early")
    git(unreleased, "tag", "--force", f"v{VERSION}", "early")
    done = release(unreleased, tmp_path / "refused")
    assert f"the heading of {VERSION} wants its date" in done.stderr
    assert not (tmp_path / "refused").exists()
