"""Reports, cases and decisions (docs/moderation.md)."""

from enum import StrEnum
from typing import Final

import msgspec

from pressroom.clock import DAY

LONGEST_REASON: Final = 500
"""Characters of a reason: of a report, and of a decision."""

RETENTION: Final = 365 * DAY
"""How long a case stays after its decision, in milliseconds."""

OPEN_REPORTS: Final = 100
"""How many reports of one account may wait for a decision."""


COUNTED: Final = 100
"""Open cases are counted up to so many: 99 and more than that."""


class SubjectType(StrEnum):
    """The subject of a report."""

    POST = "post"
    COMMENT = "comment"
    ACCOUNT = "account"


class DecisionKind(StrEnum):
    """An admin's decision about a case.

    SHOWN ends a HIDDEN; DISMISSED changes nothing.
    """

    HIDDEN = "hidden"
    SHOWN = "shown"
    DELETED = "deleted"
    SUSPENDED = "suspended"
    DISMISSED = "dismissed"


CHOICES: Final[dict[SubjectType, frozenset[DecisionKind]]] = {
    SubjectType.POST: frozenset(each for each in DecisionKind if each is not DecisionKind.SHOWN),
    SubjectType.COMMENT: frozenset({DecisionKind.DELETED, DecisionKind.SUSPENDED, DecisionKind.DISMISSED}),
    SubjectType.ACCOUNT: frozenset({DecisionKind.SUSPENDED, DecisionKind.DISMISSED}),
}
"""The possible decisions about each; a bounce cannot be hidden either."""


def choices_of(subject: SubjectType, decided: DecisionKind | None, *, is_bounce: bool) -> frozenset[DecisionKind]:
    """Returns the decisions that an admin can make about a case. They are final, except for HIDDEN."""
    if decided is None:
        return CHOICES[subject] - {DecisionKind.HIDDEN} if is_bounce else CHOICES[subject]
    return frozenset({DecisionKind.SHOWN}) if decided == DecisionKind.HIDDEN else frozenset()


class MaterialFile(msgspec.Struct, rename="camel", omit_defaults=True):
    """A file of the material: its id and description."""

    id: str
    alt_text: str | None = None


class Material(msgspec.Struct, rename="camel", omit_defaults=True):
    """A subject at its first report: `content` is the text, or the bio of an account."""

    content: str | None = None
    visibility: str | None = None
    post_id: str | None = None
    display_name: str | None = None
    media: list[MaterialFile] = msgspec.field(default_factory=list[MaterialFile])
    media_url: str | None = None
    link: str | None = None
    is_bounce: bool = False


class Subject(msgspec.Struct, frozen=True):
    """Something that can be reported, and whose it is."""

    type: SubjectType
    id: str
    owner_id: str
    username: str
    material: Material


class Case(msgspec.Struct):
    """A case as admins see it. Times are in milliseconds."""

    id: str
    type: SubjectType
    subject_id: str
    owner_id: str  # whose post, comment or account it is
    material: str  # the subject at the first report
    reports: int  # how many
    opened_at: int
    decided_at: int | None
    decision: DecisionKind | None
    reason: str | None
    username: str  # this and the next: the owner
    display_name: str
    decided_by: str | None  # a user name


class Report(msgspec.Struct):
    """A report of a case, by the account `username`. `material` is the reported thing as it was then, as JSON."""

    id: str
    username: str
    reason: str
    material: str
    created_at: int


class NewReport(msgspec.Struct):
    """A report to make."""

    type: SubjectType
    id: str
    reason: str


class Ruling(msgspec.Struct):
    """A decision about a case, and the reason that its owner reads."""

    decision: DecisionKind
    reason: str
