"""The pages of an account's data (docs/people.md#a-copy-of-everything, docs/people.md#deleting-an-account)."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.personal_data import actions
from pressroom.domains.personal_data.models import ExportState
from pressroom.domains.personal_data.routes import carry_out_deletion, send_export, source_of
from pressroom.domains.personal_data.schemas import DeleteOwnAccount, export_shape
from pressroom.web.access import Page
from pressroom.web.asgi import HeaderList
from pressroom.web.page_forms import FormFields, FormState, NoFields
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


DATA: Final = "/settings/data"
RECENT: Final = Page(recent=True)
ONE_READER: Final[HeaderList] = [(b"cache-control", b"no-store")]


@routes.page(DATA, Page(), summary="The account's data")
async def show_data_form(request: Request[Caller], form: FormState) -> Response:
    """Returns the page of the account's data."""
    export = await request.db.read(actions.find_export, request.caller.account.id)
    now = request.clock.now()
    pending = export is not None and export.state == ExportState.PENDING
    values: dict[str, object] = {
        "export": export,
        "pending": pending,
        "ready": export is not None and export.is_ready(now),
        "failed": export is not None and export.state == ExportState.FAILED,
        "next_at": export.next_at(now) if export else None,
    }
    return await render(request, "personal_data/data.html", values, form=form)


@routes.submit(f"{DATA}/export", RECENT, again=show_data_form, summary="Ask for a copy of everything")
async def request_export(request: Request[Caller], body: NoFields) -> Response:
    """Has a copy made."""
    base_url = request.settings.base_url
    await request.once(
        actions.request_export,
        lambda export: export_shape(export, base_url),
        request.caller.account.id,
        source_of(request),
    )
    return redirect(DATA, done="export-asked")


@routes.get(f"{DATA}/export", RECENT, summary="Fetch the copy of everything")
async def fetch_export(request: Request[Caller]) -> Response:
    """The zip file; without one, the page of the account's data."""
    export = await request.db.read(actions.find_export, request.caller.account.id)
    if export is None or not export.is_ready(request.clock.now()):
        return redirect(DATA)
    response = await send_export(request)
    response.headers += ONE_READER
    return response


async def ask_to_delete(request: Request[Caller], form: FormState) -> Response:
    """Renders the effects of a deletion, and asks for user name and password."""
    values = {"username": request.caller.account.username, "is_admin": request.caller.is_admin}
    return await render(request, "personal_data/delete.html", values, form=form)


@routes.form(
    f"{DATA}/delete", RECENT, fields=FormFields(secrets={"password"}), show=ask_to_delete, summary="Delete the account"
)
async def delete_account(request: Request[Caller], body: DeleteOwnAccount) -> Response:
    """Deletes the account and leads to the front page."""
    answer = await carry_out_deletion(request, body)
    gone = redirect("/", done="own-account-deleted")
    gone.headers += [header for header in answer.headers if header[0] == b"set-cookie"]
    return gone
