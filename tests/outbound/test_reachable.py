"""The addresses that the settings allow."""

import pytest

from pressroom.errors import SettingError
from pressroom.outbound import policy_of
from pressroom.settings import Settings


def objections(variables: dict[str, str], *addresses: str) -> list[bool]:
    policy = policy_of(Settings(variables))
    return [policy.objection(address) is not None for address in addresses]


def test_nothing_private_by_default() -> None:
    assert policy_of(Settings({})).allow_http is False
    assert objections({}, "8.8.8.8", "10.0.0.1", "127.0.0.1", "::1", "169.254.169.254") == [False, *[True] * 4]


def test_development_mode_allows_http_and_private_networks_but_not_metadata() -> None:
    dev = {"PRESSROOM_DEV": "1"}
    assert policy_of(Settings(dev)).allow_http is True
    assert not any(objections(dev, "127.0.0.1", "::1", "10.0.0.1", "172.16.0.1", "192.168.0.1", "fd12::1", "8.8.8.8"))
    assert all(objections(dev, "169.254.169.254", "fe80::1", "fd00:ec2::254", "100.64.0.1", "0.0.0.0", "::ffff:7f00:1"))


def test_named_networks_are_allowed_in_any_mode_and_still_by_https_alone() -> None:
    allow = {"PRESSROOM_OUTBOUND_ALLOW": "10.20.0.0/16"}
    assert policy_of(Settings(allow)).allow_http is False
    assert objections(allow, "10.20.0.1", "10.21.0.1") == [False, True]
    assert objections({**allow, "PRESSROOM_DEV": "1"}, "10.20.0.1", "10.21.0.1") == [False, False]


@pytest.mark.parametrize(
    "base", ["https://press.example", "http://pressroom:8000", "https://8.8.8.8", "https://[2606:4700::1111]:8443"]
)
def test_a_server_on_the_internet_opens_private_networks_only_when_forced(base: str) -> None:
    variables = {"PRESSROOM_BASE_URL": base, "PRESSROOM_OUTBOUND_ALLOW": "10.0.0.0/8"}
    with pytest.raises(SettingError) as refused:
        policy_of(Settings(variables))
    for name in ("PRESSROOM_OUTBOUND_ALLOW", "PRESSROOM_BASE_URL", "PRESSROOM_OUTBOUND_ALLOW_FORCE=1"):
        assert name in refused.value.message
    assert objections({**variables, "PRESSROOM_OUTBOUND_ALLOW_FORCE": "1"}, "10.0.0.1") == [False]
    assert policy_of(Settings({"PRESSROOM_BASE_URL": base})).allow == ()


@pytest.mark.parametrize(
    "base", ["http://localhost:8000", "http://127.0.0.1", "http://192.168.1.5", "http://[::1]:8000", "http://0.0.0.0:1"]
)
def test_a_server_at_home_opens_them_freely(base: str) -> None:
    assert objections({"PRESSROOM_BASE_URL": base, "PRESSROOM_OUTBOUND_ALLOW": "10.0.0.0/8"}, "10.0.0.1") == [False]


@pytest.mark.parametrize(
    "base",
    [
        "https://press.example",
        "http://pressroom:8000",
        "http://printer.local",
        "http://8.8.8.8",
        "http://100.64.0.1",
        "http://169.254.1.1",
        "http://0.0.0.0:8000",
        "http://[::]:8000",
        "http://[2606:4700::1111]",
        "http://[::ffff:127.0.0.1]",
        "http://localhost.press.example",
        "http://127.0.0.1.press.example",
        "http://127.1",
        "http://2130706433",
    ],
)
def test_development_mode_is_for_addresses_that_no_stranger_can_reach(base: str) -> None:
    with pytest.raises(SettingError) as refused:
        policy_of(Settings({"PRESSROOM_BASE_URL": base, "PRESSROOM_DEV": "1"}))
    for part in ("PRESSROOM_DEV=1", "PRESSROOM_BASE_URL", base):
        assert part in refused.value.message
    assert policy_of(Settings({"PRESSROOM_BASE_URL": base})).allow_http is False


@pytest.mark.parametrize(
    "base",
    [
        "http://localhost:8000",
        "https://LOCALHOST",
        "http://press.localhost",
        "http://127.0.0.53",
        "http://10.1.2.3",
        "http://172.31.0.1",
        "http://192.168.1.5:8000",
        "http://[::1]:8000",
        "http://[fd12::1]",
    ],
)
def test_development_mode_at_home(base: str) -> None:
    assert policy_of(Settings({"PRESSROOM_BASE_URL": base, "PRESSROOM_DEV": "1"})).allow_http is True
