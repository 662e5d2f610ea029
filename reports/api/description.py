"""The API object: it describes its errors as what they are."""

from typing import Any

from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema

from reports.api.problems import CONTENT_TYPE

_UNREADABLE = {
    "description": "The request cannot be read",
    "content": {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemOut"}}},
}


class DescribedAPI(NinjaAPI):
    """An API whose description says that errors are problems; ninja knows one content type for all answers."""

    def get_openapi_schema(self, **options: Any) -> OpenAPISchema:
        described = super().get_openapi_schema(**options)
        for methods in described["paths"].values():
            for operation in methods.values():
                if "requestBody" in operation:
                    operation["responses"].setdefault(400, _UNREADABLE)
                for status, answer in operation["responses"].items():
                    if int(status) >= 400 and "application/json" in answer.get("content", {}):
                        answer["content"] = {CONTENT_TYPE: answer["content"]["application/json"]}
        return described
