"""Whatever stands in an address: no page makes more of it than text."""

from urllib.parse import quote

import pytest

from tests.api.actors import Actor, publish
from tests.api.conftest import one_engine
from tests.harness.roomy import ROOMY
from tests.pages.hostile import HOSTILE
from tests.pages.markup import strange
from tests.pages.reader import visit

SETTINGS = ROOMY

NOWHERE = ("/{}", "/@{}", "/tag/{}", "/hub/{}", "/post/{}", "/avatars/{}", "/oembed?url={}", "/oembed?format={}")


@one_engine
@pytest.mark.parametrize("path", NOWHERE)
def test_addresses_that_lead_nowhere(alice: Actor, path: str) -> None:
    server = alice.server

    for words in HOSTILE:
        page = visit(server, path.format(quote(words, safe="")), status=404)
        assert strange(page, server.base_url) == []
        if path == "/@{}":
            assert page.texts("p.lead") == [f"There is no account {words}."]


@one_engine
def test_places_in_lists_that_were_never_given_out(alice: Actor) -> None:
    server, post = alice.server, publish(alice)
    name = alice.account.username

    for words in HOSTILE:
        query = quote(words, safe="")
        lists = [f"{path}?before={query}" for path in (f"/@{name}", f"/@{name}/clips")]
        for path in (f"/post/{post['id']}?after={query}", *lists):
            page = visit(server, path, status=400)
            assert strange(page, server.base_url) == []
            assert words not in page.html
        page = visit(server, f"/@{name}?{query}")
        assert strange(page, server.base_url) == []
        assert words not in page.html
