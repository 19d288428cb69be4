"""Archives and feeds that imports read, as other services make them."""

import io
import json
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

PUBLIC = "https://www.w3.org/ns/activitystreams#Public"
FOLLOWERS = "https://elsewhere.example/users/ann/followers"

Json = dict[str, Any]

RSS = """<?xml version="1.0"?><rss version="2.0"><channel><title>Blog</title>
<item><title>Newer</title><link>https://blog.example/2</link><guid>b2</guid>
<description>&lt;p&gt;Second&lt;/p&gt;&lt;script&gt;x&lt;/script&gt;</description>
<pubDate>Tue, 02 Apr 2019 10:00:00 GMT</pubDate></item>
<item><title>Older</title><link>https://blog.example/1</link><guid>b1</guid><description>First</description></item>
</channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>a1</id><title>Hello</title>
<link rel="alternate" href="https://blog.example/a1"/><published>2021-05-06T00:00:00Z</published>
<content type="html">Hello world</content></entry></feed>"""


def activity(number: int, text: str, **fields: Any) -> Json:
    """A post as Mastodon's archive has it."""
    post = {
        "type": "Note",
        "content": f"<p>{text}</p>",
        "published": "2019-04-01T10:00:00Z",
        "to": [PUBLIC],
        "cc": [FOLLOWERS],
        **fields,
    }
    return {"id": f"https://elsewhere.example/{number}/activity", "type": "Create", "object": post}


def archive(path: Path, activities: Iterable[Json], files: dict[str, bytes] | None = None) -> str:
    """An archive of Mastodon, by the ending of its name; its path."""
    outbox = {"@context": "…", "type": "OrderedCollection", "totalItems": 1, "orderedItems": list(activities)}
    members = {"outbox.json": json.dumps(outbox).encode(), **(files or {})}
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
            for name, content in members.items():
                made.writestr(name, content)
    else:
        with tarfile.open(path, "w:gz") as made:
            for name, content in members.items():
                member = tarfile.TarInfo(name)
                member.size = len(content)
                made.addfile(member, io.BytesIO(content))
    return str(path)
