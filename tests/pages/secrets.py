"""What nobody may find: looks for secrets in all that a server keeps, writes and sends."""

from collections.abc import Iterable, Mapping
from typing import Final

from pressroom.db import Query
from tests.harness.local import LocalServer

ANSWERS: Final = Query(str, "SELECT CAST(body AS TEXT) AS body FROM idempotent_answers")

KEPT: Final = {"signing secret"}
"""Kept as they are, for without them nothing could be signed."""


def found(server: LocalServer, secrets: Mapping[str, str], sent: Iterable[str], urls: Iterable[str]) -> list[str]:
    """Where secrets stand that should stand nowhere.

    Args:
        server: Its log, its data folder with the database in it, and the answers that it keeps for replays.
        secrets: By what they are.
        sent: The mails that it sent, without those that are to hold a secret.
        urls: All addresses that a browser asked for.
    """
    folder = server.settings.data_dir
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    answers = server.run(server.runtime.db.read(lambda tx: tx.all(ANSWERS)))
    places: dict[str, list[bytes]] = {
        "the log": [server.stream.getvalue().encode()],
        "a stored answer": [answer.encode() for answer in answers],
        "a mail": [text.encode() for text in sent],
        "an address": [url.encode() for url in urls],
    }
    faults = [
        f"{what} in {place}"
        for place, texts in places.items()
        for what, secret in secrets.items()
        if any(secret.encode() in text for text in texts)
    ]
    return faults + [
        f"{what} in the file {name}"
        for name, content in files.items()
        for what, secret in secrets.items()
        if secret.encode() in content and what not in KEPT
    ]
