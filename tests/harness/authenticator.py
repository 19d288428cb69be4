"""An authenticator in software: makes passkeys and signs challenges, honestly or as a test asks."""

import hashlib
import json
import secrets
import struct
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, generate_private_key

from pressroom.domains.sign_in.authenticators import decode, encode

Answer = dict[str, Any]

PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40


class Authenticator:
    """One credential of one account at a site. `counts`: whether it counts its uses, as security keys do."""

    def __init__(self, origin: str = "http://localhost:8000", *, host: str = "localhost", counts: bool = True) -> None:
        self.origin, self.host = origin, host
        self.key = generate_private_key(SECP256R1())
        self.credential_id = secrets.token_bytes(32)
        self.user_handle = b""
        self.count = int(counts)
        self.flags = PRESENT | VERIFIED

    def make(self, options: Answer, name: str = "Laptop", client_data: Answer | None = None) -> Answer:
        """The answer to options of a creation, as a body. `client_data` replaces what the browser says."""
        self.user_handle = decode(options["user"]["id"])
        numbers = self.key.public_key().public_numbers()
        key = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32), -3: numbers.y.to_bytes(32)}
        attested = bytes(16) + struct.pack(">H", len(self.credential_id)) + self.credential_id + cbor2.dumps(key)
        data = self._data(self.flags | ATTESTED) + attested
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        said = self._client_data("webauthn.create", options, client_data)
        return {"name": name, "clientDataJSON": encode(said), "attestationObject": encode(attestation)}

    def use(self, options: Answer, client_data: Answer | None = None) -> Answer:
        """The answer to options of a use, as the body of the route."""
        if self.count:
            self.count += 1
        said, data = self._client_data("webauthn.get", options, client_data), self._data(self.flags)
        signature = self.key.sign(data + hashlib.sha256(said).digest(), ECDSA(hashes.SHA256()))
        return {
            "credentialId": encode(self.credential_id),
            "userHandle": encode(self.user_handle),
            "clientDataJSON": encode(said),
            "authenticatorData": encode(data),
            "signature": encode(signature),
        }

    def _data(self, flags: int) -> bytes:
        return hashlib.sha256(self.host.encode()).digest() + struct.pack(">BI", flags, self.count)

    def _client_data(self, kind: str, options: Answer, replaced: Answer | None) -> bytes:
        said = {"type": kind, "challenge": options["challenge"], "origin": self.origin, "crossOrigin": False}
        return json.dumps({**said, **(replaced or {})}).encode()
