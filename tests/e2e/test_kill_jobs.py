"""Workers of their own that are killed amid a video, or look for it in another folder than the API's."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from tests.corpus.clips import Recipe
from tests.harness.beside import api_alone, worker
from tests.harness.owners import Owner
from tests.harness.process import ServerProcess
from tests.harness.records import rows
from tests.harness.wire import Request, send
from tests.media.uploads import UPLOAD, file_part, form, form_headers, video_bytes
from tests.services.postgres import PostgresServer
from tests.services.process import wait_until

MakeServer = Callable[..., ServerProcess]

IN_TIME = 240.0


def upload(api: ServerProcess, key: str, data: bytes, kind: str = "video/webm") -> None:
    """Publishes a video."""
    body = form([file_part(data, kind=kind)])
    reply = asyncio.run(send(api, Request(api.port, "POST", UPLOAD, form_headers(body, key)).head + body))
    assert reply.status == 201


def test_video_of_killed_worker_is_taken_up_by_another(
    roomy_server: MakeServer, postgres_server: PostgresServer, tmp_path: Path
) -> None:
    url = postgres_server.create_database(f"killed_worker_{os.getpid()}")
    with api_alone(roomy_server(DATABASE_URL=url)) as api:
        key = Owner(api).key(scopes=("media:write",))
        slow = video_bytes(tmp_path, Recipe("webm", "libvpx", None, size=(1280, 720), seconds=3))
        processing = Path(str(api.settings["DATA_DIR"])) / "processing"
        with worker(api) as first:
            upload(api, key, slow)
            assert wait_until(lambda: any(processing.glob("*/video.mp4")), IN_TIME), first.output()
            first.kill()
        with worker(api) as second:
            ready = wait_until(lambda: rows(api, "SELECT status FROM media") == [("READY",)], IN_TIME)
            assert ready, second.output()
        assert rows(api, "SELECT count(*) FROM jobs") == [(0,)]


def test_worker_with_another_folder_warns(
    roomy_server: MakeServer, postgres_server: PostgresServer, tmp_path: Path
) -> None:
    url = postgres_server.create_database(f"elsewhere_{os.getpid()}")
    with api_alone(roomy_server(DATABASE_URL=url)) as api:
        key = Owner(api).key(scopes=("media:write",))
        elsewhere = worker(api)
        elsewhere.settings["BLOBS_URL"] = f"file://{tmp_path / 'elsewhere'}"
        with elsewhere:
            upload(api, key, video_bytes(tmp_path), "video/mp4")
            told = "SELECT error FROM jobs WHERE error LIKE '%PRESSROOM_BLOBS_URL%'"
            assert wait_until(lambda: bool(rows(api, told)), IN_TIME), elsewhere.output()
            assert str(tmp_path / "elsewhere") in str(rows(api, told))
            elsewhere.wait_for('"job deferred"')
        with worker(api) as right:
            ready = wait_until(lambda: rows(api, "SELECT status FROM media") == [("READY",)], IN_TIME)
            assert ready, right.output()
