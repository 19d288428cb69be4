"""Looks for secrets in everything that a server keeps, writes and sends."""

from collections.abc import Iterable, Mapping
from typing import Final

from pressroom.db import Query
from tests.api.tables import columns
from tests.harness.local import LocalServer

ANSWERS: Final = Query(str, "SELECT CAST(body AS TEXT) AS body FROM idempotent_answers")

KEPT: Final = {"signing secret": {"webhooks"}, "authenticator secret": {"two_factor"}}
"""Secrets that are kept as they are, for without them nothing could be signed or computed, and the tables that may."""


def found(server: LocalServer, secrets: Mapping[str, str], sent: Iterable[str], urls: Iterable[str]) -> list[str]:
    """Where secrets stand that should stand nowhere.

    Args:
        server: Its log, its data folder with the database in it, and the answers that it keeps for replays.
        secrets: By their kinds.
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
    faults += [
        f"{what} in the table {table}"
        for table, lines in held(server).items()
        for what, secret in secrets.items()
        if table not in KEPT.get(what, ()) and any(secret in line for line in lines)
    ]
    return faults + [
        f"{what} in the file {name}"
        for name, content in files.items()
        for what, secret in secrets.items()
        if secret.encode() in content and what not in KEPT
    ]


def held(server: LocalServer) -> dict[str, list[str]]:
    """All that the database holds as text, a line for each row, by table."""
    return {table: _rows(server, _lines(table, names)) for table, names in columns().items()}


def _rows(server: LocalServer, query: Query[str]) -> list[str]:
    return server.run(server.runtime.db.read(lambda tx: tx.all(query)))


def _lines(table: str, names: Iterable[str]) -> Query[str]:
    joined = " || ' ' || ".join(f"coalesce(CAST({name} AS TEXT), '')" for name in names)
    return Query(str, f"SELECT {joined} AS line FROM {table}")  # noqa: S608  # names of our own schema
