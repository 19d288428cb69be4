"""What a request leaves behind: an error that stands as a constant holds nothing of those that raised it."""

from pressroom.domains.accounts.signing_in import WRONG_CREDENTIALS
from tests.api.actors import nobody, refusal
from tests.api.conftest import one_engine, server
from tests.harness.local import LocalServer

__all__ = ["server"]


@one_engine
def test_a_constant_error_holds_no_request(server: LocalServer) -> None:
    body = {"login": "nobody", "password": "a secret"}
    for _ in range(3):
        answer = nobody.post(f"{server.base_url}/api/auth/login", json=body)
        assert refusal(answer) == (401, "Invalid credentials")
        form = nobody.post(f"{server.base_url}/login", data=body)
        assert form.status_code == 401
    assert (WRONG_CREDENTIALS.__traceback__, WRONG_CREDENTIALS.__context__) == (None, None)
