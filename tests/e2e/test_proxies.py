"""The configurations of docs/proxy.md, each run as it stands there but for addresses and files."""

import os
import re
import shutil
import ssl
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
import trustme

from tests.harness.process import ServerProcess
from tests.media.uploads import file, padded, upload
from tests.services.ports import free_port
from tests.services.process import wait_until

DOCS = Path(__file__).parents[2] / "docs" / "proxy.md"
MEBIBYTE = 1024 * 1024
STRANGER, FRIEND = "127.0.0.1", "127.0.0.9"
PASSWORD = "correct horse"


class Site:
    """A server behind a proxy, with a certificate of its own."""

    def __init__(self, server: ServerProcess, folder: Path) -> None:
        self.server, self.folder, self.port = server, folder, free_port()
        self.url = f"https://localhost:{self.port}"
        server.settings |= {"BASE_URL": self.url, "TRUSTED_PROXIES": "127.0.0.1/32"}
        authority = trustme.CA()
        leaf = authority.issue_cert("localhost")
        self.certificate, self.key, self.both = folder / "site.crt", folder / "site.key", folder / "site.pem"
        leaf.cert_chain_pems[0].write_to_path(str(self.certificate))
        leaf.private_key_pem.write_to_path(str(self.key))
        leaf.private_key_and_cert_chain_pem.write_to_path(str(self.both))
        self._trust = ssl.create_default_context()
        authority.configure_trust(self._trust)

    def client(self, address: str, **headers: str) -> httpx.Client:
        """A client that speaks from one of this machine's addresses."""
        transport = httpx.HTTPTransport(verify=self._trust, local_address=address)
        return httpx.Client(base_url=self.url, transport=transport, headers=headers, timeout=60)


def block(language: str) -> str:
    """The configuration that docs/proxy.md shows."""
    found = re.search(rf"```{language}\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    assert found
    return found[1]


def changed(text: str, changes: dict[str, str]) -> str:
    """The text with its addresses and files replaced; each must be there."""
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


def nginx(site: Site) -> list[str]:
    changes = {
        "listen 443 ssl": f"listen 127.0.0.1:{site.port} ssl",
        "social.example.org;": "localhost;",
        "/etc/ssl/social.example.org.crt": str(site.certificate),
        "/etc/ssl/social.example.org.key": str(site.key),
        "127.0.0.1:8000": f"127.0.0.1:{site.server.port}",
    }
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {site.folder}/{kind};" for kind in kinds)
    whole = (
        f"daemon off; pid {site.folder}/pid; error_log stderr; {'user root;' if os.getuid() == 0 else ''}"
        f" events {{}} http {{ access_log off; {places} {changed(block('nginx'), changes)} }}"
    )
    (site.folder / "nginx.conf").write_text(whole)
    return ["-e", "stderr", "-p", str(site.folder), "-c", str(site.folder / "nginx.conf")]


def caddy(site: Site) -> list[str]:
    changes = {
        "social.example.org {": f"{site.url} {{\n    bind 127.0.0.1\n    tls {site.certificate} {site.key}",
        "127.0.0.1:8000": f"127.0.0.1:{site.server.port}",
    }
    options = "{\n    admin off\n    auto_https disable_redirects\n}\n"
    (site.folder / "Caddyfile").write_text(options + changed(block("caddyfile"), changes))
    return ["run", "--adapter", "caddyfile", "--config", str(site.folder / "Caddyfile")]


def haproxy(site: Site) -> list[str]:
    changes = {
        "bind :443": f"bind 127.0.0.1:{site.port}",
        "/etc/ssl/social.example.org.pem": str(site.both),
        "127.0.0.1:8000": f"127.0.0.1:{site.server.port}",
    }
    (site.folder / "haproxy.cfg").write_text(changed(block("haproxy"), changes))
    return ["-db", "-f", str(site.folder / "haproxy.cfg")]


PROXIES: dict[str, Callable[[Site], list[str]]] = {"nginx": nginx, "caddy": caddy, "haproxy": haproxy}


def program(name: str) -> str | None:
    """Where a program is, also among those of administrators."""
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")


@pytest.fixture(params=list(PROXIES))
def site(
    request: pytest.FixtureRequest, process_server: Callable[..., ServerProcess], tmp_path: Path
) -> Iterator[Site]:
    """A server behind each proxy in turn, both ready."""
    name = str(request.param)
    if (found := program(name)) is None:
        pytest.skip(f"{name} is not installed")
    site = Site(process_server(), tmp_path)
    site.server.start()
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    with (tmp_path / "proxy.log").open("wb") as log:
        proxy = subprocess.Popen([found, *PROXIES[name](site)], env=environment, stdout=log, stderr=log)
    try:
        with site.client(STRANGER) as client:
            assert wait_until(lambda: answers(client)), (tmp_path / "proxy.log").read_text()
        yield site
    finally:
        proxy.terminate()
        try:
            proxy.wait(60)
        except subprocess.TimeoutExpired:
            proxy.kill()
            proxy.wait()


def answers(client: httpx.Client) -> bool:
    """Whether the server answers by way of the proxy."""
    try:
        return client.get("/healthz").status_code == 200
    except httpx.HTTPError:
        return False


def test_proxy_passes_on_the_needed_headers(site: Site) -> None:
    site.server.create_account(password=PASSWORD)
    made = site.server.command("key", "create", "alice", "--label", "k", "--scope", "posts:write", "--ip", FRIEND)
    key = {"Authorization": f"Bearer {made.stdout.strip()}"}

    with site.client(FRIEND, **key) as friend:
        assert friend.get("/api/auth/me").status_code == 200
    with site.client(STRANGER, **key) as stranger:
        for forged in ({}, {"X-Forwarded-For": FRIEND}):
            answer = stranger.get("/api/auth/me", headers=forged)
            assert (answer.status_code, answer.json()["error"]) == (403, "IP address not allowed")

    with site.client(STRANGER, Origin=site.url) as browser:
        answer = browser.post("/api/auth/login", json={"login": "alice", "password": PASSWORD})
        assert answer.status_code == 200
        assert "Secure" in answer.headers["set-cookie"]
        post = upload(browser, file(padded(30 * MEBIBYTE)), file(padded(30 * MEBIBYTE)))
        assert post.status_code == 201, post.text
        assert post.json()["media"][0]["url"].startswith(site.url)
        foreign = browser.post("/api/posts", json={"content": "x"}, headers={"Origin": "https://evil.example"})
        assert (foreign.status_code, foreign.json()["error"]) == (403, "Cross-origin request refused")
