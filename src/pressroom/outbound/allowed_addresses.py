"""The addresses that may be reached: pure rules and their settings (docs/operations.md#outbound-requests)."""

import ipaddress
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from pressroom.errors import SettingError
from pressroom.outbound.ip_ranges import NEVER, IpAddress, embedded, is_public, not_public, parse_address
from pressroom.outbound.response import Failure, OutboundFailed, UrlRefused
from pressroom.outbound.urls import Target, read_url
from pressroom.settings import Settings
from pressroom.settings.values import Networks

DEVELOPMENT: Final[Networks] = tuple(
    ipaddress.ip_network(network)
    for network in ("127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
)
"""Networks that development mode may reach besides public addresses."""

NOT_PUBLIC: Final = "The host does not resolve, or not to public addresses alone; use a public host."
"""The refusal of a host for any result of its look-up: it reveals nothing of an internal network."""

_THIS_MACHINE: Final = frozenset(
    {
        "localhost",
        "localhost.localdomain",
        "localhost4",
        "localhost4.localdomain4",
        "localhost6",
        "localhost6.localdomain6",
        "ip6-localhost",
        "ip6-loopback",
        "loopback",
        "broadcasthost",
    }
)
_METADATA: Final = frozenset(
    {
        "metadata",
        "metadata.google.internal",
        "metadata.goog",
        "metadata.azure.internal",
        "metadata.azure.com",
        "metadata.tencentyun.com",
        "instance-data",
        "instance-data.ec2.internal",
    }
)


@dataclass(frozen=True, slots=True)
class Policy:
    """The addresses that may be reached: public ones by https, and more.

    allow_http: plain http as well. allow: networks that may be reached although they are not public. names_addresses:
    refusals tell whether a host resolves, and to what. On a public server anybody could learn the names and addresses
    of an internal network from that, so all such hosts have one refusal there (docs/webhooks.md#add-an-endpoint).
    """

    allow_http: bool
    allow: Networks = ()
    names_addresses: bool = False

    def read(self, url: str) -> Target:
        """Reads a URL and checks all that can be checked without a look-up. Raises UrlRefused."""
        target = read_url(url)
        if target.scheme == "http" and not self.allow_http:
            raise UrlRefused("The URL starts with http://; only https:// is allowed.")
        if target.address is not None:
            if why := self._objection(target.address):
                raise UrlRefused(f"The host {target.host} is {why}; use a public one.")
        elif _is_metadata(target.host):
            raise UrlRefused(f"The host {target.host} is a cloud's metadata service; use a public host.")
        elif _is_this_machine(target.host) and not self._loopback():
            raise UrlRefused(f"The host {target.host} means this machine; use a public host.")
        return target

    def objection(self, address: str) -> str | None:
        """Returns why an address may not be reached, to follow "which is": "a private address"; None when it may be."""
        parsed = parse_address(address)
        return "not a plain address" if parsed is None else self._objection(parsed)

    def refused(self, address: str, why: str) -> OutboundFailed:
        """Returns the refusal of a host for one of its addresses; `why` is the objection to that."""
        cause = f"The host resolves to {address}, which is {why}; use a public one."
        return OutboundFailed(Failure.REFUSED_ADDRESS, self._shown(cause), cause)

    def unresolved(self, host: str, seconds: float | None = None) -> OutboundFailed:
        """Returns the refusal of a host without an address, or without one after so many `seconds`."""
        within = "does not resolve" if seconds is None else f"did not resolve within {seconds:g} seconds"
        cause = f"The name {host} {within}."
        return OutboundFailed(Failure.NAME, self._shown(cause), cause)

    def _shown(self, cause: str) -> str:
        return cause if self.names_addresses else NOT_PUBLIC

    def _objection(self, address: IpAddress) -> str | None:
        # Before everything else: no setting opens these, for they hand out a cloud machine's credentials.
        if any(address in network for network in NEVER):
            return "a metadata or link-local address"
        if is_public(address):
            return None
        if not any(address in network for network in self.allow):
            return not_public(address)
        # An allowed IPv6 network may carry IPv4 addresses (NAT64, 6to4). Those must be allowed by themselves, or be
        # public.
        if isinstance(address, ipaddress.IPv6Address) and (found := embedded(address)) is not None:
            return next(filter(None, map(self._objection, found[1])), None)
        return None

    def _loopback(self) -> bool:
        return self.objection("127.0.0.1") is None or self.objection("::1") is None


def _is_this_machine(host: str) -> bool:
    return host in _THIS_MACHINE or host.endswith((".localhost", ".localdomain"))


def _is_metadata(host: str) -> bool:
    return host in _METADATA


def check_development(settings: Settings) -> None:
    """Raises SettingError when development mode, which opens this machine and private networks to everybody's webhooks,
    is on at a base address that strangers may reach (docs/operations.md#development-mode)."""
    if settings.dev and not _is_at_home(settings.base_url):
        raise SettingError(
            f"{Settings.dev.variable}=1 opens this machine and private networks to all who can reach this server, and"
            f" {Settings.base_url.variable} ({settings.base_url}) is neither localhost nor a loopback or private"
            " address. Switch development mode off, or set the base address to one that only you can reach."
        )


def policy_of(settings: Settings) -> Policy:
    """Returns the policy of the settings.

    Raises SettingError when private networks are opened on a server on the internet: everybody who may sign up there
    could send requests into them.
    """
    check_development(settings)
    allow = settings.outbound_allow
    if allow and not settings.outbound_allow_force and _is_public_base(settings.base_url):
        raise SettingError(
            f"{Settings.outbound_allow.variable} opens private networks to everybody who can reach this server, and "
            f"{Settings.base_url.variable} says that it is public ({settings.base_url}). Clear one of the two, or set "
            f"{Settings.outbound_allow_force.variable}=1 if everybody with an account may reach those networks."
        )
    if settings.dev:
        return Policy(allow_http=True, allow=DEVELOPMENT + allow, names_addresses=True)
    return Policy(allow_http=False, allow=allow)


def _is_at_home(base_url: str) -> bool:
    """Returns whether a base address is of this machine or a private network.

    Of names only those of this machine count: where any other leads is decided elsewhere and may change.
    """
    host = urlsplit(base_url).hostname or ""
    address = parse_address(host)
    return _is_this_machine(host) if address is None else any(address in network for network in DEVELOPMENT)


def _is_public_base(base_url: str) -> bool:
    host = urlsplit(base_url).hostname or ""
    address = parse_address(host)
    return is_public(address) if address is not None else not _is_this_machine(host)
