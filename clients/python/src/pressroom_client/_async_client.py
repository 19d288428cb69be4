"""An asynchronous client of the API.

async with AsyncPressroom("https://press.example.org", KEY) as press:
    post = await press.create_post("Hello")
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from types import TracebackType
from typing import Any, cast

import httpx

from pressroom_client._calls import KEY_PREFIX, Call, failure_of, raise_for, segment, write
from pressroom_client._files import FileLike, parts_of
from pressroom_client._retries import Failure, pause_before_retry
from pressroom_client._stream import Parser
from pressroom_client._version import __version__
from pressroom_client.errors import ApiError, NoAnswer, ProcessingFailed
from pressroom_client.types import (
    Account,
    Clip,
    Comment,
    Deleted,
    DeletedDraft,
    Draft,
    EditDraft,
    Event,
    LocationIn,
    MediaIn,
    PollIn,
    Post,
    Visibility,
)

DEADLINE = 90.0
"""Seconds that a call may take with all its tries: more than the minute after which a rate limit lets one through."""

LOOK_PAUSE = 0.5


class AsyncPressroom:
    """An asynchronous client of one account.

    A call that gets no answer, a 408, a 5xx or a rate limit's 429 is tried again until its deadline. Every write has
    one Idempotency-Key for all of its tries, so it happens once. Answers are dictionaries with the names of the API
    reference; fields that this version does not know are in them as well.

    Args:
        base_url: The address of the server.
        api_key: The key, `svc_live_…`.
        deadline: Seconds for a call with all its tries.
        timeout: Seconds for one try without progress.
        transport: Another transport of httpx, such as one for a proxy.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        deadline: float = DEADLINE,
        timeout: float = 30.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self.deadline = deadline
        self._key_prefix = api_key[:KEY_PREFIX]
        self._http = httpx.AsyncClient(
            base_url=self.base_url,
            headers={"Authorization": f"Bearer {api_key}", "User-Agent": f"pressroom-client-python/{__version__}"},
            timeout=timeout,
            transport=transport,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_url!r}, {self._key_prefix}…)"

    async def __aenter__(self) -> AsyncPressroom:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def me(self) -> Account:
        """Returns the account of the key."""
        return cast("Account", await self._send(Call("GET", "/api/auth/me")))

    async def create_post(
        self,
        content: str,
        *,
        visibility: Visibility | None = None,
        hub_id: str | None = None,
        location: LocationIn | None = None,
        poll: PollIn | None = None,
        link_preview_url: str | None = None,
        idempotency_key: str | None = None,
    ) -> Post:
        """Publishes a post."""
        body = {
            "content": content,
            "visibility": visibility,
            "hubId": hub_id,
            "location": location,
            "poll": poll,
            "linkPreviewUrl": link_preview_url,
        }
        return cast("Post", await self._send(write("POST", "/api/posts", idempotency_key, json=body)))

    async def upload_post(
        self,
        media: Iterable[FileLike],
        content: str | None = None,
        *,
        visibility: Visibility | None = None,
        hub_id: str | None = None,
        location: LocationIn | None = None,
        idempotency_key: str | None = None,
    ) -> Post:
        """Publishes a post with up to 4 pictures or videos. They are PROCESSING at first: see `wait_until_ready`."""
        files, alt_texts = parts_of("media", media)
        form = {
            "content": content,
            "visibility": visibility,
            "hubId": hub_id,
            "location": location,
            "altText": alt_texts if any(alt_texts) else None,
        }
        call = write("POST", "/api/posts/upload", idempotency_key, form=form, files=files)
        return cast("Post", await self._send(call))

    async def get_post(self, post_id: str) -> Post:
        """Returns a post of the account, or one that anyone may see."""
        return cast("Post", await self._send(Call("GET", f"/api/posts/{segment(post_id)}")))

    async def edit_post(
        self,
        post_id: str,
        *,
        content: str | None = None,
        visibility: Visibility | None = None,
        idempotency_key: str | None = None,
    ) -> Post:
        """Changes the text or the audience of a post."""
        body = {"content": content, "visibility": visibility}
        return cast(
            "Post", await self._send(write("PATCH", f"/api/posts/{segment(post_id)}", idempotency_key, json=body))
        )

    async def delete_post(self, post_id: str, *, idempotency_key: str | None = None) -> Deleted:
        """Deletes a post."""
        return cast("Deleted", await self._send(write("DELETE", f"/api/posts/{segment(post_id)}", idempotency_key)))

    async def bounce(self, post_id: str, content: str | None = None, *, idempotency_key: str | None = None) -> Post:
        """Shares a PUBLIC post; with `content` it is quoted."""
        call = write("POST", f"/api/posts/{segment(post_id)}/bounce", idempotency_key, json={"content": content})
        return cast("Post", await self._send(call))

    async def comment(
        self,
        post_id: str,
        content: str | None = None,
        *,
        parent_id: str | None = None,
        media: MediaIn | None = None,
        idempotency_key: str | None = None,
    ) -> Comment:
        """Comments on a post, or replies to the comment `parent_id`."""
        body = {"content": content, "parentId": parent_id, "media": media}
        call = write("POST", f"/api/posts/{segment(post_id)}/comments", idempotency_key, json=body)
        return cast("Comment", await self._send(call))

    async def comments(self, post_id: str) -> AsyncIterator[Comment]:
        """Iterates over the comments of a post, oldest first."""
        cursor: str | None = ""
        while cursor is not None:
            query = {"limit": "100", **({"cursor": cursor} if cursor else {})}
            page = await self._send(Call("GET", f"/api/posts/{segment(post_id)}/comments", query=query))
            for comment in page["comments"]:
                yield comment
            cursor = page["nextCursor"]

    async def publish_clip(
        self,
        video: FileLike,
        caption: str | None = None,
        *,
        visibility: Visibility | None = None,
        hub_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> Clip:
        """Publishes a clip. It is PROCESSING at first: see `wait_until_ready`."""
        files, _ = parts_of("video", [video])
        form = {"caption": caption, "visibility": visibility, "hubId": hub_id}
        return cast("Clip", await self._send(write("POST", "/api/clips", idempotency_key, form=form, files=files)))

    async def get_clip(self, clip_id: str) -> Clip:
        """Returns a clip of the account, or one that anyone may see."""
        return cast("Clip", await self._send(Call("GET", f"/api/clips/{segment(clip_id)}")))

    async def create_draft(
        self,
        content: str | None = None,
        *,
        visibility: Visibility | None = None,
        hub_id: str | None = None,
        location: LocationIn | None = None,
        poll: PollIn | None = None,
        link_preview_url: str | None = None,
        publish_at: str | None = None,
        needs_approval: bool | None = None,
        idempotency_key: str | None = None,
    ) -> Draft:
        """Stores a draft. With `publish_at` (ISO 8601) it is scheduled; with `needs_approval` a person publishes it."""
        body = {
            "content": content,
            "visibility": visibility,
            "hubId": hub_id,
            "location": location,
            "poll": poll,
            "linkPreviewUrl": link_preview_url,
            "publishAt": publish_at,
            "needsApproval": needs_approval,
        }
        return cast("Draft", await self._send(write("POST", "/api/drafts", idempotency_key, json=body)))

    async def drafts(self) -> AsyncIterator[Draft]:
        """Iterates over the drafts that this key made, newest first."""
        cursor: str | None = ""
        while cursor is not None:
            query = {"limit": "100", **({"cursor": cursor} if cursor else {})}
            page = await self._send(Call("GET", "/api/drafts", query=query))
            for draft in page["drafts"]:
                yield draft
            cursor = page["nextCursor"]

    async def get_draft(self, draft_id: str) -> Draft:
        """Returns a draft that this key made."""
        return cast("Draft", await self._send(Call("GET", f"/api/drafts/{segment(draft_id)}")))

    async def edit_draft(self, draft_id: str, changes: EditDraft, *, idempotency_key: str | None = None) -> Draft:
        """Changes a draft from the version that `changes` names; None clears a field.

        Raises Conflict when the draft was changed meanwhile; `body["draft"]` is the present one.
        """
        call = write("PATCH", f"/api/drafts/{segment(draft_id)}", idempotency_key)
        return cast("Draft", await self._send(replace(call, json=dict(changes))))

    async def add_draft_media(
        self, draft_id: str, media: Iterable[FileLike], *, idempotency_key: str | None = None
    ) -> Draft:
        """Adds files to a draft."""
        files, alt_texts = parts_of("media", media)
        form = {"altText": alt_texts if any(alt_texts) else None}
        path = f"/api/drafts/{segment(draft_id)}/media"
        return cast("Draft", await self._send(write("POST", path, idempotency_key, form=form, files=files)))

    async def publish_draft(
        self, draft_id: str, *, version: int | None = None, idempotency_key: str | None = None
    ) -> Draft:
        """Publishes a draft; `postId` of the answer is its post. It also needs the scope `posts:write`."""
        call = write("POST", f"/api/drafts/{segment(draft_id)}/publish", idempotency_key, json={"version": version})
        return cast("Draft", await self._send(call))

    async def delete_draft(self, draft_id: str, *, idempotency_key: str | None = None) -> DeletedDraft:
        """Deletes a draft with its files."""
        call = write("DELETE", f"/api/drafts/{segment(draft_id)}", idempotency_key)
        return cast("DeletedDraft", await self._send(call))

    async def wait_until_ready(self, post_id: str, *, within: float = 300.0) -> Post:
        """Returns a post once its files are READY. Raises ProcessingFailed, and NoAnswer after `within` seconds."""
        until = time.monotonic() + within
        while True:
            post = await self.get_post(post_id)
            states = {entry["processingStatus"] for entry in post["media"] or []}
            if "FAILED" in states:
                raise ProcessingFailed(f"A file of post {post_id} cannot be decoded.")
            if "PROCESSING" not in states:
                return post
            if time.monotonic() > until:
                raise NoAnswer(f"The files of post {post_id} were not processed within {within:g} s.")
            await asyncio.sleep(LOOK_PAUSE)

    async def events(self, after: str | None = None) -> AsyncIterator[tuple[str, Event]]:
        """Iterates over the account's events as they happen, each with its cursor; resumes lost connections.

        Store a cursor when its event is handled, and pass it as `after` at the next start. Without `after` the
        iteration begins now. It ends with the event `apikey.revoked` of its own key.

        Raises CursorExpired when events after the cursor are no longer kept.
        """
        cursor = after
        if cursor is None:
            # Named before the first connection, so that a connection lost without an event loses none.
            cursor = cast("str", (await self._send(Call("GET", "/api/events", query={"wait": "0"})))["cursor"])
        tries = 0
        while True:
            tries += 1
            failure = Failure()
            try:
                async for seen, event in self._stream(cursor):
                    tries, cursor = 0, seen
                    yield cursor, event
                    if event["event"] == "apikey.revoked":
                        return
            except httpx.TransportError:
                pass  # The next connection resumes after the last cursor.
            except ApiError as error:
                failure = Failure(error.status, error.label, error.retry_after)
                if pause_before_retry(failure, 1, self.deadline, 0.0) is None:
                    raise
            pause = pause_before_retry(failure, max(tries, 1), self.deadline, random.random())  # noqa: S311  # spreads load
            await asyncio.sleep(pause or LOOK_PAUSE)

    async def _stream(self, after: str) -> AsyncIterator[tuple[str, Event]]:
        headers = {"Accept": "text/event-stream"}
        async with self._http.stream("GET", "/api/events", params={"after": after}, headers=headers) as response:
            if response.status_code != 200:
                await response.aread()
                raise_for(response)
            parser = Parser()
            async for line in response.aiter_lines():
                if (block := parser.feed(line)) is not None:
                    yield block[0] or after, cast("Event", json.loads(block[1]))

    async def _send(self, call: Call) -> Any:  # the caller states the type of the answer
        """Sends a call until it is answered or its deadline is over."""
        until = time.monotonic() + self.deadline
        tries = 0
        while True:
            tries += 1
            response: httpx.Response | None = None
            try:
                response = await self._http.request(
                    call.method, call.path, json=call.json, params=call.query, data=call.form, files=call.files,
                    headers=call.headers,
                )  # fmt: skip
            except httpx.TransportError as error:
                failure, reason = Failure(), str(error) or type(error).__name__
            else:
                if response.is_success:
                    return response.json()
                failure, reason = failure_of(response), ""
            pause = pause_before_retry(failure, tries, until - time.monotonic(), random.random())  # noqa: S311  # spreads load
            if pause is None:
                if response is not None:
                    raise_for(response)
                raise NoAnswer(
                    f"{call.method} {call.path} got no answer in {tries} tries: {reason}", call.idempotency_key
                ) from None
            await asyncio.sleep(pause)
