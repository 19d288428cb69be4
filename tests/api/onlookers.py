"""Onlookers during a change: a request after the answer to the change must see it.

    change_while_others_look(changes, readers(twins, "/post/…"), lambda seen, number: f"version {number}." in seen.text)

Caches between requests are listed in docs/architecture.md#caches.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from tests.api.actors import new_client
from tests.harness.local import LocalServer

Change = Callable[[], object]
Look = Callable[[], Any]
Twins = tuple[LocalServer, LocalServer]


class Reader:
    """Opens pages signed out, or as `cookie`; pages that it has it requests only if they changed."""

    def __init__(self, server: LocalServer, path: str, cookie: str = "") -> None:
        self._client = new_client(headers={"Cookie": cookie} if cookie else {})
        self._address = server.base_url + path
        self._had: httpx.Response | None = None

    def __call__(self) -> httpx.Response:
        """The page as it is now."""
        tag = self._had.headers.get("etag", "") if self._had is not None else ""
        answer = self._client.get(self._address, headers={"If-None-Match": tag} if tag else {})
        if answer.status_code == 304:
            assert self._had is not None
            return self._had
        self._had = answer
        return answer


def change_while_others_look(
    changes: Sequence[Change], looks: Sequence[Look], shows: Callable[[Any, int], bool], beside: Sequence[Change] = ()
) -> None:
    """Makes changes one after the other while everyone looks; each change is looked at before the next.

    Args:
        changes: What to do; each returns when it was answered.
        looks: What each reader does again and again.
        shows: Whether a reader's view is the state after so many changes.
        beside: The work of others meanwhile, again and again. Its errors are raised.
    """
    begun, answered, stale = 0, 0, list[object]()
    newest, looked, done = [-1] * len(looks), threading.Condition(), threading.Event()

    def look_on(place: int) -> None:
        try:
            while not done.is_set():
                least = answered
                seen = looks[place]()
                if not any(shows(seen, number) for number in range(least, begun + 1)):
                    stale.append((least, begun, seen))
                note(place, least)
        finally:
            note(place, len(changes))

    def note(place: int, number: int) -> None:
        with looked:
            newest[place] = number
            looked.notify_all()

    def go_on(act: Change) -> None:
        while not done.is_set():
            act()

    with ThreadPoolExecutor(len(looks) + len(beside)) as pool:
        others = [
            *(pool.submit(look_on, place) for place in range(len(looks))),
            *(pool.submit(go_on, act) for act in beside),
        ]
        try:
            for number, change in enumerate(changes, 1):
                begun = number
                change()
                answered = number
                with looked:
                    assert looked.wait_for(lambda: min(newest) >= answered, 30)  # noqa: B023  # waited for here
        finally:
            done.set()
    for other in others:
        other.result()
    assert not stale, stale[0]


def readers(twins: Twins, path: str, cookie: str = "") -> list[Reader]:
    """One at each server."""
    return [Reader(server, path, cookie) for server in twins]


def end_one_after_the_other(
    twins: Twins,
    ends: Sequence[Change],
    ask: Callable[[LocalServer, int], int],
    *,
    after: int,
    beside: Sequence[Change] = (),
) -> None:
    """Ends one right after the other while a reader at each server asks with all of them.

    Args:
        twins: The servers.
        ends: What ends each right.
        ask: Asks a server with the right at a place; the status.
        after: The status once a right has ended; before it is 200.
        beside: What others do again and again meanwhile.
    """

    def look_at(server: LocalServer) -> Look:
        return lambda: [ask(server, place) for place in range(len(ends))]

    def shows(seen: list[int], number: int) -> bool:
        return seen == [after] * number + [200] * (len(ends) - number)

    change_while_others_look(ends, [look_at(server) for server in twins], shows, beside)
