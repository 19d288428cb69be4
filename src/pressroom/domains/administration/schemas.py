"""Wire shapes of the administration package (docs/operations.md#admins)."""

from collections.abc import Iterator
from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from pressroom.clock import iso, iso_or_none, parse_iso
from pressroom.domains.administration.actions import FINAL, Facts, NamedEntry, Overview
from pressroom.domains.administration.models import MOST
from pressroom.domains.keys.models import LONGEST_REASON, ApiKey
from pressroom.domains.keys.schemas import KeyPrefix
from pressroom.domains.limits.models import OwnLimits
from pressroom.domains.moderation.schemas import RecordOut, record_shape
from pressroom.domains.webhooks.models import Webhook
from pressroom.errors import Code, FieldError
from pressroom.jobs.overview import DeadJob, Depth, shown_subject
from pressroom.settings.shown import ShownSetting
from pressroom.text import is_invisible
from pressroom.web.json_bodies import Body
from pressroom.web.wire import SHOWN, Id, NextCursor, Time, some_given

Reason = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=LONGEST_REASON,
        description="Why, for the log of what admins did.",
        extra_json_schema={"pattern": SHOWN},
    ),
]


def _reason_errors(reason: object) -> Iterator[FieldError]:
    if isinstance(reason, str) and reason and is_invisible(reason):
        yield FieldError("reason", Code.TOO_SHORT, "Say why: nothing of this is seen.")


def end_errors(field: str, text: str, now: int) -> Iterator[FieldError]:
    """Yields an error of `field` unless the text is a time after `now` (milliseconds)."""
    try:
        at = parse_iso(text)
    except (ValueError, OverflowError):
        yield FieldError(field, Code.INVALID_FORMAT, "Must be an ISO 8601 time with a zone.")
        return
    if at <= now:
        yield FieldError(field, Code.OUT_OF_RANGE, "Must lie in the future.")


class GiveReason(Body):
    """Why an admin does what the route says."""

    reason: Reason

    def field_errors(self, now: int) -> Iterator[FieldError]:
        yield from _reason_errors(self.reason)


class VerifyAccount(Body):
    """Facts that an admin has verified about an account, and how: at least one of the two. The other stays as it is."""

    json_schema: ClassVar = some_given(verified={"type": "boolean"}, emailVerified={"type": "boolean"})

    required_unless: ClassVar = {"body": ("verified", "emailVerified")}

    reason: Reason
    verified: Annotated[bool, Meta(description="Whether the account bears the badge.")] | msgspec.UnsetType = (
        msgspec.UNSET
    )
    email_verified: (
        Annotated[bool, Meta(description="Whether its e-mail address counts as confirmed.")] | msgspec.UnsetType
    ) = msgspec.UNSET

    def field_errors(self, now: int) -> Iterator[FieldError]:
        if self.verified is msgspec.UNSET and self.email_verified is msgspec.UNSET:
            yield FieldError("body", Code.REQUIRED, "Give at least one of verified and emailVerified.")
        yield from _reason_errors(self.reason)


class SetLimits(Body):
    """All limits of an account that are not those of the settings. Without any, the settings hold."""

    reason: Reason
    requests_per_minute: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    requests_per_day: Annotated[int, Meta(ge=1, le=100_000_000)] | None = None
    posts_per_minute: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    content_per_day: (
        Annotated[int, Meta(ge=0, le=10_000_000, description="Posts, clips and bounces by key.")] | None
    ) = None
    session_writes_per_minute: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    session_content_per_day: Annotated[int, Meta(ge=0, le=10_000_000)] | None = None
    storage_bytes: Annotated[int, Meta(ge=0, le=10**12, description="Bytes of media.")] | None = None
    ends_at: (
        Annotated[
            str,
            Meta(
                max_length=40,
                description="When the settings hold again; without it never.",
                extra_json_schema={"format": "date-time"},
            ),
        ]
        | None
    ) = None

    def field_errors(self, now: int) -> Iterator[FieldError]:
        yield from _reason_errors(self.reason)
        if self.ends_at is not None:
            yield from end_errors("endsAt", self.ends_at, now)

    def limits(self) -> OwnLimits:
        """Returns the limits."""
        values = {**msgspec.structs.asdict(self), "ends_at": None if self.ends_at is None else parse_iso(self.ends_at)}
        del values["reason"]
        return OwnLimits(**values)


