"""A card that was fetched anew is on every post from the next request on; until it is due nobody fetches its page.

Both at two servers over one database, while everybody reads and publishes the same link
(docs/previews.md#fetching).
"""

import httpx

from pressroom.clock import SECOND
from pressroom.domains.previews.models import FAILED_FOR, FRESH
from tests.api.actors import Actor, body_of, nobody, publish
from tests.api.onlookers import Change, Twins, change_while_others_look, readers
from tests.domains.previews.pages import og
from tests.domains.previews.site import Site
from tests.harness.roomy import ROOMY
from tests.previews.fetches import title

SETTINGS = {**ROOMY, "DEV": 1}
VERSIONS = 6


def test_a_card_that_was_fetched_anew(twins: Twins, site: Site) -> None:
    """The first fetch fails, and is not repeated for ten minutes; the others' result is good for a day."""
    url, alice = site.url("/a"), Actor(twins[0])
    post = publish(alice, url)
    body, bearer = {"content": url}, {"Authorization": f"Bearer {alice.key}"}

    def renew(number: int) -> Change:
        def change() -> None:
            site.page("/a", og("title", f"version {number}."))
            for server in twins:
                server.clock.advance((FAILED_FOR if number == 1 else FRESH) - SECOND)
            assert title(publish(alice, url)) == (None if number == 1 else f"version {number - 1}.")
            for server in twins:
                server.clock.advance(SECOND)
            assert title(publish(alice, url)) == f"version {number}."

        return change

    def publish_there() -> None:
        body_of(nobody.post(f"{twins[1].base_url}/api/posts", json=body, headers=bearer), 201)

    def shows(seen: httpx.Response, number: int) -> bool:
        shown = [each for each in range(VERSIONS + 1) if f"version {each}." in seen.text]
        return shown == ([number] if number else [])

    changes = [renew(number) for number in range(1, VERSIONS + 1)]
    change_while_others_look(changes, readers(twins, f"/post/{post['id']}"), shows, beside=[publish_there])

    assert site.requests == {"/a": 1 + VERSIONS}
