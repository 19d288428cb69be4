"""Examples of the API reference: requests, answers and errors of posts."""

from typing import Final

import msgspec

from pressroom.clock import MINUTE, parse_iso
from pressroom.domains.accounts.schemas import AuthorOut
from pressroom.domains.keys.schemas import SourceKeyOut
from pressroom.domains.media.schemas import MediaEntryOut
from pressroom.domains.media.urls import MediaAddresses
from pressroom.domains.posts.forms import UploadPost
from pressroom.domains.posts.models import Poll, PollOption, PostType, PostView, SeenPost
from pressroom.domains.posts.poll_schemas import Vote, poll_shape
from pressroom.domains.posts.schemas import BouncePost, CreatePost, EditPost, PostOut, SetAudience, post_shape
from pressroom.domains.posts.visibility import Visibility
from pressroom.errors import Code, FieldError, Invalid, NotFound, Unprocessable
from pressroom.web.permalinks import Permalinks
from pressroom.web.wire import EXAMPLE_BASE

NO_POST: Final = NotFound("There is no such post.")
BAD_POST: Final = Invalid(
    [
        FieldError("content", Code.TOO_LONG, "At most 5,000 characters; this has 5,214."),
        FieldError(
            "visibility",
            Code.INVALID_CHOICE,
            "Must be one of PUBLIC, FOLLOWERS, CONNECTIONS, PRIVATE, CUSTOM.",
        ),
        FieldError("tags", Code.UNKNOWN_FIELD, "There is no such field; is it misspelt?"),
    ]
)
BAD_UPLOAD: Final = Invalid(
    [
        FieldError("media[1]", Code.TOO_LARGE, "A file has at most 8,388,608 bytes."),
        FieldError(
            "media[2]", Code.UNSUPPORTED_MEDIA_TYPE, "Declared as image/png, but by its bytes this is image/jpeg."
        ),
    ]
)
MEDIA_QUOTA_REACHED: Final = Unprocessable(
    [
        FieldError(
            "media",
            Code.TOO_LARGE,
            "The account may store 5,368,709,120 bytes of media, and these 9,120,400 are too many on top of it.",
        )
    ]
)
NOT_A_MEMBER: Final = Unprocessable(
    [
        FieldError(
            "hubId",
            Code.NOT_ALLOWED,
            "The account is not a member of such a hub. Join it first, or leave hubId out.",
        )
    ]
)


_CREATED: Final = parse_iso("2026-11-20T16:08:12.345Z")
_BOUNCED: Final = "2026-11-20T16:48:48.000Z"
_EDITED: Final = "2026-11-20T18:30:00.001Z"
_FOX: Final = PollOption("The fox", 0)
_POLL: Final = Poll(None, False, _CREATED + 1_440 * MINUTE, 0, [_FOX, PollOption("The heron", 0)])


def _view() -> PostView:
    """Returns the post of CREATE_POST_EXAMPLE, as its author sees it at once."""
    post = SeenPost(
        **msgspec.structs.asdict(CreatePost.example().post_fields()),
        id="01M7WVE9SS0371E5H43QNHTMZJ",
        account_id=AuthorOut.example().id,
        key_id=SourceKeyOut.example().id,
        type=PostType.POST,
        content=CreatePost.example().content,
        created_at=_CREATED,
        updated_at=_CREATED,
        username=AuthorOut.example().username,
        display_name=AuthorOut.example().display_name,
        verified=AuthorOut.example().verified,
        key_label=SourceKeyOut.example().label,
        key_prefix=SourceKeyOut.example().key_prefix,
    )
    return PostView(post, _POLL)


def _shape(view: PostView) -> PostOut:
    return post_shape(
        view, MediaAddresses(EXAMPLE_BASE, Permalinks(EXAMPLE_BASE), secret="", now=_CREATED, reader=""), _CREATED
    )


POST_EXAMPLE = _shape(_view())
UPLOAD_POST_EXAMPLE = UploadPost(content="The proof sheet", alt_text=["A proof sheet on the drying rack"])
UPLOADED_POST_EXAMPLE = msgspec.structs.replace(
    POST_EXAMPLE, content=UPLOAD_POST_EXAMPLE.content, media=[MediaEntryOut.example()], poll=None, location=None
)
EDIT_POST_EXAMPLE = EditPost(content="The first run is dry. #letterpress", visibility=Visibility.FOLLOWERS)
EDITED_POST_EXAMPLE = msgspec.structs.replace(
    POST_EXAMPLE,
    content=EDIT_POST_EXAMPLE.content,
    visibility=Visibility.FOLLOWERS,
    updated_at=_EDITED,
    edited_at=_EDITED,
)
BOUNCE_POST_EXAMPLE = BouncePost(content="Worth the wait.")
BOUNCE_EXAMPLE = msgspec.structs.replace(
    _shape(PostView(_view().post, original=_view())),
    id="01M7WXR4R0Y0J8J9TB2T5D8K3V",
    permalink=Permalinks(EXAMPLE_BASE).of_post("01M7WXR4R0Y0J8J9TB2T5D8K3V"),
    content=BOUNCE_POST_EXAMPLE.content,
    location=None,
    type=PostType.QUOTE,
    created_at=_BOUNCED,
    updated_at=_BOUNCED,
    is_bounce=True,
    bounced_by=AuthorOut.example(),
)
VOTE_EXAMPLE = Vote(choices=[1])
VOTED_EXAMPLE = poll_shape(
    msgspec.structs.replace(_POLL, total_votes=1, options=[_FOX, PollOption("The heron", 1)], own_votes=[1]), _CREATED
)
AUDIENCE_EXAMPLE = SetAudience(usernames=["mira_press", "otto"])
