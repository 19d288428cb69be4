"""Wire shapes of the personal_data package."""

from typing import Annotated, Self

import msgspec
from msgspec import Meta

from pressroom.clock import iso, iso_or_none
from pressroom.domains.personal_data.models import Export, ExportState
from pressroom.domains.sign_in.schemas import GivenPassword
from pressroom.web.json_bodies import Body
from pressroom.web.wire import Time


class DeleteOwnAccount(Body):
    """The owner's confirmation."""

    username: Annotated[
        str, Meta(min_length=1, max_length=100, description="The account's own user name, in any case.")
    ]
    password: GivenPassword

    @classmethod
    def example(cls) -> Self:
        return cls(username="mira_press", password="nine plums and a kettle")  # noqa: S106


class DeletedOwnAccountOut(msgspec.Struct):
    """The account that was deleted."""

    message: str
    id: str


class ExportOut(msgspec.Struct, rename="camel"):
    """A copy of all that belongs to the account."""

    state: ExportState
    requested_at: Time
    finished_at: Time | None
    expires_at: Annotated[Time | None, Meta(description="Until when it can be fetched; null: it cannot be yet.")]
    size_bytes: Annotated[int | None, Meta(description="Null while it is not ready.")]
    url: Annotated[str | None, Meta(description="Where to fetch it, in the same session; null: not ready.")]

    @classmethod
    def example(cls) -> Self:
        return cls(
            state=ExportState.PENDING,
            requested_at="2026-11-20T16:08:12.345Z",
            finished_at=None,
            expires_at=None,
            size_bytes=None,
            url=None,
        )


def export_shape(export: Export, base_url: str) -> ExportOut:
    """Returns a copy as its owner sees it."""
    ready = export.state == ExportState.READY
    return ExportOut(
        state=export.state,
        requested_at=iso(export.requested_at),
        finished_at=iso_or_none(export.finished_at),
        expires_at=iso_or_none(export.expires_at),
        size_bytes=export.size_bytes,
        url=f"{base_url}/api/auth/export/file" if ready else None,
    )
