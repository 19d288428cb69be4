"""Whether everybody heard once of all that concerns them, by the rows that a server left behind.

Nobody blocks, mutes, filters, suspends or deletes an account, and everybody has the usual settings.
"""

from collections.abc import Iterator
from typing import Final

from tests.harness.process import ServerProcess
from tests.harness.records import rows

_LIKED: Final = "SELECT 1 FROM likes l WHERE l.post_id = {post} AND l.account_id {whose}"
_BOUNCED: Final = (
    "SELECT 1 FROM posts b WHERE b.original_id = {post} AND b.type = 'SHARE' AND b.deleted_at IS NULL"
    " AND b.account_id {whose}"
)


def _silent(kind: str, act: str) -> str:
    """The posts that others liked or bounced, without a notification."""
    done = act.format(post="p.id", whose="<> p.account_id")
    return (
        f"SELECT p.id FROM posts p WHERE EXISTS ({done}) AND NOT EXISTS (SELECT 1 FROM notifications n"  # noqa: S608
        f" WHERE n.post_id = p.id AND n.type = '{kind}' AND n.account_id = p.account_id)"
    )


def _idle(kind: str, act: str) -> str:
    """The notifications whose actor did not do that, or has taken it back."""
    done = act.format(post="n.post_id", whose="= n.actor_id")
    return f"SELECT n.id FROM notifications n WHERE n.type = '{kind}' AND NOT EXISTS ({done})"  # noqa: S608


FAULTS: Final = {
    "comment that somebody did not hear of, or twice": (
        "SELECT c.id FROM comments c JOIN posts p ON p.id = c.post_id LEFT JOIN comments a ON a.id = c.parent_id"
        " WHERE (SELECT count(*) FROM notifications n WHERE n.comment_id = c.id)"
        " <> CASE WHEN c.account_id = p.account_id THEN 0 ELSE 1 END"
        " + CASE WHEN a.account_id NOT IN (c.account_id, p.account_id) THEN 1 ELSE 0 END"
    ),
    "comment that the post's author did not hear of": (
        "SELECT c.id FROM comments c JOIN posts p ON p.id = c.post_id LEFT JOIN comments a ON a.id = c.parent_id"
        " WHERE c.account_id <> p.account_id AND NOT EXISTS (SELECT 1 FROM notifications n WHERE n.comment_id = c.id"
        " AND n.account_id = p.account_id AND n.actor_id = c.account_id"
        " AND n.type = CASE WHEN a.account_id = p.account_id THEN 'reply' ELSE 'comment' END)"
    ),
    "quote that the author did not hear of, or twice": (
        "SELECT q.id FROM posts q JOIN posts p ON p.id = q.original_id WHERE q.type = 'QUOTE'"
        " AND (SELECT count(*) FROM notifications n WHERE n.post_id = q.id AND n.type = 'quote'"
        " AND n.account_id = p.account_id) <> CASE WHEN q.account_id = p.account_id THEN 0 ELSE 1 END"
    ),
    "liked post whose author did not hear of it": _silent("like", _LIKED),
    "bounced post whose author did not hear of it": _silent("bounce", _BOUNCED),
    "notification of a like that does not stand": _idle("like", _LIKED),
    "notification of a bounce that does not stand": _idle("bounce", _BOUNCED),
    "follow that neither account heard of": (
        "SELECT f.account_id || ' ' || f.followed_id FROM follows f WHERE NOT EXISTS (SELECT 1 FROM notifications n"
        " WHERE n.account_id = f.followed_id AND n.actor_id = f.account_id AND n.type = 'follow')"
        " AND NOT EXISTS (SELECT 1 FROM notifications n WHERE n.account_id = f.account_id"
        " AND n.actor_id = f.followed_id AND n.type = 'follow.accepted')"
    ),
    "notification of a follow that does not stand": (
        "SELECT n.id FROM notifications n WHERE n.type IN ('follow', 'follow.accepted') AND NOT EXISTS"
        " (SELECT 1 FROM follows f WHERE (f.account_id = n.actor_id AND f.followed_id = n.account_id)"
        " OR (f.account_id = n.account_id AND f.followed_id = n.actor_id))"
    ),
}
"""For each fault a statement that yields the ids of what shows it."""


def unheard(server: ServerProcess) -> Iterator[str]:
    """Every notification that is missing or too many, a sentence each."""
    for fault, statement in FAULTS.items():
        for (found,) in rows(server, statement):
            yield f"{found} is a {fault}"
