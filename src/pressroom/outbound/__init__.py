"""The only client to the outside world: webhooks and link previews leave through it, and nothing else leaves."""

from pressroom.outbound.allowed_addresses import NOT_PUBLIC, Policy, check_development, policy_of
from pressroom.outbound.on_demand import OutboundClient
from pressroom.outbound.response import Failure, OutboundFailed, OutboundResponse, UrlRefused

__all__ = [
    "NOT_PUBLIC",
    "Failure",
    "OutboundClient",
    "OutboundFailed",
    "OutboundResponse",
    "Policy",
    "UrlRefused",
    "check_development",
    "policy_of",
]
