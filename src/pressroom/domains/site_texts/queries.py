"""SQL of the texts of the server."""

from pressroom.db import Tx, sql
from pressroom.domains.site_texts.models import SiteText


@sql.all("SELECT name, source, html, updated_at, ends_at FROM site_texts ORDER BY name")
async def list_texts(tx: Tx) -> list[SiteText]:
    """Returns the texts that are published."""
    ...


@sql.one("SELECT name, source, html, updated_at, ends_at FROM site_texts WHERE name = 'announcement'")
async def find_announcement(tx: Tx) -> SiteText | None:
    """Returns the announcement, ended or not, or None."""
    ...


@sql.run(
    "INSERT INTO site_texts (name, source, html, updated_at, ends_at) VALUES (:name, :source, :html, :now, :ends_at)"
    " ON CONFLICT (name) DO UPDATE SET source = excluded.source, html = excluded.html,"
    " updated_at = excluded.updated_at, ends_at = excluded.ends_at"
)
async def save_text(tx: Tx, *, name: str, source: str, html: str, ends_at: int | None) -> None:
    """Inserts or replaces a text."""
    ...


@sql.run("DELETE FROM site_texts WHERE name = :name")
async def delete_text(tx: Tx, name: str) -> None:
    """Deletes a text."""
    ...
