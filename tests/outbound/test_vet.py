"""URLs that are refused before anything is sent, and the refusals."""

import asyncio
import ipaddress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pressroom.outbound import Failure, OutboundClient, OutboundFailed, Policy, UrlRefused
from pressroom.outbound import client as outbound_client
from pressroom.outbound.allowed_addresses import policy_of
from pressroom.outbound.urls import read_url
from pressroom.settings import Settings
from tests.outbound import peers
from tests.outbound.peers import names, run
from tests.outbound.ssrf import NAMES, PUBLIC, PUBLIC_6, REFUSED

STRICT = Policy(allow_http=False)
PIECES = st.sampled_from(
    [
        "https://",
        "http://",
        "example.com",
        "127.0.0.1",
        "[::1]",
        "@",
        ":",
        "/",
        "\\",
        "#",
        "?",
        "%",
        ".",
        "443",
        "\u3002",
    ]
)


def refusal(url: str, policy: Policy = STRICT, known: dict[str, list[str]] | None = None) -> str | None:
    """What `vet` says against a URL; None when it is accepted."""

    async def vet() -> str | None:
        async with peers.open_client(policy, known) as it:
            try:
                await it.vet(url)
            except UrlRefused as refused:
                return refused.message
            return None

    return run(vet())


def test_a_hundred_and_more_ways_in() -> None:
    assert len({url for url, _ in REFUSED}) == len(REFUSED) >= 100


@pytest.mark.parametrize(("url", "tries"), REFUSED, ids=[tries for _, tries in REFUSED])
def test_refused_by_vet_and_by_request_even_if_the_resolver_calls_it_public(url: str, tries: str) -> None:
    asked: list[str] = []

    async def everything_is_public(host: str, port: int) -> list[str]:
        asked.append(host)
        return [PUBLIC]

    async def both() -> None:
        it = OutboundClient(STRICT, resolve=everything_is_public, tls=peers.NO_TLS)
        with pytest.raises(UrlRefused):
            await it.vet(url)
        with pytest.raises(OutboundFailed) as failed:
            await it.request("GET", url, {})
        assert failed.value.kind is Failure.REFUSED_ADDRESS
        await it.close()

    run(both())
    assert asked == []


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_refused_unless_every_address_is_public(name: str) -> None:
    said = refusal(f"https://{name}/", known=NAMES)
    assert said == "The host does not resolve, or not to public addresses alone; use a public host."


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_was_public_when_it_was_vetted_is_judged_again_when_it_is_connected_to(name: str) -> None:
    turns = iter([[PUBLIC], NAMES[name], NAMES[name]])

    async def resolve(host: str, port: int) -> list[str]:
        return next(turns)

    async def rebound() -> None:
        it = OutboundClient(STRICT, resolve=resolve, tls=peers.NO_TLS)
        await it.vet(f"https://{name}/hook")
        for method in ("POST", "GET"):
            with pytest.raises(OutboundFailed) as failed:
                await it.request(method, f"https://{name}/hook", {}, b"{}")
            assert failed.value.kind is Failure.REFUSED_ADDRESS
        await it.close()

    run(rebound())


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com",
        "HTTPS://EXAMPLE.COM/",
        "https://example.com:8443/hook?a[]=1&b=%2F/../x@y:z",
        "https://example.com?x",
        f"https://{PUBLIC}/",
        f"https://[{PUBLIC_6}]:8443/",
        "https://b\u00fccher.example/gr\u00fc\u00dfe?q=\u00e9",
        "https://xn--bcher-kva.example/",
        "https://r4---sn-4g5e6nsy.example.com/",
        "https://example.com/" + "a" * 2_028,
    ],
)
def test_accepted(url: str) -> None:
    known = {"example.com": [PUBLIC, PUBLIC_6], "xn--bcher-kva.example": [PUBLIC]}
    known["r4---sn-4g5e6nsy.example.com"] = [PUBLIC]
    assert refusal(url, known=known) is None


