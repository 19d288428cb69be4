"""The servers and people of `tests.api`, and an S3 server."""

from tests.api.conftest import actor, alice, server
from tests.blobs.conftest import bucket_url, credentials, s3_server

__all__ = ["actor", "alice", "bucket_url", "credentials", "s3_server", "server"]
