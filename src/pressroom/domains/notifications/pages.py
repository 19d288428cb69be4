"""The page of the settings of notifications (docs/notifications.md#settings)."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.notifications import actions
from pressroom.domains.notifications.routes import save_settings
from pressroom.domains.notifications.schemas import EditNotificationSettings
from pressroom.web.access import Page
from pressroom.web.page_forms import FormState
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


SETTINGS: Final = "/settings/notifications"


async def show_settings(request: Request[Caller], form: FormState) -> Response:
    """Returns the page with a choice for each type."""
    account, mail = request.caller.account, request.services.mail
    values: dict[str, object] = {
        "ways": await request.db.read(actions.read_settings, account.id),
        "sends_mail": mail.is_available,
        "is_confirmed": account.email_verified,
    }
    return await render(request, "notifications/settings.html", values, form=form)


@routes.form(SETTINGS, Page(), show=show_settings, summary="Settings of notifications")
async def edit_settings(request: Request[Caller], body: EditNotificationSettings) -> Response:
    """Saves the choices like PATCH /api/notifications/settings."""
    await save_settings(request, body)
    return redirect(SETTINGS, done="notification-settings-saved")