class DeleteAccount(Body):
    """The user name of the account to delete, typed to show that this one is meant, and why."""

    username: Annotated[str, Meta(max_length=100, description="The user name, once more.")]
    reason: Reason

    def field_errors(self, now: int) -> Iterator[FieldError]:
        yield from _reason_errors(self.reason)


class CountOut(msgspec.Struct):
    """A number of things, counted as far as 10,000."""

    count: int
    more: Annotated[bool, Meta(description="There are more than `count`.")]


class BacklogOut(msgspec.Struct, rename="camel"):
    """Jobs that wait for a worker."""

    waiting: CountOut
    oldest_at: Annotated[Time | None, Meta(description="Since when the oldest waits; null: nothing waits.")]


class JobBacklogOut(BacklogOut, rename="camel"):
    """Jobs that wait, and those that were given up."""

    dead: CountOut


class OverviewOut(msgspec.Struct, rename="camel"):
    """The state of the installation."""

    version: str
    engine: Annotated[str, Meta(description="Of the database: sqlite or postgres.")]
    accounts: CountOut
    new_accounts: Annotated[CountOut, Meta(description="Made within the last 24 hours.")]
    suspended_accounts: CountOut
    posts: Annotated[CountOut, Meta(description="Deleted ones too.")]
    new_posts: Annotated[CountOut, Meta(description="Published within the last 24 hours.")]
    deliveries: BacklogOut
    jobs: JobBacklogOut
    stored_bytes: Annotated[CountOut, Meta(description="Bytes of media, of 10,000 accounts at the most.")]


class AdminKeyOut(msgspec.Struct, rename="camel"):
    """A key as an admin sees it."""

    id: Id
    label: str
    key_prefix: KeyPrefix
    scopes: list[str]
    status: str
    created_at: Time
    last_used_at: Time | None


class AdminEndpointOut(msgspec.Struct, rename="camel"):
    """A webhook endpoint as an admin sees it."""

    id: Id
    key_id: Id
    url: Annotated[str, Meta(description="Without its query, which may be a secret.")]
    status: str
    created_at: Time
    consecutive_failures: int
    disabled_reason: str | None


class FactsOut(RecordOut, rename="camel"):
    """An account with what belongs to it."""

    verified: bool
    email_verified: bool
    stored_bytes: Annotated[int, Meta(description="Bytes of media.")]
    keys: Annotated[list[AdminKeyOut], Meta(description="The active ones, then the latest 20 of the others.")]
    webhooks: Annotated[list[AdminEndpointOut], Meta(description="The newest 50.")]


class QueueOut(msgspec.Struct, rename="camel"):
    """Jobs of one kind that wait."""

    kind: str
    waiting: CountOut
    oldest_at: Time


class DeadJobOut(msgspec.Struct, rename="camel"):
    """A job after its last try."""

    id: Id
    kind: str
    subject: Annotated[str, Meta(description="Of a link the site alone, of an e-mail address the domain.")]
    account_id: Annotated[str | None, Meta(description="The account that it was done for, if any.")]
    tries: int
    error: str | None
    enqueued_at: Time
    can_be_retried: Annotated[bool, Meta(description="False: what it was about has ended for good.")]


class JobList(msgspec.Struct, rename="camel"):
    """Waiting jobs by kind, and a page of dead jobs, newest first."""

    queues: list[QueueOut]
    dead: list[DeadJobOut]
    next_cursor: NextCursor


class RetriedOut(msgspec.Struct):
    """A job that is tried again."""

    id: Id
    kind: str


class SettingOut(msgspec.Struct, rename="camel"):
    """A setting, without what could be a secret in it."""

    name: str
    value: str
    is_given: Annotated[bool, Meta(description="False: the default.")]
    help: str


class SettingList(msgspec.Struct):
    """Every setting."""

    settings: list[SettingOut]


class ActOut(msgspec.Struct, rename="camel"):
    """Something that an admin or the operator did."""

    id: Id
    kind: Annotated[str, Meta(description="What was done: account.suspended, job.retried, …")]
    at: Time
    actor: Annotated[str, Meta(description="admin: in the browser or by the API; operator: by a command.")]
    admin: Annotated[str | None, Meta(description="The admin's present user name.")]
    operator: Annotated[str | None, Meta(description="The person who ran the command.")]
    account_id: Annotated[str | None, Meta(description="The account that it was done to, if any.")]
    username: Annotated[str | None, Meta(description="The present user name of that account.")]
    address: Annotated[str, Meta(description="Where the request came from; empty for a command.")]
    detail: Annotated[dict[str, str | int], Meta(description="Such as `reason`.")]


