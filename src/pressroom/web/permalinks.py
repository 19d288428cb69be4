"""Permalinks: the public addresses of posts, clips and comments."""

import msgspec

from pressroom.ids import id_before


class Permalinks(msgspec.Struct, frozen=True):
    """Makes permalinks that begin with `base`; with an empty one, paths on this server (docs/posts.md#permalinks)."""

    base: str = ""

    def of_post(self, post_id: str) -> str:
        """Returns the permalink of a post."""
        return f"{self.base}/post/{post_id}"

    def of_clip(self, clip_id: str) -> str:
        """Returns the permalink of a clip."""
        return f"{self.base}/clip/{clip_id}"

    def of_comment(self, post_id: str, thread_id: str, comment_id: str) -> str:
        """Returns the permalink of a comment: the page of the post's comments that begins with it.

        In a long thread the comment is not on the first page, so the address names its place.
        """
        return f"{self.of_post(post_id)}?after={thread_id}-{id_before(comment_id)}#comment-{comment_id}"
