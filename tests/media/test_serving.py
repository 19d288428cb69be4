"""Media over HTTP: whole, in part, to be kept for good, and never as a sender named it."""

import itertools
import re

import pytest

from tests.api.actors import Actor, nobody
from tests.api.conftest import one_engine
from tests.api.sockets import exchange
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.media.uploads import (
    fetch,
    file,
    image,
    kept,
    media_of,
    opened,
    path_of,
    ready,
    uploaded,
    video_bytes,
)

SETTINGS = ROOMY

PICTURE = (300, 200)


@pytest.fixture(scope="module")
def served(server: LocalServer) -> tuple[str, bytes, str]:
    """A picture that is READY: its path, what it answers, its entity tag."""
    post = ready(Actor(server), file(image("PNG", PICTURE), "image/png"))
    answer = nobody.get(media_of(post)["url"])
    assert answer.status_code == 200
    return path_of(media_of(post)["url"]), answer.content, answer.headers["etag"]


def test_nothing_is_served_before_it_is_ready(alice: Actor) -> None:
    post = uploaded(alice, file(image(size=PICTURE)))
    path = path_of(media_of(post)["url"])
    paths = [path, f"{path}/thumbnail", f"{path}/medium", f"{path}/poster"]

    early = [fetch(alice.server, each) for each in paths]
    alice.server.do_jobs()
    late = [fetch(alice.server, each) for each in paths]

    assert [answer.status_code for answer in early] == [404] * 4
    assert [answer.status_code for answer in late] == [200] * 4
    assert not any("max-age" in answer.headers.get("cache-control", "") for answer in early)


def test_failed_media_are_never_served(alice: Actor) -> None:
    post = ready(alice, file(b"\xff\xd8\xff\xe0 no picture"))
    entry = media_of(post)

    assert entry["processingStatus"] == "FAILED"
    assert (entry["width"], entry["height"], entry["sizeBytes"]) == (None, None, None)
    for suffix in ("", "/thumbnail", "/medium", "/poster"):
        assert fetch(alice.server, path_of(entry["url"]) + suffix).status_code == 404


@one_engine
def test_every_header_of_a_picture(server: LocalServer, served: tuple[str, bytes, str]) -> None:
    path, content, etag = served

    headers = fetch(server, path).headers

    assert headers["content-type"] == "image/webp"
    assert headers["content-length"] == str(len(content))
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert headers["cache-control"] == "private, max-age=31536000, immutable"
    assert headers["accept-ranges"] == "bytes"
    assert re.fullmatch('"[!#-~]+"', etag)
    assert not {"content-disposition", "set-cookie", "content-encoding", "location"} & set(headers)
    assert opened(content).size == PICTURE
    assert opened(content).format == "WEBP"


@one_engine
def test_a_name_and_a_type_of_the_senders_are_nowhere(server: LocalServer, alice: Actor) -> None:
    post = ready(alice, file(image("PNG"), 'image/png; name="evil.html"', "evil.html"))

    answer = fetch(server, path_of(media_of(post)["url"]))

    assert "evil" not in str(answer.headers)
    assert "evil" not in str(post)
    assert "evil" not in str(kept(server)[1])
    assert "evil" not in alice.web.get(f"/post/{post['id']}").text


@one_engine
def test_thumbnails_and_posters(server: LocalServer, alice: Actor, tmp_path_factory: pytest.TempPathFactory) -> None:
    clip = file(video_bytes(tmp_path_factory.mktemp("video")), "video/mp4", "a.mp4")
    post = ready(alice, file(image("PNG", (1600, 800)), "image/png"), clip)
    picture, video = post["media"]

    assert picture["thumbnailUrl"] == f"{picture['url']}/thumbnail"
    assert opened(nobody.get(picture["thumbnailUrl"]).content).size == (640, 320)
    assert opened(nobody.get(f"{picture['url']}/poster").content).size == (1600, 800)
    assert (video["type"], video["mimeType"], video["width"], video["height"]) == ("video", "video/mp4", 64, 48)
    assert 0.1 < video["duration"] < 0.5
    main = nobody.get(video["url"])
    assert (main.headers["content-type"], main.content[4:8]) == ("video/mp4", b"ftyp")
    for address in (video["thumbnailUrl"], f"{video['url']}/poster"):
        poster = nobody.get(address)
        assert (poster.headers["content-type"], opened(poster.content).size) == ("image/webp", (64, 48))


