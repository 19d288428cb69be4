"""Browsers keep to https where the base address says so."""

from collections.abc import Callable

import pytest

from pressroom.web.static_files import static_path
from tests.api.sockets import exchange
from tests.harness.local import LocalServer


@pytest.mark.parametrize("base", ["https://press.example", "http://press.example"])
def test_https_is_kept_where_the_base_address_has_it(local_server: Callable[..., LocalServer], base: str) -> None:
    server = local_server(BASE_URL=base)

    for path in (
        "/",
        "/healthz",
        static_path("pressroom.css"),
        "/nothing",
        "/api/auth/me",
        "/api/posts",
        "/post/x",
        "/docs",
    ):
        for method in ("GET", "POST", "HEAD"):
            said = exchange(server, method, path).header("strict-transport-security")
            assert said == ("max-age=31536000" if base.startswith("https") else None), path
