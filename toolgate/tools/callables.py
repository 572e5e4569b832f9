"""Can this callable be called with so many positional values, and what does calling it take?"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Callable, Coroutine
from typing import Any


def binds(target: Callable[..., Any], count: int) -> bool:
    """Whether calling with `count` positional values would bind. What hides its signature is believed."""
    try:
        signature = inspect.signature(target)
    except (TypeError, ValueError):
        return True
    try:
        signature.bind(*[None] * count)
    except TypeError:
        return False
    return True


def arity(target: Callable[..., Any]) -> int:
    """How many positional values are compulsory, for a message."""
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return 0
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(one.kind in positional and one.default is inspect.Parameter.empty for one in parameters)


def finish(answer: Any) -> Any:
    """What a call came to: a coroutine is run to its end, in a thread of its own when this one already runs a loop."""
    if not inspect.iscoroutine(answer):
        return answer
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run(answer)
    return _in_a_thread(answer)


def _run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    try:
        return asyncio.run(coroutine)
    except asyncio.CancelledError as error:  # no ordinary exception; but nobody outside can cancel a loop made here
        raise RuntimeError("the coroutine cancelled itself") from error


def _in_a_thread(coroutine: Coroutine[Any, Any, Any]) -> Any:
    came_to: list[Any] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            came_to.append(_run(coroutine))
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that asked
            raised.append(error)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(run,))
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
    return came_to[0]
