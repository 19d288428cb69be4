"""The compose box as a form: its content is published at once, or kept as a draft (docs/web-app.md#composing)."""

from collections.abc import Iterator
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from pressroom.clock import parse_iso
from pressroom.domains.drafts.models import DraftChanges
from pressroom.domains.drafts.schemas import LATEST, moment_errors
from pressroom.domains.media.models import ALT_TEXT_LIMIT, FILE_BYTES_SIGNED_IN, FILES_SIGNED_IN
from pressroom.domains.media.uploads import file_errors
from pressroom.domains.posts.forms import COMPOSE_FIELDS, ComposePost
from pressroom.errors import Code, FieldError
from pressroom.web.multipart_rules import FormRules
from pressroom.web.page_forms import FormFields
from pressroom.web.routing import FormFiles

MediaId = Annotated[str, Meta(max_length=26)]


class ComposeDraft(ComposePost, kw_only=True):
    """A post as it is written on a page, and the draft that it is kept in, if there is one.

    `media_ids` are the files of the draft that it keeps, of those that the page showed: `shown_ids`, with what is said
    about each in `shown_texts`.
    """

    draft: MediaId | None = None
    version: Annotated[int, Meta(ge=1, le=LATEST)] | None = None
    media_ids: Annotated[list[MediaId], Meta(max_length=FILES_SIGNED_IN)] | None = None
    shown_ids: Annotated[list[MediaId], Meta(max_length=FILES_SIGNED_IN)] | None = None
    shown_texts: (
        Annotated[list[Annotated[str, Meta(max_length=ALT_TEXT_LIMIT)]], Meta(max_length=FILES_SIGNED_IN)] | None
    ) = None
    publish_at: Annotated[str, Meta(max_length=40)] | None = None

    def changes(self, publish_at: int | None = None) -> DraftChanges:
        """Returns the draft's whole new content; `publish_at` (milliseconds) schedules it, None takes it off."""
        kept = self.media_ids or []
        texts = dict(zip(self.shown_ids or [], self.shown_texts or [], strict=False))
        return DraftChanges(
            given={
                **msgspec.structs.asdict(self.post_fields()),
                "content": self.content,
                "poll": self.poll.new_poll() if self.poll else None,
                "link": self.link_preview_url,
                "usernames": self.usernames or [],
            },
            media_ids=kept,
            alt_text=[texts.get(media_id, "") for media_id in kept],
            publish_at=publish_at,
        )


class ScheduleComposed(ComposeDraft, kw_only=True):
    """The same, to be published at `publish_at`."""

    def field_errors(self, now: int) -> Iterator[FieldError]:
        yield from super().field_errors(now)
        if self.publish_at is None:
            yield FieldError("publishAt", Code.REQUIRED, "Choose the day and the time at which it is to be published.")
        else:
            yield from moment_errors(self.publish_at, now)

    def at(self) -> int:
        """Returns the time at which it is to be published, in milliseconds."""
        return parse_iso(self.publish_at or "")


DRAFT_FIELDS: Final = FormFields(
    lists={"mediaIds", "shownIds", "shownTexts"},
    in_place={"shownTexts"},
    lines=COMPOSE_FIELDS.lines,
    names=COMPOSE_FIELDS.names,
    times={"publishAt"},
    per_file=COMPOSE_FIELDS.per_file,
)
DRAFT_FILES: Final = FormFiles(
    FormRules("media", FILES_SIGNED_IN, FILE_BYTES_SIGNED_IN, optional=True), lambda form: file_errors(form, "media")
)
