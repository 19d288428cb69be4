"""How comments stand in threads."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pressroom.domains.comments.models import Comment, ThreadEntry, in_threads

DEEP = 20_000

Placed = list[tuple[str, int]]


def comment(name: str, parent: str | None = None) -> Comment:
    """A comment that is only its place."""
    return Comment(
        id=name,
        post_id="post",
        parent_id=parent,
        thread_id="thread",
        account_id="account",
        content=name,
        media_type=None,
        media_url=None,
        created_at=0,
        edited_at=None,
        deleted_at=None,
        username="alice",
        display_name="Alice",
        verified=False,
        avatar_token=None,
    )


def shown(placed: Sequence[ThreadEntry]) -> Placed:
    """Names and depths."""
    return [(each.comment.id, each.depth) for each in placed]


STORIES: dict[str, tuple[list[Comment], Placed]] = {
    "nothing": ([], []),
    "one": ([comment("a")], [("a", 0)]),
    "no replies": ([comment("a"), comment("b"), comment("c")], [("a", 0), ("b", 0), ("c", 0)]),
    "a reply comes before what was said later": (
        [comment("a"), comment("b"), comment("c", "a")],
        [("a", 0), ("c", 1), ("b", 0)],
    ),
    "replies in time order": (
        [comment("a"), comment("b", "a"), comment("c", "a"), comment("d", "a")],
        [("a", 0), ("b", 1), ("c", 1), ("d", 1)],
    ),
    "a late reply to an early reply": (
        [comment("a"), comment("b", "a"), comment("c", "a"), comment("d"), comment("e", "b"), comment("f", "d")],
        [("a", 0), ("b", 1), ("e", 2), ("c", 1), ("d", 0), ("f", 1)],
    ),
    "back to the top from far below": (
        [comment("a"), comment("b", "a"), comment("c", "b"), comment("d", "c"), comment("e", "a"), comment("f")],
        [("a", 0), ("b", 1), ("c", 2), ("d", 3), ("e", 1), ("f", 0)],
    ),
    "an orphan stands at the top, in its time": (
        [comment("a"), comment("b", "gone"), comment("c", "b"), comment("d", "a"), comment("e")],
        [("a", 0), ("d", 1), ("b", 0), ("c", 1), ("e", 0)],
    ),
    "orphans of the same parent do not stand together": (
        [comment("a", "gone"), comment("b"), comment("c", "gone")],
        [("a", 0), ("b", 0), ("c", 0)],
    ),
    "time is what the list says, not the name": (
        [comment("z"), comment("y", "z"), comment("x", "z"), comment("a")],
        [("z", 0), ("y", 1), ("x", 1), ("a", 0)],
    ),
}


@pytest.mark.parametrize(("comments", "expected"), STORIES.values(), ids=STORIES)
def test_comments_are_listed_thread_by_thread(comments: list[Comment], expected: Placed) -> None:
    assert shown(in_threads(comments)) == expected


@st.composite
def conversations(draw: st.DrawFn) -> list[Comment]:
    """Comments in time order: each at the top, a reply to one before it, or a reply to one that is not there."""
    names = draw(st.lists(st.text("abcdef", min_size=1, max_size=4), unique=True, max_size=40))
    comments: list[Comment] = []
    for place, name in enumerate(names):
        before = [None, "not there", *names[:place]]
        comments.append(comment(name, draw(st.sampled_from(before))))
    return comments


def story_of(comments: list[Comment], parent: str | None, depth: int) -> Placed:
    """The comments below a comment, by recursion: the rule as one would put it on paper."""
    known = {each.id for each in comments}
    story: Placed = []
    for each in comments:
        if (each.parent_id if each.parent_id in known else None) == parent:
            story += [(each.id, depth), *story_of(comments, each.id, depth + 1)]
    return story


@given(conversations())
@settings(max_examples=300, derandomize=True, deadline=None)
def test_every_conversation_is_whole_and_in_order(comments: list[Comment]) -> None:
    placed = in_threads(comments)
    place = {each.comment.id: number for number, each in enumerate(placed)}
    depth = {each.comment.id: each.depth for each in placed}

    assert sorted(place) == sorted(each.id for each in comments)
    assert len(placed) == len(comments)
    for number, each in enumerate(comments):
        top = each.parent_id not in place
        assert depth[each.id] == (0 if top else depth[each.parent_id or ""] + 1)
        assert top or place[each.parent_id or ""] < place[each.id]
        for later in comments[number + 1 :]:
            if later.parent_id == each.parent_id or (top and later.parent_id not in place):
                assert place[each.id] < place[later.id], "those side by side stand in time order"
    assert shown(placed) == story_of(comments, None, 0)


@given(conversations())
@settings(max_examples=50, derandomize=True, deadline=None)
def test_the_comments_are_left_as_they_were(comments: list[Comment]) -> None:
    before = list(comments)

    placed = in_threads(comments)

    assert comments == before
    assert all(any(each.comment is given for given in comments) for each in placed)


def test_a_conversation_may_be_as_deep_as_it_likes() -> None:
    chain = [comment(str(number), str(number - 1) if number else None) for number in range(DEEP)]

    assert shown(in_threads(chain)) == [(str(number), number) for number in range(DEEP)]


def test_a_comment_may_have_as_many_replies_as_it_likes() -> None:
    crowd = [comment("top"), *(comment(str(number), "top") for number in range(DEEP)), comment("last")]

    placed = in_threads(crowd)

    assert shown(placed) == [("top", 0), *((str(number), 1) for number in range(DEEP)), ("last", 0)]
