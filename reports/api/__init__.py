"""The HTTP API under /api/v1/."""

from ninja import NinjaAPI

api = NinjaAPI(title="Evalsite", version="1")
