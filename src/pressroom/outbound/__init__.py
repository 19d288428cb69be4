"""The only door to the outside world: webhooks and link previews leave through it, and nothing else leaves."""

from pressroom.outbound.door import Answer, Door
from pressroom.outbound.failures import Failure, OutboundFailed, UrlRefused
from pressroom.outbound.policy import Policy, check_development, policy_of

__all__ = ["Answer", "Door", "Failure", "OutboundFailed", "Policy", "UrlRefused", "check_development", "policy_of"]
