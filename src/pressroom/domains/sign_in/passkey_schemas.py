"""Wire shapes of passkeys. Fields of authenticators are base64url, as the browser's `toJSON()` writes them."""

import re
from collections.abc import Iterator
from typing import Annotated, Final, Self

import msgspec
from msgspec import Meta

from pressroom.clock import iso, iso_or_none
from pressroom.domains.accounts.models import Account
from pressroom.domains.sign_in.authenticators import ALGORITHMS, LIFE, Site, encode
from pressroom.domains.sign_in.queries.passkeys import Passkey
from pressroom.errors import Code, FieldError
from pressroom.text import name_errors
from pressroom.web.json_bodies import Body
from pressroom.web.wire import ONE_LINE, Id, Time

_FORM: Final = re.compile("[A-Za-z0-9_-]*")
_BASE64URL: Final = {"pattern": f"^{_FORM.pattern}$"}

CredentialId = Annotated[str, Meta(min_length=1, max_length=1_400, extra_json_schema=_BASE64URL)]
ClientData = Annotated[str, Meta(min_length=1, max_length=4_000, extra_json_schema=_BASE64URL)]
Long = Annotated[str, Meta(min_length=1, max_length=16_000, extra_json_schema=_BASE64URL)]

_CHALLENGE = "AAABnQkq0hA4vJ9mW3oC1dYxqTzR5uLkq7n0Jm2sV8bXfG6hPwEiZKtDcUoNaYlB5rQeS3yHgM4"
_CREDENTIAL = "mVTXz8o0Cq2yV0nB7c1tWJ5kLQ3pXh9sRgD4aEuYfI6"


PasskeyName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=60,
        description="Where it is kept.",
        examples=["Laptop"],
        extra_json_schema={"pattern": ONE_LINE},
    ),
]


class AddPasskey(Body):
    """What `navigator.credentials.create()` returned, and a name for it."""

    name: PasskeyName
    client_data: Annotated[ClientData, Meta(description="`response.clientDataJSON`.")] = msgspec.field(
        name="clientDataJSON"
    )
    attestation_object: Annotated[Long, Meta(description="`response.attestationObject`.")]

    def field_errors(self, now: int) -> Iterator[FieldError]:
        yield from name_errors("name", self.name, "A name")
        yield from _form_errors(clientDataJSON=self.client_data, attestationObject=self.attestation_object)

    @classmethod
    def example(cls) -> Self:
        return cls(
            name="Laptop", client_data="eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0", attestation_object="o2NmbXRkbm9uZQ"
        )


class RenamePasskey(Body):
    """Another name for a passkey."""

    name: PasskeyName

    def field_errors(self, now: int) -> Iterator[FieldError]:
        yield from name_errors("name", self.name, "A name")

    @classmethod
    def example(cls) -> Self:
        return cls(name="Laptop")


class UsePasskey(Body):
    """What `navigator.credentials.get()` returned."""

    credential_id: Annotated[CredentialId, Meta(description="`id`.")]
    user_handle: Annotated[
        Annotated[str, Meta(min_length=1, max_length=100, extra_json_schema=_BASE64URL)],
        Meta(description="`response.userHandle`: the account."),
    ]
    client_data: Annotated[ClientData, Meta(description="`response.clientDataJSON`.")] = msgspec.field(
        name="clientDataJSON"
    )
    authenticator_data: Annotated[Long, Meta(description="`response.authenticatorData`.")]
    signature: Annotated[Long, Meta(description="`response.signature`.")]

    def field_errors(self, now: int) -> Iterator[FieldError]:
        yield from _form_errors(
            credentialId=self.credential_id,
            userHandle=self.user_handle,
            clientDataJSON=self.client_data,
            authenticatorData=self.authenticator_data,
            signature=self.signature,
        )

    @classmethod
    def example(cls) -> Self:
        return cls(
            credential_id=_CREDENTIAL,
            user_handle="MDFNN1dWRTlTUzAzNzFFNUg0M1FOSFRNWko",
            client_data="eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0",
            authenticator_data="SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ",
            signature="MEUCIQDx",
        )


class RelyingPartyOut(msgspec.Struct):
    """The site that owns the passkey."""

    id: str
    name: str


class PasskeyUserOut(msgspec.Struct, rename="camel"):
    """The account as the authenticator stores it."""

    id: Annotated[str, Meta(description="The account's id, as base64url.")]
    name: str
    display_name: str


