"""A deployment for a server that is killed and started again: calls that take turns and are counted, and one that fails."""

from __future__ import annotations

from typing import Any

from tests.running.counted import count
from toolgate import Function, FunctionParam, Registry

restarting = Registry()


def fail(arguments: dict[str, Any], context: dict[str, Any]) -> str:
    raise RuntimeError("the bank is away")


number = FunctionParam("number", "integer", required=True)
token = FunctionParam("token", "string", required=True)
restarting.register(Function(name="in_turn", parameters=[number], function=count))
restarting.register(Function(name="failing", parameters=[token], function=fail), secrets=["token"])
