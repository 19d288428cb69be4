"""Code samples of the API reference: commands for a shell. Each makes a fresh Idempotency-Key when it is run."""

import re
import shlex
from typing import Final, TypeVar, cast

import msgspec

from pressroom.web.access import Keyed
from pressroom.web.multipart_rules import FormSpec
from pressroom.web.openapi.schemas import Json
from pressroom.web.routing import Route

C = TypeVar("C")

_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
_FRESH_KEY: Final = '-H "Idempotency-Key: $(date +%s%N)"'


def curl_sample(route: Route[C], example: object, base_url: str) -> Json:
    """Returns a write as a curl command, with parameters of the path in capitals: ID for `{id}`."""
    path = _PLACEHOLDER.sub(lambda found: found[1].upper(), route.path)
    lines = [f"curl -X {route.method} {shlex.quote(base_url + path)}", _credential(route)]
    if route.idempotent:
        lines.append(_FRESH_KEY)
    if route.form:
        lines += _form_lines(route.form, cast("Json", example or {}))
    elif example is not None:
        body = msgspec.json.encode(example).decode()
        lines += ["-H 'Content-Type: application/json'", f"-d {shlex.quote(body)}"]
    return {"lang": "shell", "label": "curl", "source": " \\\n  ".join(line for line in lines if line)}


def _credential(route: Route[C]) -> str:
    return "-H 'Authorization: Bearer svc_live_…'" if isinstance(route.access, Keyed) else "-b 'session=…'"


def _form_lines(form: FormSpec, texts: Json) -> list[str]:
    lines = [f"-F '{form.by_key.file_field}=@FILE'"]
    for name, value in texts.items():
        values = cast("list[object]", value) if isinstance(value, list) else [value]
        lines += [f"-F {shlex.quote(f'{name}={_text(one)}')}" for one in values]
    return lines


def _text(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
