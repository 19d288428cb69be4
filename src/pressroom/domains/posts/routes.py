"""Posts over HTTP."""

from pressroom.domains.accounts.models import Caller
from pressroom.domains.posts import actions
from pressroom.domains.posts.schemas import CreatePost, PostOut, new_post_shape
from pressroom.errors import QuotaExceeded
from pressroom.web.access import Keyed
from pressroom.web.routing import Answer, Call, declare_with_body

TAG = "Posts"


@declare_with_body(
    "POST",
    "/api/posts",
    Keyed("posts:write", counts_as_post=True),
    summary="Publish a post",
    takes=CreatePost,
    gives=PostOut,
    status=201,
    fails=(QuotaExceeded,),
    idempotent=True,
    tag=TAG,
)
async def create_post(call: Call[Caller], body: CreatePost) -> Answer:
    """Publishes a post in the name of the key's account and emits post.created. Counts against the key's
    10 posts per minute and the account's 1,000 posts and clips per UTC day; signed in, without a key,
    neither applies."""
    caller, base_url = call.caller, call.settings.base_url
    return await call.once(
        actions.publish_post,
        lambda post: new_post_shape(post, caller, base_url),
        201,
        caller,
        body.draft(),
        call.settings.daily_content_quota,
    )
