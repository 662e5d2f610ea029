"""Sign in, by password or by a one-time address, and out; and the reader's theme."""

from django.contrib.auth import login, logout
from django.contrib.auth.views import LoginView
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from reports.access import TeamRequest, page
from reports.frame import TRAY
from reports.pages.team import team_page
from reports.selectors.sides import name_of_side
from reports.selectors.teams import find_own_team
from reports.services.preferences import THEMES, keep_theme
from reports.services.sign_in import SignInLinkRefused, redeem_sign_in_link
from reports.views.errors import error_page


class SignInView(LoginView):
    """Sign in by password; who is signed in already goes on."""

    template_name = "reports/sign_in.html"
    redirect_authenticated_user = True


sign_in = SignInView.as_view()


@never_cache
@require_http_methods(["GET"])  # not HEAD: a link preview must not use the address up
def sign_in_by_link(request: HttpRequest, token: str) -> HttpResponse:
    if "prefetch" in request.headers.get("Sec-Purpose", ""):
        return HttpResponse(status=503)
    try:
        user = redeem_sign_in_link(token=token)
    except SignInLinkRefused:
        if request.user.is_authenticated:  # the browser's history brought its reader here again
            return redirect("home")
        return error_page(
            request,
            410,
            "This sign-in address cannot be used",
            "It was used before, or has expired. Print a new one with: python3 manage.py sign_in_link",
        )
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect("home")


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("sign-in")


@require_POST
@page()
def set_theme(request: TeamRequest) -> HttpResponse:
    """Keep the reader's theme and go back to where they were."""
    theme = request.POST.get("theme", "")
    if theme not in THEMES:
        return error_page(request, 400, "There is no such theme", "Choose the system's, light or dark.")
    keep_theme(user=request.user, theme=theme)
    return HttpResponse(status=204) if request.headers.get("X-Requested-With") == "fetch" else _back(request)


@require_POST
@page()
def set_tray(request: TeamRequest) -> HttpResponse:
    """Put a run or version into the comparison tray as the baseline, or empty the tray when no side is given."""
    side = request.POST.get("side", "")
    if not side:
        request.session.pop(TRAY, None)
        return _back(request)
    name = name_of_side(team=request.team, side=side)
    if name is None:
        raise Http404
    request.session[TRAY] = {"side": side, "text": name}
    return _back(request)


@require_http_methods(["GET", "HEAD", "POST"])
@page()
def set_team(request: TeamRequest) -> HttpResponse:
    """Show the reader's teams, or work in another one of them from now on."""
    if request.method != "POST":
        shown = team_page(user=request.user, current=request.team)
        return render(request, "reports/team.html", {"page": shown})
    chosen = find_own_team(user=request.user, text=request.POST.get("team", ""))
    if chosen is None:
        raise Http404
    request.session["team"] = chosen
    request.session.pop(TRAY, None)  # what waits there belongs to the team that is left
    return redirect("home")


def _back(request: HttpRequest) -> HttpResponse:
    """Go back to the page that the form stood on, never to another host."""
    wanted = request.POST.get("next", "") or request.headers.get("Referer", "")
    is_ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, request.is_secure())
    return redirect(wanted if is_ours else "home")
