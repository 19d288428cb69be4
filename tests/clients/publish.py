"""A program over the package that openapi-python-client makes of the document, which it imports as `generated`.

python publish.py BASE_URL KEY PICTURE_IN_BASE64 prints its results as one line of JSON.
"""

# its output is read by the test
# pyright: reportMissingImports=false
import base64
import io
import json
import sys
import time
from typing import Any

from generated import AuthenticatedClient, models
from generated.api.comments import create_comment, list_comments
from generated.api.posts import create_post, edit_post, show_post, upload_post
from generated.types import File

PROCESSING_SECONDS = 60.0


def main(base_url: str, key: str, picture: str) -> dict[str, Any]:
    """Publishes, edits, uploads, polls, comments and meets errors; what came of it."""
    api = AuthenticatedClient(base_url, key, raise_on_unexpected_status=True)
    made = create_post.sync_detailed(
        client=api, body=models.CreatePost("By a generated client"), idempotency_key="from-python"
    )
    again = create_post.sync_detailed(client=api, body=models.CreatePost("Another body"), idempotency_key="from-python")
    post = made.parsed
    edited = edit_post.sync(post.id, client=api, body=models.EditPost(content="Edited"))
    uploaded = upload_post.sync(
        client=api,
        body=models.UploadPostBody(
            media=[File(io.BytesIO(base64.b64decode(picture)), "proof.png", "image/png")],
            content="A picture",
            alt_text=["A proof"],
            location=models.LocationIn("Köln", 50.9),
        ),
    )
    ready = until_ready(api, uploaded.id)
    comment = create_comment.sync(post.id, client=api, body=models.CreateComment(content="Well said"))
    listed = list_comments.sync(post.id, client=api)
    bad = create_post.sync(client=api, body=models.CreatePost(" ", location=models.LocationIn("Nowhere", 91)))
    absent = show_post.sync_detailed("none", client=api)
    return {
        "status": made.status_code,
        "place": made.headers["Location"],
        "replayed": again.headers["Idempotent-Replayed"],
        "differs": again.headers["Idempotent-Body-Differs"],
        "same": again.parsed.id == post.id,
        "edited": edited.content,
        "before": [file.processing_status for file in uploaded.media],
        "after": [[file.processing_status, file.alt_text] for file in ready.media],
        "location": ready.location.name,
        "comments": [[each.id == comment.id, each.content] for each in listed.comments],
        "faults": [[fault.field, fault.code] for fault in bad.details],
        "label": bad.error,
        "absent": [absent.status_code, absent.parsed.error],
    }


def until_ready(api: AuthenticatedClient, post_id: str) -> models.Post:
    """The post, once its files are processed. Raises TimeoutError when that takes too long."""
    deadline = time.monotonic() + PROCESSING_SECONDS
    while time.monotonic() < deadline:
        post = show_post.sync(post_id, client=api)
        if all(file.processing_status != models.ProcessingStatus.PROCESSING for file in post.media):
            return post
        time.sleep(0.05)
    raise TimeoutError(f"The files of {post_id} are not processed after {PROCESSING_SECONDS:g} s.")


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
