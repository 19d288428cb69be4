"""Bodies and answers as the API reference shows them."""

from typing import Final

import msgspec

from pressroom.domains.administration.schemas import (
    ActOut,
    AdminEndpointOut,
    AdminKeyOut,
    BacklogOut,
    CountOut,
    DeadJobOut,
    DeleteAccount,
    FactsOut,
    GiveReason,
    JobBacklogOut,
    OverviewOut,
    QueueOut,
    SetLimits,
    SettingOut,
    VerifyAccount,
)
from pressroom.domains.moderation.schemas import RecordOut

REASON_EXAMPLE: Final = GiveReason(reason="Advertises pills in every comment.")
VERIFY_EXAMPLE: Final = VerifyAccount(verified=True, email_verified=True, reason="Rang the newsroom.")
LIMITS_EXAMPLE: Final = SetLimits(
    content_per_day=5_000, ends_at="2027-12-31T00:00:00.000Z", reason="Moves its archive here in December."
)
DELETE_EXAMPLE: Final = DeleteAccount(username="mira_press", reason="Asked for it by letter.")

RECORD_EXAMPLE: Final = RecordOut(
    id="01KJPX7NCXC3C1PSD84ZVECKAK",
    username="mira_press",
    email="mira@press.example",
    display_name="Mira Okafor",
    status="active",
    is_admin=False,
    is_moderator=False,
    is_private=False,
    total_posts=42,
    total_followers=180,
    total_following=12,
    active_keys=None,
    created_at="2026-03-02T09:14:27.101Z",
    suspended_at=None,
    deleted_at=None,
    limits=None,
)

_KEY: Final = AdminKeyOut(
    id="01KQ0W5YB0S3ZJ0E3ZP3R1C7VX",
    label="Newsroom CMS",
    key_prefix="svc_live_4fQz9b",
    scopes=["posts:write"],
    status="active",
    created_at="2026-05-11T08:00:00.000Z",
    last_used_at="2026-11-20T16:08:00.000Z",
)

FACTS_EXAMPLE: Final = FactsOut(
    **msgspec.structs.asdict(msgspec.structs.replace(RECORD_EXAMPLE, active_keys=1)),
    verified=True,
    email_verified=True,
    stored_bytes=48_211_004,
    keys=[_KEY],
    webhooks=[
        AdminEndpointOut(
            id="01KQ0W7A3N6G4P1B2T5R9E8D0C",
            key_id=_KEY.id,
            url="https://newsroom.example/hooks/site",
            status="enabled",
            created_at="2026-05-11T08:01:00.000Z",
            consecutive_failures=0,
            disabled_reason=None,
        )
    ],
)

OVERVIEW_EXAMPLE: Final = OverviewOut(
    version="0.1.0",
    engine="postgres",
    accounts=CountOut(1_204, more=False),
    new_accounts=CountOut(9, more=False),
    suspended_accounts=CountOut(3, more=False),
    posts=CountOut(10_000, more=True),
    new_posts=CountOut(731, more=False),
    deliveries=BacklogOut(CountOut(12, more=False), "2026-11-20T16:07:58.200Z"),
    jobs=JobBacklogOut(CountOut(2, more=False), "2026-11-20T16:08:11.000Z", CountOut(1, more=False)),
    stored_bytes=CountOut(48_211_004_114, more=False),
)

QUEUE_EXAMPLE: Final = QueueOut("media", CountOut(2, more=False), "2026-11-20T16:08:11.000Z")

DEAD_JOB_EXAMPLE: Final = DeadJobOut(
    id="01KW1H3V9C5Q2Z7M4X8N6B0T1R",
    kind="verification mail",
    subject="01KJPX7NCXC3C1PSD84ZVECKAK",
    account_id="01KJPX7NCXC3C1PSD84ZVECKAK",
    tries=6,
    error="The mail server refuses the sender.",
    enqueued_at="2026-11-19T10:00:00.000Z",
    can_be_retried=True,
)

SETTING_EXAMPLE: Final = SettingOut(
    name="PRESSROOM_DATABASE_URL",
    value="postgresql://…@db.example/pressroom",
    is_given=True,
    help="sqlite:///FILE or postgresql://USER@HOST/NAME.",
)

ACT_EXAMPLE: Final = ActOut(
    id="01KW1H5D2T8Y6R4E3W9Q7P1S0A",
    kind="account.suspended",
    at="2026-11-20T16:08:12.345Z",
    actor="admin",
    admin="harbour_news",
    operator=None,
    account_id=RECORD_EXAMPLE.id,
    username=RECORD_EXAMPLE.username,
    address="203.0.113.7",
    detail={"reason": REASON_EXAMPLE.reason},
)
