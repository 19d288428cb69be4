"""Reading and publishing the texts of the server. Each action takes an open transaction first."""

from pressroom.db import Tx
from pressroom.domains.audit import actions as audit
from pressroom.domains.audit.models import Kind, Source
from pressroom.domains.site_texts import queries
from pressroom.domains.site_texts.models import SiteText, TextName


async def read_texts(tx: Tx) -> dict[TextName, SiteText]:
    """Returns the published texts by name."""
    return {TextName(text.name): text for text in await queries.list_texts(tx)}


async def publish_text(
    tx: Tx, admin: Source, name: TextName, source: str, html: str, ends_at: int | None = None
) -> SiteText:
    """Publishes a text in place of the one before, and returns it. An empty `source` withdraws it.

    An announcement is shown until `ends_at` (milliseconds).
    """
    if source:
        await queries.save_text(tx, name=name.value, source=source, html=html, ends_at=ends_at)
    else:
        await queries.delete_text(tx, name.value)
    await audit.record(tx, "", Kind.TEXT_PUBLISHED if source else Kind.TEXT_WITHDRAWN, admin, text=name.value)
    return SiteText(name, source, html, tx.now, ends_at)
