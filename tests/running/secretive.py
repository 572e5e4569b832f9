"""A deployment whose tools take a secret, and raise with it wherever they can."""

from __future__ import annotations

import logging
from typing import Any

from toolgate import Function, FunctionParam, Registry

registry = Registry()
log = logging.getLogger(__name__)
PARAMETERS = [FunctionParam("password", "string", required=True)]


def work(arguments: dict[str, Any], context: Any) -> str:
    log.info("a line of the body")
    return "done"


def fail(arguments: dict[str, Any], *rest: Any) -> Any:
    raise RuntimeError(f"cannot work with {arguments}")


def end(arguments: dict[str, Any], context: Any) -> str:
    raise SystemExit(str(arguments))


registry.register(Function(name="work", parameters=PARAMETERS, function=work), require_approval=False, secrets=["password"])
registry.register(Function(name="ask", parameters=PARAMETERS, function=work), secrets=["password"])
registry.register(Function(name="fail", parameters=PARAMETERS, function=fail), require_approval=False, secrets=["password"])
registry.register(Function(name="end", parameters=PARAMETERS, function=end), require_approval=False, secrets=["password"])
registry.register(Function(name="parse", parameters=PARAMETERS, function=work, parse_args=fail), secrets=["password"])
registry.register(Function(name="judge", parameters=PARAMETERS, function=work), require_approval=fail, secrets=["password"])