RANGES = {
    "bytes=0-0": (0, 1),
    "bytes=0-99": (0, 100),
    "bytes=10-": (10, None),
    "bytes=-7": (-7, None),
    "bytes=-999999": (0, None),
    "bytes=0-999999": (0, None),
    "bytes=5-999999999999999999": (5, None),
}


@one_engine
@pytest.mark.parametrize("wanted", RANGES)
def test_parts(server: LocalServer, served: tuple[str, bytes, str], wanted: str) -> None:
    path, content, etag = served
    start, end, _ = slice(*RANGES[wanted]).indices(len(content))

    answer = fetch(server, path, Range=wanted)

    assert (answer.status_code, answer.content) == (206, content[start:end])
    assert answer.headers["content-range"] == f"bytes {start}-{end - 1}/{len(content)}"
    assert answer.headers["content-length"] == str(end - start)
    assert (answer.headers["content-type"], answer.headers["etag"]) == ("image/webp", etag)


@one_engine
def test_the_last_byte_alone_and_all_parts_together(server: LocalServer, served: tuple[str, bytes, str]) -> None:
    path, content, _ = served
    size = len(content)
    bounds = [*range(0, size, 100), size]

    parts = [fetch(server, path, Range=f"bytes={a}-{b - 1}") for a, b in itertools.pairwise(bounds)]

    assert b"".join(part.content for part in parts) == content
    assert fetch(server, path, Range=f"bytes={size - 1}-").content == content[-1:]


@one_engine
@pytest.mark.parametrize("wanted", ["bytes={size}-", "bytes={size}-{size}", "bytes=-0", "bytes=999999999-9999999999"])
def test_parts_that_are_not_there(server: LocalServer, served: tuple[str, bytes, str], wanted: str) -> None:
    path, content, _ = served

    answer = fetch(server, path, Range=wanted.format(size=len(content)))

    assert (answer.status_code, answer.content) == (416, b"")
    assert answer.headers["content-range"] == f"bytes */{len(content)}"


@one_engine
def test_a_refusal_of_a_part_is_not_kept(server: LocalServer, served: tuple[str, bytes, str]) -> None:
    answer = fetch(server, served[0], Range="bytes=999999999-")

    assert answer.status_code == 416
    assert "max-age" not in answer.headers.get("cache-control", "")


@one_engine
@pytest.mark.parametrize(
    "wanted",
    [
        *("bytes=0-1,4-5", "bytes=5-3", "bytes=", "bytes=-", "bytes=a-b", "bytes=1", "lines=0-1", "0-1", "bytes=--1"),
        *("bytes=0-1;", "bytes=" + "0-1," * 500, f"bytes={'9' * 40}-", "bytes=0x0-0x1", "bytes=+1-2"),
    ],
)
def test_multiple_ranges_get_the_whole_file(server: LocalServer, served: tuple[str, bytes, str], wanted: str) -> None:
    answer = fetch(server, served[0], Range=wanted)

    assert (answer.status_code, answer.content) == (200, served[1])


@one_engine
def test_if_range(server: LocalServer, served: tuple[str, bytes, str]) -> None:
    path, content, etag = served

    same = fetch(server, path, Range="bytes=0-1", If_Range=etag)
    others = ['"another"', f"W/{etag}", "Sat, 21 Nov 2026 18:00:00 GMT", etag.strip('"'), "nonsense", '""']

    assert (same.status_code, same.content) == (206, content[:2])
    for other in others:
        answer = fetch(server, path, Range="bytes=0-1", If_Range=other)
        assert (answer.status_code, answer.content) == (200, content), other
    assert fetch(server, path, Range="bytes=999999-", If_Range='"another"').status_code == 200


@one_engine
@pytest.mark.parametrize("tags", ["{}", "W/{}", '"a", {}', '{}, "b"', '"a",W/{},"b"', "*", '{}  ,  "x"'])
def test_client_with_the_current_version_gets_304(
    server: LocalServer, served: tuple[str, bytes, str], tags: str
) -> None:
    path, _, etag = served

    answer = fetch(server, path, If_None_Match=tags.format(etag))

    assert (answer.status_code, answer.content) == (304, b"")
    assert answer.headers["etag"] == etag
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert fetch(server, path, If_None_Match=tags.format(etag), Range="bytes=0-1").status_code == 304


