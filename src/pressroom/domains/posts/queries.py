"""The posts room's SQL."""

from typing import Final

from pressroom.db import Command, Tx
from pressroom.domains.posts.models import Post

INSERT_POST: Final = Command(
    "INSERT INTO posts (id, account_id, key_id, type, content, visibility, location_name, latitude, longitude,"
    " created_at, updated_at) VALUES (:id, :account_id, :key_id, :type, :content, :visibility, :location_name,"
    " :latitude, :longitude, :created_at, :updated_at)"
)


async def insert_post(tx: Tx, post: Post) -> None:
    """Keeps a new post."""
    place = post.location
    await tx.run(
        INSERT_POST,
        id=post.id,
        account_id=post.account_id,
        key_id=post.key_id,
        type=post.type,
        content=post.content,
        visibility=post.visibility,
        location_name=place.name if place else None,
        latitude=place.latitude if place else None,
        longitude=place.longitude if place else None,
        created_at=post.created_at,
        updated_at=post.updated_at,
    )
