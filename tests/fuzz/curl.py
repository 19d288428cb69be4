"""A request as a command for the shell, so that a fault can be looked at by hand."""

import shlex

import httpx

LEFT_OUT = {"host", "user-agent", "connection", "content-length", "accept-encoding", "authorization"}
"""What curl sends by itself, and the key."""


def curl(request: httpx.Request) -> str:
    """The command that sends this request once more, with the key in $KEY; bytes that no text holds come by printf."""
    words = ["curl", "-i", "-X", request.method, shlex.quote(str(request.url)), '-H "Authorization: Bearer $KEY"']
    for name, value in request.headers.raw:
        if name.lower().decode("ascii") not in LEFT_OUT and value != b"*/*":
            words += ("-H", _word(name + (b": " + value if value else b";")))
    body = request.read()
    if not body:
        return " ".join(words)
    if _is_plain(body):
        return " ".join([*words, "--data-raw", _word(body)])
    return " ".join([f"printf {_escaped(body)} |", *words, "--data-binary @-"])


def _word(text: bytes) -> str:
    return shlex.quote(text.decode("ascii")) if _is_plain(text) else f'"$(printf {_escaped(text)})"'


def _is_plain(text: bytes) -> bool:
    return all(0x20 <= byte < 0x7F for byte in text)


def _escaped(text: bytes) -> str:
    """A format for printf that yields these very bytes."""
    special = b"%\\'"
    return "'" + "".join(chr(b) if 0x20 <= b < 0x7F and b not in special else f"\\{b:03o}" for b in text) + "'"
