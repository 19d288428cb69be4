"""No request leaks: an error that stands as a constant holds nothing of those that raised it."""

import sys
from collections.abc import Iterator

from pressroom.domains.moderation.actions import suspend_account
from tests.api.actors import nobody, refusal
from tests.api.conftest import one_engine, server
from tests.api.people import PASSWORD, Person
from tests.harness.local import LocalServer

__all__ = ["server"]


def holding() -> Iterator[str]:
    """The constants of the package that are errors and hold what raised them."""
    for module in [name for name in sys.modules if name.startswith("pressroom.")]:
        for name, value in vars(sys.modules[module]).items():
            if isinstance(value, BaseException) and (value.__traceback__ or value.__context__):
                yield f"{module}.{name}"


@one_engine
def test_a_constant_error_holds_no_request(server: LocalServer) -> None:
    body = {"login": "nobody", "password": "a secret"}
    for _ in range(3):
        answer = nobody.post(f"{server.base_url}/api/auth/login", json=body)
        assert refusal(answer) == (401, "Invalid credentials")
        form = nobody.post(f"{server.base_url}/login", data=body)
        assert form.status_code == 401
    assert list(holding()) == []


@one_engine
def test_error_shown_by_a_page_holds_no_request(server: LocalServer) -> None:
    mira = Person(server)
    wrong = mira.request("POST", "/login/confirm", token=mira.token, data={"password": "wrong"})
    assert wrong.status_code == 401
    server.run(server.runtime.db.transact(suspend_account, mira.name))
    suspended = mira.request("POST", "/login", data={"login": mira.name, "password": PASSWORD})
    assert suspended.status_code == 403
    assert list(holding()) == []
