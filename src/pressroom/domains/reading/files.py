"""Who may fetch a file: whoever may see the post or the clip that it belongs to."""

from pressroom.db import Database
from pressroom.domains.clips.queries import FIND_CLIP
from pressroom.domains.posts.queries.lookup import FIND_POST


async def may_see(db: Database, reader: str, owner_id: str, is_clip: bool) -> bool:
    """Returns whether `reader`, the id of an active account, may see a clip or a post. One statement."""
    if is_clip:
        owner = await db.one(FIND_CLIP, clip_id=owner_id, reader=reader)
    else:
        owner = await db.one(FIND_POST, post_id=owner_id, reader=reader)
    return owner is not None and owner.may_be_seen()
