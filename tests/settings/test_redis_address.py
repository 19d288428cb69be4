"""Addresses of Redis: their parts, and refused ones."""

import pytest

from pressroom.errors import SettingError
from pressroom.settings import Settings
from pressroom.settings.addresses import RedisKind, parse_redis


def test_a_redis_alone() -> None:
    address = parse_redis("redis://:sesame@redis/3")
    assert (address.kind, address.shown) == (RedisKind.ALONE, "redis:6379")
    assert "sesame" not in repr(address)


def test_a_socket() -> None:
    assert parse_redis("unix://:sesame@/run/redis.sock?db=0").shown == "/run/redis.sock"


def test_sentinels() -> None:
    address = parse_redis("redis+sentinel://me:a%40b@one:1,[::1]:2,three/main/4")
    assert address.kind is RedisKind.SENTINEL
    assert address.nodes == (("one", 1), ("::1", 2), ("three", 26_379))
    assert (address.name, address.database) == ("main", 4)
    assert (address.username, address.password, address.tls) == ("me", "a@b", False)


def test_the_database_of_sentinels_is_the_first() -> None:
    assert parse_redis("redis+sentinel://one/main").database == 0


def test_a_cluster() -> None:
    address = parse_redis("rediss+cluster://:sesame@10.0.0.1:7000,10.0.0.2/")
    assert (address.kind, address.nodes) == (RedisKind.CLUSTER, (("10.0.0.1", 7_000), ("10.0.0.2", 6_379)))
    assert (address.username, address.password, address.tls) == (None, "sesame", True)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://redis", "is none of redis://…"),
        ("redis", "is none of redis://…"),
        ("redis+ring://a", "is none of redis://…"),
        ("redis://redis:port", "has no readable host and port"),
        ("redis://redis:65536", "has no readable host and port"),
        ("redis://[::1", "has no readable host and port"),
        ("redis+sentinel://a:1", "lacks the name of the primary"),
        ("redis+sentinel://a:1/", "lacks the name of the primary"),
        ("redis+sentinel://a:1/main/x", "is not redis+sentinel://"),
        ("redis+sentinel://a:1/main/0/1", "is not redis+sentinel://"),
        ("redis+cluster://a:1,b:2/0", "has a database number"),
        ("redis+cluster://a:1,,b:2", "has a host that is not HOST:PORT"),
        ("redis+cluster://", "has a host that is not HOST:PORT"),
        ("redis+cluster://a:0", "has a host that is not HOST:PORT"),
        ("redis+cluster://a:65536", "has a host that is not HOST:PORT"),
        ("redis+cluster://a b:1", "has a host that is not HOST:PORT"),
        ("redis+cluster://a:1?db=1", "takes no options"),
    ],
)
def test_malformed_values_are_refused(url: str, says: str) -> None:
    with pytest.raises(SettingError) as refused:
        Settings({"PRESSROOM_REDIS_URL": url})
    assert refused.value.message.startswith(f"PRESSROOM_REDIS_URL {says}")


@pytest.mark.parametrize(
    "url",
    [
        "redis://:sesame/1@redis",
        "redis://:sesame?1@redis",
        "redis://:sesame℀@redis",
        "redis://:31415/sesame@redis",
        "redis+sentinel://:31415/sesame@one:1/main",
        "redis+sentinel://:31415/sesame@one",
    ],
)
def test_a_password_that_is_not_encoded_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(SettingError) as refused:
        Settings({"PRESSROOM_REDIS_URL": url})
    assert "sesame" not in str(refused.value)
    assert "31415" not in str(refused.value)
