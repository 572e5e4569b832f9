"""One tool that does nothing, so that what is measured is the gate."""

from __future__ import annotations

from toolgate import Registry, tool

registry = Registry()


@registry.register()
@tool(async_=True)
def nothing(number: int, text: str) -> str:
    """Does nothing.

    Args:
        number: Comes back.
        text: Comes back, too.
    """
    return f"{number} {text}"