class AlgorithmOut(msgspec.Struct):
    """A kind of key that is accepted."""

    type: str
    alg: Annotated[int, Meta(description="A COSE number.")]


class KnownCredentialOut(msgspec.Struct):
    """A passkey that the account has already."""

    type: str
    id: str


class SelectionOut(msgspec.Struct, rename="camel"):
    """What the authenticator must be able to do."""

    resident_key: str
    require_resident_key: bool
    user_verification: str


class CreationOptionsOut(msgspec.Struct, rename="camel"):
    """`publicKey` of `navigator.credentials.create()`, for `parseCreationOptionsFromJSON`."""

    challenge: Annotated[str, Meta(description="To be answered within five minutes, once.")]
    rp: RelyingPartyOut
    user: PasskeyUserOut
    pub_key_cred_params: list[AlgorithmOut]
    timeout: Annotated[int, Meta(description="Milliseconds.")]
    exclude_credentials: list[KnownCredentialOut]
    authenticator_selection: SelectionOut
    attestation: str

    @classmethod
    def example(cls) -> "CreationOptionsOut":
        user = PasskeyUserOut("MDFNN1dWRTlTUzAzNzFFNUg0M1FOSFRNWko", "harbour_news", "Harbour News")
        return _creation_options(_CHALLENGE, "pressroom.example.org", user, [])


class RequestOptionsOut(msgspec.Struct, rename="camel"):
    """`publicKey` of `navigator.credentials.get()`, for `parseRequestOptionsFromJSON`."""

    challenge: Annotated[str, Meta(description="To be answered within five minutes, once.")]
    rp_id: str
    timeout: Annotated[int, Meta(description="Milliseconds.")]
    user_verification: str
    allow_credentials: Annotated[list[KnownCredentialOut], Meta(description="Empty: any passkey of this site.")]

    @classmethod
    def example(cls) -> Self:
        return cls(_CHALLENGE, "pressroom.example.org", LIFE, "required", [])


class PasskeyOut(msgspec.Struct, rename="camel"):
    """A passkey of the account."""

    id: Id
    name: str
    created_at: Time
    last_used_at: Annotated[Time | None, Meta(description="Null: never used.")]

    @classmethod
    def example(cls) -> Self:
        return cls("01M7WVEA2V8M6PBR2DA7CYSJ9C", "Laptop", "2026-11-20T16:08:12.345Z", None)


class PasskeyList(msgspec.Struct):
    """All passkeys of the account, newest first."""

    passkeys: list[PasskeyOut]


class RemovedPasskeyOut(msgspec.Struct):
    """The removed passkey."""

    message: str
    id: Id


def _form_errors(**given: str | None) -> Iterator[FieldError]:
    """Yields an error for each field that is not base64url."""
    for field, text in given.items():
        if text is not None and not _FORM.fullmatch(text):
            yield FieldError(field, Code.INVALID_FORMAT, "Must be base64url without padding.")


def creation_options(site: Site, challenge: bytes, account: Account, known: list[Passkey]) -> CreationOptionsOut:
    """Returns the options with which the browser makes a passkey of the account."""
    user = PasskeyUserOut(encode(account.id.encode()), account.username, account.display_name)
    others = [KnownCredentialOut("public-key", each.credential_id) for each in known]
    return _creation_options(encode(challenge), site.host, user, others)


def request_options(site: Site, challenge: bytes, allowed: list[Passkey]) -> RequestOptionsOut:
    """Returns the options with which the browser uses one of the `allowed` passkeys; if empty, any of the site."""
    others = [KnownCredentialOut("public-key", each.credential_id) for each in allowed]
    return RequestOptionsOut(encode(challenge), site.host, LIFE, "required", others)


def passkey_shape(passkey: Passkey) -> PasskeyOut:
    """Returns a passkey as its owner sees it."""
    used_at = iso_or_none(passkey.used_at)
    return PasskeyOut(passkey.id, passkey.name, iso(passkey.created_at), used_at)


def _creation_options(
    challenge: str, host: str, user: PasskeyUserOut, known: list[KnownCredentialOut]
) -> CreationOptionsOut:
    return CreationOptionsOut(
        challenge=challenge,
        rp=RelyingPartyOut(host, "Pressroom"),
        user=user,
        pub_key_cred_params=[AlgorithmOut("public-key", each) for each in ALGORITHMS],
        timeout=LIFE,
        exclude_credentials=known,
        authenticator_selection=SelectionOut("required", require_resident_key=True, user_verification="required"),
        attestation="none",
    )
