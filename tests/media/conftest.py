"""The servers and people of `tests.api`, and an S3 server."""

import pytest

from tests.api.conftest import actor, alice, server, twins
from tests.blobs.conftest import bucket_url, credentials, module_bucket_url, s3_server
from tests.harness.local import LocalServer
from tests.media.decoders import Decoder

__all__ = ["actor", "alice", "bucket_url", "credentials", "module_bucket_url", "s3_server", "server", "twins"]


@pytest.fixture
def decoder(server: LocalServer, monkeypatch: pytest.MonkeyPatch) -> Decoder:
    server.do_jobs()
    return Decoder(server, monkeypatch)
