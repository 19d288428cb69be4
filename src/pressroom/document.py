"""The OpenAPI document as text, without anything being opened."""

import json

from pressroom.app import api_routes
from pressroom.domains.accounts.passwords import Passwords
from pressroom.domains.webhooks.payloads import EVENT_SHAPES
from pressroom.settings import Settings
from pressroom.web.openapi import describe


def openapi_document(settings: Settings) -> str:
    """The OpenAPI document of the service under these settings, as JSON for people to read and to keep."""
    passwords = Passwords()
    try:
        return json.dumps(describe(api_routes(passwords), EVENT_SHAPES, settings), indent=2, ensure_ascii=False)
    finally:
        passwords.close()