def test_url_is_read_as_host_and_port() -> None:
    target = read_url("HTTPS://B\u00fccher.Example:444/gr\u00fc\u00dfe%2f?q=\u00e9&a[]=1")
    assert (target.scheme, target.host, target.port) == ("https", "xn--bcher-kva.example", 444)
    assert (target.path, target.query) == ("/gr%C3%BC%C3%9Fe%2f", "q=%C3%A9&a[]=1")
    bare = read_url("https://example.com?x=1")
    assert (bare.port, bare.path, bare.query) == (443, "/", "x=1")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://inside.example/", "The host does not resolve, or not to public addresses alone; use a public host."),
        ("https://192.168.0.1/", "The host 192.168.0.1 is a private address; use a public one."),
        ("http://example.com/", "The URL starts with http://; only https:// is allowed."),
        ("https://gone.example/", "The host does not resolve, or not to public addresses alone; use a public host."),
        ("https://localhost/", "The host localhost means this machine; use a public host."),
        ("https://me:secret@example.com/", "The URL holds a user name or password; leave out everything up to the @."),
        (
            "https://[2002:a00:1::1]/",
            "The host 2002:a00:1::1 is a 6to4 form of 10.0.0.1; use a public one.",
        ),
    ],
)
def test_refusal_states_its_reason(url: str, said: str) -> None:
    assert refusal(url, known={"inside.example": ["10.0.0.7"]}) == said


def test_refusal_in_development_mode_names_the_resolved_addresses() -> None:
    policy = policy_of(Settings({"PRESSROOM_DEV": "1"}))
    said = refusal("https://inside.example/", policy, {"inside.example": ["169.254.169.254"]})
    assert said == (
        "The host resolves to 169.254.169.254, which is a metadata or link-local address; use a public one."
    )


def test_a_name_that_does_not_resolve_in_time_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbound_client, "VET_SECONDS", 0.05)

    async def never(host: str, port: int) -> list[str]:
        await asyncio.Event().wait()
        return []

    async def vet() -> None:
        it = OutboundClient(STRICT, resolve=never, tls=peers.NO_TLS)
        with pytest.raises(UrlRefused) as refused:
            await it.vet("https://slow.example/")
        assert (
            refused.value.message == "The host does not resolve, or not to public addresses alone; use a public host."
        )

    run(vet())


@given(st.one_of(st.text(), st.lists(st.one_of(PIECES, st.text(max_size=3)), max_size=8).map("".join)))
@example("https://[")
@example("https://\ud800/")
@example("https://xn--\u00e9.com/")
def test_any_url_is_accepted_or_refused(text: str) -> None:
    it = OutboundClient(STRICT, resolve=names({"example.com": [PUBLIC]}), tls=peers.NO_TLS)
    try:
        run(it.vet(text))
    except UrlRefused:
        return
    target = read_url(text)
    assert target.host == "example.com" or ipaddress.ip_address(target.host).is_global


def test_only_allowed_addresses_are_reached() -> None:
    policy = Policy(allow_http=True, allow=(ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("127.0.0.0/8")))
    known = {"in.example": ["10.1.1.1"], "out.example": ["10.1.1.1", "192.168.0.1"], "localhost": ["127.0.0.1"]}
    for url in ("http://10.0.0.1/", "http://in.example/", "https://127.0.0.1:1/", "http://localhost:8000/"):
        assert refusal(url, policy, known) is None
    for url in ("http://192.168.0.1/", "http://out.example/", "http://[::ffff:10.0.0.1]/", "http://[::1]/"):
        assert refusal(url, policy, known) is not None


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/",
        "http://100.100.100.200/",
        "http://168.63.129.16/",
        "http://[fd00:ec2::254]/",
        "http://[fe80::1]/",
        "http://metadata.google.internal/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[::ffff:169.254.169.254]/",
    ],
)
def test_metadata_is_never_allowed(url: str) -> None:
    everything = (ipaddress.ip_network("0.0.0.0/0"), ipaddress.ip_network("::/0"))
    assert refusal(url, Policy(True, everything), {"metadata.google.internal": ["10.0.0.1"]}) is not None


def test_nat64_network_can_be_allowed_and_its_embedded_address_is_judged() -> None:
    policy = Policy(False, (ipaddress.ip_network("64:ff9b::/96"),))
    assert refusal("https://[64:ff9b::808:808]/", policy) is None
    assert refusal("https://[64:ff9b::a00:1]/", policy) is not None
