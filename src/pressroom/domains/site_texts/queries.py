"""SQL of the texts of the server."""

from pressroom.db import Tx, sql
from pressroom.domains.site_texts.models import SiteText


@sql.all("SELECT name, source, html, updated_at FROM site_texts ORDER BY name")
async def list_texts(tx: Tx) -> list[SiteText]:
    """Returns the texts that are published."""
    ...


@sql.run(
    "INSERT INTO site_texts (name, source, html, updated_at) VALUES (:name, :source, :html, :now)"
    " ON CONFLICT (name) DO UPDATE SET source = excluded.source, html = excluded.html, updated_at = excluded.updated_at"
)
async def save_text(tx: Tx, *, name: str, source: str, html: str) -> None:
    """Inserts or replaces a text."""
    ...


@sql.run("DELETE FROM site_texts WHERE name = :name")
async def delete_text(tx: Tx, name: str) -> None:
    """Deletes a text."""
    ...
