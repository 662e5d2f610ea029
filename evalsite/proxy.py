"""Who asks, behind a proxy that ends TLS."""

from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """Return the address that the proxy saw: the last of ``X-Forwarded-For``, since earlier ones are the client's word.

    Without it every reader would have the proxy's address, and ten wrong passwords would lock out everybody.
    """
    forwarded = str(request.META.get("HTTP_X_FORWARDED_FOR", "")).split(",")[-1].strip()
    return forwarded or str(request.META.get("REMOTE_ADDR", ""))
