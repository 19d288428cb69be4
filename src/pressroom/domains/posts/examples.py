"""Examples for the API reference."""

from pressroom.domains.accounts.schemas import AUTHOR_EXAMPLE
from pressroom.domains.keys.schemas import SOURCE_KEY_EXAMPLE
from pressroom.domains.media.schemas import MEDIA_EXAMPLE
from pressroom.domains.posts.models import PostType
from pressroom.domains.posts.schemas import (
    BouncePost,
    CreatePost,
    EditPost,
    InteractionsOut,
    LocationIn,
    LocationOut,
    OriginalPostOut,
    PollIn,
    PollOptionOut,
    PollOut,
    PostOut,
    SetAudience,
    StatsOut,
    Vote,
)
from pressroom.domains.posts.uploads import UploadPost
from pressroom.domains.posts.visibility import Visibility

CREATE_POST_EXAMPLE = CreatePost(
    content="The first run is on the drying rack. Which one goes on the cover? #letterpress",
    visibility=Visibility.PUBLIC,
    location=LocationIn(name="Köln", latitude=50.9375, longitude=6.9603),
    poll=PollIn(options=["The fox", "The heron"], duration_minutes=1440),
)
POLL_EXAMPLE = PollOut(
    question=None,
    multiple=False,
    closes_at="2026-11-21T16:08:12.345Z",
    closed=False,
    total_votes=0,
    options=[PollOptionOut(0, "The fox", 0), PollOptionOut(1, "The heron", 0)],
    own_votes=[],
)
ORIGINAL_EXAMPLE = OriginalPostOut(
    id="01M7WVE9SS0371E5H43QNHTMZJ",
    content=CREATE_POST_EXAMPLE.content,
    media=None,
    link_preview=None,
    location=LocationOut("Köln", 50.9375, 6.9603),
    type=PostType.POST,
    visibility=Visibility.PUBLIC,
    created_at="2026-11-20T16:08:12.345Z",
    updated_at="2026-11-20T16:08:12.345Z",
    edited_at=None,
    deleted_at=None,
    author=AUTHOR_EXAMPLE,
    hub=None,
    source_api_key=SOURCE_KEY_EXAMPLE,
    is_bounce=False,
    bounced_by=None,
    poll=POLL_EXAMPLE,
    stats=StatsOut(),
    user_interactions=InteractionsOut(),
)


def _post(original: OriginalPostOut, shares: OriginalPostOut | None = None, **changes: object) -> PostOut:
    fields = {name: getattr(original, name) for name in original.__struct_fields__}
    return PostOut(**{**fields, **changes}, original_post=shares)  # pyright: ignore[reportArgumentType]  # fields of an example


POST_EXAMPLE = _post(ORIGINAL_EXAMPLE)
UPLOAD_POST_EXAMPLE = UploadPost(content="The proof sheet", alt_text=["A proof sheet on the drying rack"])
UPLOADED_POST_EXAMPLE = _post(
    ORIGINAL_EXAMPLE, content=UPLOAD_POST_EXAMPLE.content, media=[MEDIA_EXAMPLE], poll=None, location=None
)
EDIT_POST_EXAMPLE = EditPost(content="The first run is dry. #letterpress", visibility=Visibility.FOLLOWERS)
EDITED_POST_EXAMPLE = _post(
    ORIGINAL_EXAMPLE,
    content=EDIT_POST_EXAMPLE.content,
    visibility=Visibility.FOLLOWERS,
    updated_at="2026-11-20T18:30:00.001Z",
    edited_at="2026-11-20T18:30:00.001Z",
)
BOUNCE_POST_EXAMPLE = BouncePost(content="Worth the wait.")
BOUNCE_EXAMPLE = _post(
    ORIGINAL_EXAMPLE,
    ORIGINAL_EXAMPLE,
    id="01M7WXR4R0Y0J8J9TB2T5D8K3V",
    content=BOUNCE_POST_EXAMPLE.content,
    location=None,
    poll=None,
    type=PostType.QUOTE,
    created_at="2026-11-20T16:48:48.000Z",
    updated_at="2026-11-20T16:48:48.000Z",
    is_bounce=True,
    bounced_by=AUTHOR_EXAMPLE,
)
VOTE_EXAMPLE = Vote(choices=[1])
VOTED_EXAMPLE = PollOut(
    question=None,
    multiple=False,
    closes_at="2026-11-21T16:08:12.345Z",
    closed=False,
    total_votes=1,
    options=[PollOptionOut(0, "The fox", 0), PollOptionOut(1, "The heron", 1)],
    own_votes=[1],
)
AUDIENCE_EXAMPLE = SetAudience(usernames=["mira_press", "otto"])
