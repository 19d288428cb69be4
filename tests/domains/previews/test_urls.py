"""One spelling for each address, and which addresses there are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressroom.domains.previews.urls import absolute, normalised
from pressroom.outbound import UrlRefused
from pressroom.outbound.urls import read_url

SPELLINGS = {
    "HTTPS://Paper.Example": "https://paper.example/",
    "https://paper.example:443/A#part": "https://paper.example/A",
    "http://paper.example:80?": "http://paper.example/",
    "http://paper.example:8080?q=1#": "http://paper.example:8080/?q=1",
    "https://paper.example:80/": "https://paper.example:80/",
    "https://BÜCHER.example/ä": "https://xn--bcher-kva.example/%C3%A4",
    "https://paper.example/a|b c%zz?x=%20{}": "https://paper.example/a%7Cb%20c%25zz?x=%20%7B%7D",
    "https://[2001:DB8::1]:443/": "https://[2001:db8::1]/",
    "https://paper.example/a/../b": "https://paper.example/a/../b",
}


@pytest.mark.parametrize(("url", "spelling"), SPELLINGS.items())
def test_one_spelling(url: str, spelling: str) -> None:
    assert normalised(url) == spelling
    assert normalised(spelling) == spelling


@pytest.mark.parametrize(
    "url",
    [
        "",
        "paper.example",
        "/a",
        "ftp://x.example/",
        "https://",
        "https://a@b.example/",
        "http://[::1",
        "https://a.example:0/",
        "https://a.example/" + "x" * 2_048,
        "https://a.example/" + "ä" * 400,
    ],
)
def test_invalid_address_is_refused(url: str) -> None:
    with pytest.raises(UrlRefused):
        normalised(url)


@given(st.text(), st.sampled_from(("", "https://paper.example/a/b?c", "http://127.0.0.1:1/")))
def test_joined_url_can_be_requested(reference: str, base: str) -> None:
    for each in (reference, f"https://{reference}", f"//x.example/{reference}"):
        found = absolute(base, each)
        assert found is None or (read_url(found) and normalised(found) == found)
