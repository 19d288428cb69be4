"""Passkeys in a browser with a virtual authenticator: added, used, removed; and pages without script."""

from collections.abc import Callable

import pytest

from pressroom.clock import MINUTE
from pressroom.domains.sign_in.sessions import begin_session
from tests.harness.browser import OpenTab, Tab, needs_chromium
from tests.harness.local import LocalServer
from tests.pages.reader import Page, fetch
from tests.services.ports import free_port

SECURITY = "/settings/security"
AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture
def site(local_server: Callable[..., LocalServer]) -> LocalServer:
    """A server at localhost, where browsers offer passkeys."""
    port = free_port()
    server = local_server(PORT=port, BASE_URL=f"http://localhost:{port}")
    server.base_url = f"http://localhost:{port}"
    return server


def virtual_authenticator(tab: Tab) -> None:
    """Gives the tab an authenticator whose owner is always there."""
    devtools = tab.context.new_cdp_session(tab.page)
    devtools.send("WebAuthn.enable")
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})


@needs_chromium
def test_a_passkey_is_added_used_and_removed(site: LocalServer, open_tab: OpenTab) -> None:
    account = site.account("mira")
    tab = open_tab(site).sign_in(site.run(site.runtime.db.transact(begin_session, account.id)))
    virtual_authenticator(tab)
    page = tab.page

    tab.open(SECURITY)
    page.get_by_role("link", name="Add a passkey").click()
    page.get_by_label("Name").fill("Laptop")
    page.get_by_role("button", name="Add the passkey").click()
    page.wait_for_url("**/settings/security?done=passkey-added")
    assert page.get_by_role("heading", name="Laptop").is_visible()
    page.get_by_role("link", name="Rename Laptop").click()
    page.get_by_label("Name").fill("Work laptop")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/settings/security?done=passkey-renamed")
    page.get_by_role("heading", name="Work laptop", exact=True).wait_for()
    page.get_by_role("button", name="Sign out").or_(page.locator("form[action='/logout'] button")).first.evaluate(
        "button => button.form.submit()"
    )
    page.wait_for_url("**/?done=signed-out")

    tab.open("/login?next=/settings/security")
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.get_by_role("heading", name="Where you are signed in").wait_for()
    site.clock.advance(31 * MINUTE)
    page.get_by_role("link", name="Remove Work laptop").click()
    page.get_by_role("heading", name="Confirm your password").wait_for()
    page.get_by_role("button", name="Use a passkey").click()
    page.get_by_role("heading", name="Remove the passkey Work laptop").wait_for()
    page.get_by_role("button", name="Remove", exact=True).click()
    page.wait_for_url("**/settings/security?done=passkey-removed")
    assert page.get_by_role("heading", name="Work laptop").count() == 0

    tab.context.clear_cookies()
    tab.open("/login")
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.locator("[data-passkey-error]:not([hidden])").wait_for()
    tab.forgive_status(401)


@needs_chromium
def test_a_form_that_was_held_back_goes_on_after_the_passkey(site: LocalServer, open_tab: OpenTab) -> None:
    account = site.account("otto")
    tab = open_tab(site).sign_in(site.run(site.runtime.db.transact(begin_session, account.id)))
    virtual_authenticator(tab)
    page = tab.page
    tab.open(f"{SECURITY}/passkeys/new")
    page.get_by_label("Name").fill("Phone")
    page.get_by_role("button", name="Add the passkey").click()
    page.wait_for_url("**/settings/security?done=passkey-added")
    tab.open("/settings/keys/new")
    page.get_by_label("Label", exact=True).fill("Ferry bot")
    page.get_by_label("Publish and edit posts", exact=True).check()
    site.clock.advance(31 * MINUTE)

    page.get_by_role("button", name="Create the key").click()
    page.get_by_role("button", name="Use a passkey").click()

    page.get_by_role("heading", name="Your new key: Ferry bot").wait_for()
    tab.forgive_status(403)


def test_pages_without_script_lead_to_the_password(site: LocalServer) -> None:
    login = Page(fetch(site, "/login").text)

    assert login.tree.css_first("form[action='/login'] input[type=password]") is not None
    button = login.tree.css_first("[data-passkey=sign-in]")
    assert button is not None
    assert button.parent is not None
    assert "hidden" in button.parent.attributes


def test_an_address_without_passkeys_offers_none(local_server: Callable[..., LocalServer]) -> None:
    server = local_server()

    assert Page(fetch(server, "/login").text).tree.css("[data-passkey]") == []
    asked = fetch(server, "/login")
    assert "passkeys.js" not in asked.text