@one_engine
@pytest.mark.parametrize("tags", ['"another"', "", '""', "nonsense", '"a", "b"'])
def test_a_client_that_has_something_else_is_sent_it(
    server: LocalServer, served: tuple[str, bytes, str], tags: str
) -> None:
    assert fetch(server, served[0], If_None_Match=tags).status_code == 200


@one_engine
def test_head_has_the_same_headers_without_the_bytes(server: LocalServer, served: tuple[str, bytes, str]) -> None:
    path, content, etag = served
    for status, headers in ((200, {}), (304, {"If_None_Match": etag})):
        whole, head = fetch(server, path, **headers), fetch(server, path, "HEAD", **headers)
        assert (head.status_code, head.content) == (status, b"")
        unlike = {"date", "x-request-id", *(["content-length"] if status == 304 else [])}
        assert {name: value for name, value in head.headers.items() if name not in unlike} == {
            name: value for name, value in whole.headers.items() if name not in unlike
        }
    for headers in ({}, {"Range": "bytes=0-9"}):
        head = fetch(server, path, "HEAD", **headers)
        assert (head.status_code, head.headers["content-length"]) == (200, str(len(content))), "GET alone has ranges"


@one_engine
def test_head_does_not_call_a_picture_empty(server: LocalServer, served: tuple[str, bytes, str]) -> None:
    path, content, etag = served

    answer = fetch(server, path, "HEAD", If_None_Match=etag)

    assert answer.status_code == 304
    assert answer.headers.get("content-length") in (None, str(len(content)))


@one_engine
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_other_methods_are_refused(server: LocalServer, served: tuple[str, bytes, str], method: str) -> None:
    assert fetch(server, served[0], method).status_code == 405


GARBAGE = [
    "x",
    "A" * 32,
    "a" * 5_000,
    "%00",
    "a%00b",
    "%ff",
    "%ed%a0%80",
    "%F0%9F%92%A9",
    "%2e%2e%2fpressroom.db",
    "..%2f..",
    "'%20OR%201=1--",
    "signed.",
    "signed...",
    "signed.a.b.c",
    "signed.a.1.",
    "signed.01MCC5RM00GTB6AJJZRV0JPJ41.9999999999999.00000000000000000000000000000000",
    "signed.01MCC5RM00GTB6AJJZRV0JPJ41.999999999999999999999999.0",
    "signed.%00.1.a",
    "signed.a.%d9%a3.%ff",
    "signed.%ff.9999999999999.%ff",
    "signed." + "1." * 500,
]


@pytest.mark.parametrize("token", GARBAGE)
@pytest.mark.parametrize("suffix", ["", "/thumbnail", "/medium", "/poster"])
def test_addresses_that_are_none(server: LocalServer, token: str, suffix: str) -> None:
    assert exchange(server, "GET", f"/media/{token}{suffix}").status == 404


@one_engine
@pytest.mark.parametrize("token", [*GARBAGE, "0" * 32, "0" * 31 + "g", "../" * 3])
def test_cards_that_are_none(server: LocalServer, token: str) -> None:
    assert exchange(server, "GET", f"/cards/{token}").status == 404


@one_engine
@pytest.mark.parametrize("suffix", ["/", "/large.webp", "/source", "/upload", "/thumbnail/", "/Thumbnail", "/main"])
def test_nothing_else_is_below_an_address(server: LocalServer, served: tuple[str, bytes, str], suffix: str) -> None:
    assert fetch(server, served[0] + suffix).status_code == 404


@one_engine
def test_addresses_cannot_be_guessed(alice: Actor) -> None:
    entries = [entry for _ in range(5) for entry in uploaded(alice, *[file()] * 4)["media"]]
    tokens = [entry["url"].rpartition("/")[2] for entry in entries]

    assert len(set(tokens)) == 20
    assert all(re.fullmatch("[0-9A-Za-z]{32}", token) for token in tokens)
    assert not any(entry["id"].lower() in token.lower() for entry, token in zip(entries, tokens, strict=True))
    for at in range(29):  # the last three are the account's place
        assert len({token[at] for token in tokens}) > 3
