"""Posts over HTTP."""

from pressroom.domains.accounts.models import Caller
from pressroom.domains.posts import actions
from pressroom.domains.posts.schemas import CREATE_POST_EXAMPLE, POST_EXAMPLE, CreatePost, PostOut, new_post_shape
from pressroom.errors import Code, Fault, Invalid, QuotaExceeded
from pressroom.web.access import Keyed
from pressroom.web.routing import Answer, Call, Tag, declare_with_body

TAG = Tag("Posts", "What an account publishes.")

_BAD_POST = Invalid(
    [
        Fault("content", Code.TOO_LONG, "At most 5,000 characters; this has 5,214."),
        Fault(
            "visibility",
            Code.INVALID_CHOICE,
            "Must be one of PUBLIC, FOLLOWERS, CONNECTIONS, PRIVATE, CUSTOM.",
        ),
        Fault("tags", Code.UNKNOWN_FIELD, "There is no such field; is it misspelt?"),
    ]
)


@declare_with_body(
    "POST",
    "/api/posts",
    Keyed("posts:write", counts_as_post=True),
    summary="Publish a post",
    takes=CreatePost,
    gives=PostOut,
    status=201,
    fails=(_BAD_POST, QuotaExceeded),
    idempotent=True,
    tag=TAG,
    example=CREATE_POST_EXAMPLE,
    answer_example=POST_EXAMPLE,
)
async def create_post(call: Call[Caller], body: CreatePost) -> Answer:
    """Publishes a post in the name of the account. With a key it counts against the key's posts per minute and
    the account's content quota of the UTC day; signed in, without a key, neither applies."""
    caller, base_url = call.caller, call.settings.base_url
    return await call.once(
        actions.publish_post,
        lambda post: new_post_shape(post, caller, base_url),
        201,
        caller,
        body.draft(),
        call.settings.daily_content_quota,
    )
