"""What each event tells, by example: the webhooks chapter of the API reference is made from this."""

from typing import Final

from pressroom.domains.clips.models import ClipCreatedData, CreatedClip
from pressroom.domains.comments.models import CommentCreatedData, CreatedComment
from pressroom.domains.events.models import EventType
from pressroom.domains.keys.models import Revocation, RevocationData, RevokedBy
from pressroom.domains.media.models import ProcessingStatus
from pressroom.domains.posts.models import CreatedPost, PostCreatedData, PostType
from pressroom.domains.posts.visibility import Visibility
from pressroom.domains.webhooks.models import TestData
from pressroom.web.openapi.deliveries import EventShape

_ACCOUNT: Final = "01KP2C3Z8D7Q1N5V0X4E6R9TBW"
_POST: Final = "01M7WVE9SS0371E5H43QNHTMZJ"


EVENT_SHAPES: Final = (
    EventShape(
        EventType.POST_CREATED,
        "The account published a post, by key or with a session; bounces are posts too. Sent as soon as the post is "
        "there, before its media has been processed.",
        PostCreatedData(
            CreatedPost(
                id=_POST,
                author_id=_ACCOUNT,
                content="The first run is on the drying rack. #letterpress",
                type=PostType.POST,
                visibility=Visibility.PUBLIC,
                is_share=False,
                original_post_id=None,
                hub_id=None,
                created_at="2026-11-20T16:08:12.345Z",
            )
        ),
    ),
    EventShape(
        EventType.POSTCLIP_CREATED,
        "The account published a clip.",
        ClipCreatedData(
            CreatedClip(
                id="01M7WVEB0X1R6S9D3F5G7H8JKM",
                author_id=_ACCOUNT,
                caption="Inking the forme",
                duration=None,
                visibility=Visibility.PUBLIC,
                hub_id=None,
                processing_status=ProcessingStatus.PROCESSING,
                created_at="2026-11-20T16:08:12.345Z",
            )
        ),
    ),
    EventShape(
        EventType.COMMENT_CREATED,
        "The account commented on a post, or replied to a comment. `content` is empty when the comment is media alone.",
        CommentCreatedData(
            CreatedComment(
                id="01M7WVEC4Z8Y2T6W0Q1P3N5M7B",
                post_id=_POST,
                author_id=_ACCOUNT,
                parent_id=None,
                content="Which press is that?",
                created_at="2026-11-20T16:08:12.345Z",
            )
        ),
    ),
    EventShape(
        EventType.APIKEY_REVOKED,
        "The key of this endpoint was revoked: by its owner (`self`), by the operator (`admin`), or by the service for "
        "hammering on after refusals (`auto`). It is the last event that the key's endpoints get.",
        RevocationData(
            Revocation(
                id="01KVCVX25JSSB86WQ50AY87SX4",
                label="Night desk",
                key_prefix="svc_live_EXAMPL",
                revoked_at="2026-11-20T16:08:12.345Z",
                revoked_by=RevokedBy.ADMIN,
                reason="The key was found in a public repository.",
            )
        ),
    ),
    EventShape(
        EventType.WEBHOOK_TEST,
        "The owner asked for a test. It is tried once, and its failure does not count.",
        TestData("It works: this is a test delivery from Pressroom.", "01KW2F3B6E0N5Q8R7T4V1X9YZA"),
    ),
)
