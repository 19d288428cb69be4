"""Entries of the home timeline, without those that a mute or word filter omits (docs/timeline.md#entries).

Posts and clips that the reader may not see are omitted by the statements that read them.
"""

from collections.abc import Sequence

from pressroom.db import Tx
from pressroom.db.params import batches
from pressroom.domains.clips.actions import list_seen as list_clips
from pressroom.domains.clips.models import Clip
from pressroom.domains.posts.actions.lookup import complete, find_standing
from pressroom.domains.posts.models import PostType
from pressroom.domains.privacy.models import Matcher
from pressroom.domains.timeline.models import Entry


async def list_entries(tx: Tx, reader: str, ids: Sequence[str], matcher: Matcher) -> list[Entry]:
    """Returns the entries of these ids, in this order, without omitted ones."""
    posts = {post.id: post for post in await find_standing(tx, ids, reader)}
    others = [each for each in ids if each not in posts]
    clips = {view.clip.id: view for batch in batches(others) for view in await list_clips(tx, batch, reader)}
    bounces = [post for post in posts.values() if post.type == PostType.SHARE]
    originals = await find_standing(tx, [post.original_id for post in bounces if post.original_id], reader)
    subjects = {post.id: post for post in (*posts.values(), *originals) if post.type != PostType.SHARE}
    views = {view.post.id: view for view in await complete(tx, list(subjects.values()), reader)}
    entries: list[Entry] = []
    for each in ids:
        post = posts.get(each)
        if post is None:
            if each in clips:
                entries.append(Entry(each, clip=clips[each]))
        elif post.type != PostType.SHARE:
            entries.append(Entry(each, views[each]))
        elif post.original_id in views:
            entries.append(Entry(each, views[post.original_id], bounce=post))
    return [each for each in entries if not _is_omitted(each, matcher)]


def _is_omitted(entry: Entry, matcher: Matcher) -> bool:
    """Returns whether a mute hides an entry, or a word filter that of somebody else."""
    if any(part.muted for part in entry.parts):
        return True
    texts = [part.caption if isinstance(part, Clip) else part.content for part in entry.parts]
    return not any(part.is_author for part in entry.parts) and matcher.hides(*texts)
