"""Wire shapes of polls (docs/posts.md#polls)."""

from collections.abc import Iterator
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from pressroom.clock import MINUTE, iso
from pressroom.domains.posts.models import NewPoll, Poll
from pressroom.errors import Code, FieldError
from pressroom.text import is_blank, name_errors
from pressroom.web.json_bodies import Body
from pressroom.web.wire import ONE_LINE, VISIBLE, Time

DAY_IN_MINUTES: Final = 1_440


class PollIn(Body):
    """A poll to attach."""

    options: Annotated[
        list[Annotated[str, Meta(min_length=1, max_length=100, extra_json_schema={"pattern": ONE_LINE})]],
        Meta(min_length=2, max_length=10, extra_json_schema={"uniqueItems": True}),
    ]
    question: Annotated[str, Meta(min_length=1, max_length=300, extra_json_schema={"pattern": VISIBLE})] | None = None
    multiple: Annotated[bool, Meta(description="Whether one vote may choose several; false unless given.")] | None = (
        None
    )
    duration_minutes: Annotated[
        Annotated[int, Meta(ge=5, le=43_200)] | None,
        Meta(description="How long it is open: 5 minutes to 30 days; a day unless given."),
    ] = None

    def poll_errors(self) -> Iterator[FieldError]:
        """Yields the errors that types do not find."""
        if self.question is not None and is_blank(self.question):
            yield FieldError("poll.question", Code.TOO_SHORT, "The question of a poll must not be blank.")
        options = self.options or []
        for place, option in enumerate(options):
            yield from name_errors(f"poll.options[{place}]", option, "An option")
            if option in options[:place]:
                yield FieldError(f"poll.options[{place}]", Code.DUPLICATE, "This option is given twice.")

    def new_poll(self) -> NewPoll:
        """The poll to make."""
        duration = (self.duration_minutes or DAY_IN_MINUTES) * MINUTE
        return NewPoll(self.question, self.options, bool(self.multiple), duration)


class Vote(Body):
    """A vote."""

    choices: Annotated[
        list[Annotated[int, Meta(ge=0, le=9)]],
        Meta(
            min_length=1, max_length=10, description="Options by their index.", extra_json_schema={"uniqueItems": True}
        ),
    ]

    def field_errors(self, now: int) -> Iterator[FieldError]:
        choices = self.choices or []
        for place, choice in enumerate(choices):
            if choice in choices[:place]:
                yield FieldError(f"choices[{place}]", Code.DUPLICATE, f"Option {choice} is chosen twice.")


class PollOptionOut(msgspec.Struct):
    """An option of a poll."""

    index: int
    text: str
    votes: int


class PollOut(msgspec.Struct, rename="camel"):
    """A poll."""

    question: str | None
    multiple: Annotated[bool, Meta(description="Whether one vote may choose several options.")]
    closes_at: Time
    closed: bool
    total_votes: Annotated[int, Meta(description="Accounts that voted.")]
    options: list[PollOptionOut]
    own_votes: Annotated[list[int], Meta(description="What the caller voted for, by index.")]


def poll_shape(poll: Poll, now: int) -> PollOut:
    """A poll as the reader that it was read for sees it at `now` (milliseconds)."""
    options = [PollOptionOut(index, option.label, option.votes) for index, option in enumerate(poll.options)]
    return PollOut(
        question=poll.question,
        multiple=poll.multiple,
        closes_at=iso(poll.closes_at),
        closed=poll.closes_at <= now,
        total_votes=poll.total_votes,
        options=options,
        own_votes=poll.own_votes,
    )
