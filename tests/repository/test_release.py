"""Wheel and source archive: complete, and a server that is installed from them alone works for whoever may not much."""

import os
import site
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.harness.process import ServerProcess
from tests.harness.roomy import ROOMY
from tests.media.uploads import image
from tests.services.account import is_root, open_to_all, unprivileged
from tests.services.process import wait_until

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both archives."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", folder], cwd=ROOT, check=True, capture_output=True
    )
    return folder


@pytest.fixture
def installed() -> Iterator[Path]:
    """An environment outside the source tree, readable by everybody, with the server's dependencies but not itself."""
    with tempfile.TemporaryDirectory(prefix="pressroom-release-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        venv.create(folder / "env", with_pip=False)
        packages = folder / "env" / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
        (packages / "needed.pth").write_text("\n".join(site.getsitepackages()))
        yield folder


def names_in(archive: Path) -> set[str]:
    """The files of the package in an archive, by their paths below it."""
    if archive.suffix == ".whl":
        names = zipfile.ZipFile(archive).namelist()
        return {name.removeprefix("pressroom/") for name in names if name.startswith("pressroom/")}
    with tarfile.open(archive) as opened:
        paths = [each.name.partition("/")[2] for each in opened if each.isfile()]
    return {path.removeprefix("src/pressroom/") for path in paths if path.startswith("src/pressroom/")}


def test_both_hold_all_of_the_package(built: Path) -> None:
    package = ROOT / "src" / "pressroom"
    files = {str(each.relative_to(package)) for each in package.rglob("*") if each.is_file()}
    wanted = {name for name in files if "__pycache__" not in name}

    (wheel,), (source,) = built.glob("*.whl"), built.glob("*.tar.gz")

    assert names_in(wheel) == wanted
    assert names_in(source) == wanted
    with tarfile.open(source) as opened:
        top = {each.name.split("/")[1] for each in opened}
    assert {"LICENSE", "README.md", "CHANGELOG.md", "docs", "deploy", "tests", "requirements"} <= top


def test_an_installed_server_publishes(built: Path, installed: Path) -> None:
    (wheel,) = built.glob("*.whl")
    python = installed / "env" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-index", "--no-deps", "--quiet", wheel]
    subprocess.run(pip, check=True, capture_output=True)
    program = installed / "env" / "bin" / "pressroom"
    said = subprocess.run([python, "-c", "import pressroom; print(pressroom.__file__)"], capture_output=True, text=True)
    assert Path(said.stdout.strip()).is_relative_to(installed)

    server = ServerProcess(installed / "work", **ROOMY, DEV=1)
    server.program = [*_without_rights(installed), str(program)]
    try:
        server.start()
        key = next(word for word in server.output().split() if word.startswith("svc_live_")).rstrip("\"'")
        _publish(server, key)
    finally:
        assert server.stop() == 0


def _without_rights(installed: Path) -> list[str]:
    """What goes before a command so that it runs without rights, where that is possible."""
    account = unprivileged()
    (installed / "work").mkdir()
    if (
        not is_root()
        or account is None
        or not all(map(open_to_all, map(Path, [*site.getsitepackages(), sys.executable])))
    ):
        return []
    os.chown(installed / "work", account.uid, account.gid)
    return ["setpriv", f"--reuid={account.uid}", f"--regid={account.gid}", "--clear-groups", "--no-new-privs"]


def _publish(server: ServerProcess, key: str) -> None:
    """A post with a picture is published by key, and read with all that its page loads."""
    with httpx.Client(base_url=server.base_url, headers={"Authorization": f"Bearer {key}"}, timeout=20) as client:
        made = client.post("/api/posts/upload", data={"content": "From a wheel."}, files={"media": ("a.jpg", image())})
        assert made.status_code == 201, made.text
        at = f"/api/posts/{made.json()['id']}"
        assert wait_until(lambda: client.get(at).json()["media"][0]["processingStatus"] == "READY")
        assert client.get(client.get(at).json()["media"][0]["url"]).is_success
    with httpx.Client(base_url=server.base_url, timeout=20) as reader:
        page = reader.get(f"/post/{made.json()['id']}")
        assert "From a wheel." in page.text
        sheets = [part.partition('"')[0] for part in page.text.split('href="') if part.startswith("/static/")]
        assert sheets
        assert all(reader.get(sheet).is_success for sheet in sheets)
        assert reader.get("/docs").is_success
