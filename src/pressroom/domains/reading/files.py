"""Who may fetch a file: whoever may see the post or the clip that it belongs to."""

from pressroom.db import Database
from pressroom.domains.clips.queries import FIND_CLIP
from pressroom.domains.media.models import ServedMedia
from pressroom.domains.posts.queries.lookup import FIND_POST


async def may_see_file(db: Database, media: ServedMedia, reader: str) -> bool:
    """Whether `reader`, the id of an account that stands, may see what a file belongs to. One statement."""
    if media.clip_visibility is not None:
        owner = await db.one(FIND_CLIP, clip_id=media.owner_id, reader=reader)
    else:
        owner = await db.one(FIND_POST, post_id=media.owner_id, reader=reader)
    return owner is not None and owner.may_be_seen()