class ActList(msgspec.Struct, rename="camel"):
    """A page of acts, newest first."""

    entries: list[ActOut]
    next_cursor: NextCursor


def given(flag: bool | msgspec.UnsetType) -> bool | None:
    """Returns a flag of a body, or None when it was not given."""
    return None if flag is msgspec.UNSET else flag


def count_shape(found: int) -> CountOut:
    """Returns a count that was ended at MOST + 1."""
    return CountOut(min(found, MOST), found > MOST)


def overview_shape(found: Overview, version: str, engine: str) -> OverviewOut:
    """Returns the state of the installation."""
    counts = found.counts
    waiting = sum(min(depth.waiting, MOST) for depth in found.depths)
    return OverviewOut(
        version=version,
        engine=engine,
        accounts=count_shape(counts.accounts),
        new_accounts=count_shape(counts.new_accounts),
        suspended_accounts=count_shape(counts.suspended_accounts),
        posts=count_shape(counts.posts),
        new_posts=count_shape(counts.new_posts),
        deliveries=BacklogOut(count_shape(counts.waiting_deliveries), iso_or_none(found.oldest_waiting_at)),
        jobs=JobBacklogOut(
            CountOut(waiting, any(depth.waiting > MOST for depth in found.depths)),
            iso_or_none(min((depth.oldest_at for depth in found.depths), default=None)),
            count_shape(counts.dead_jobs),
        ),
        stored_bytes=CountOut(counts.stored_bytes, counts.storing_accounts > MOST),
    )


def facts_shape(facts: Facts, now: int) -> FactsOut:
    """Returns an account with its belongings, at `now` (milliseconds)."""
    keys = [*facts.keys.active, *facts.keys.ended]
    return FactsOut(
        **msgspec.structs.asdict(record_shape(facts.record, len(facts.keys.active))),
        verified=facts.record.verified,
        email_verified=facts.record.email_verified,
        stored_bytes=facts.stored_bytes,
        keys=[key_shape(key, now) for key in keys],
        webhooks=[endpoint_shape(endpoint) for endpoint in facts.endpoints],
    )


def queue_shape(depth: Depth) -> QueueOut:
    """Returns how many jobs of a kind wait."""
    return QueueOut(depth.kind, count_shape(depth.waiting), iso(depth.oldest_at))


def dead_job_shape(job: DeadJob) -> DeadJobOut:
    """Returns a dead job."""
    return DeadJobOut(
        id=job.id,
        kind=job.kind,
        subject=shown_subject(job.subject),
        account_id=job.account_id or None,
        tries=job.tries,
        error=job.error,
        enqueued_at=iso(job.created_at),
        can_be_retried=job.kind not in FINAL,
    )


def setting_shape(setting: ShownSetting) -> SettingOut:
    """Returns a setting."""
    return SettingOut(setting.name, setting.value, setting.is_given, setting.help)


def act_shape(found: NamedEntry) -> ActOut:
    """Returns an act of an admin or of the operator."""
    entry = found.entry
    return ActOut(
        id=entry.id,
        kind=entry.kind,
        at=iso(entry.at),
        actor=entry.actor,
        admin=entry.admin,
        operator=entry.operator,
        account_id=entry.account_id or None,
        username=found.username,
        address=entry.address,
        detail=msgspec.json.decode(entry.detail, type=dict[str, str | int]),
    )


def key_shape(key: ApiKey, now: int) -> AdminKeyOut:
    """Returns a key as an admin sees it."""
    return AdminKeyOut(
        id=key.id,
        label=key.label,
        key_prefix=key.key_prefix,
        scopes=key.scopes.split(),
        status=key.status(now).value,
        created_at=iso(key.created_at),
        last_used_at=iso_or_none(key.last_used_at),
    )


def endpoint_shape(endpoint: Webhook) -> AdminEndpointOut:
    """Returns an endpoint as an admin sees it."""
    address, query, _ = endpoint.url.partition("?")
    return AdminEndpointOut(
        id=endpoint.id,
        key_id=endpoint.key_id,
        url=f"{address}{query}{'…' if query else ''}",
        status=endpoint.status.value,
        created_at=iso(endpoint.created_at),
        consecutive_failures=endpoint.consecutive_failures,
        disabled_reason=endpoint.disabled_reason,
    )
