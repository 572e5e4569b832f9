"""What templates need: visible text, icons, badges, and times as people say them."""

from __future__ import annotations

from datetime import datetime, timedelta

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from approvals.clock import now
from approvals.review import visible
from approvals.review.icons import PATHS
from approvals.review.presentation import EVENT, RISK, STATUS, UNKNOWN, Look

register = template.Library()


@register.filter
def shown(text: object) -> SafeString:
    """Outside text of one line: escaped, isolated, with deceiving characters and line breaks as codes."""
    return visible.shown("" if text is None else text)


@register.filter
def shown_block(text: object) -> SafeString:
    """Outside text with lines of its own, for a box that belongs to it."""
    return visible.shown_block("" if text is None else text)


@register.filter
def plain(text: object) -> str:
    """Outside text where no markup can stand: titles and options."""
    return visible.plain("" if text is None else text)


@register.simple_tag
def icon(name: str) -> SafeString:
    drawing = '<svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false"><path d="{}"/></svg>'
    return format_html(drawing, PATHS[name])


def _badge(look: Look) -> SafeString:
    return format_html('<span class="badge {}">{}{}</span>', look.tone, icon(look.icon), look.label)


@register.simple_tag
def status_badge(status: str) -> SafeString:
    return _badge(STATUS.get(status, UNKNOWN))


@register.simple_tag
def risk_badge(risk: str) -> SafeString:
    return _badge(RISK.get(risk, UNKNOWN))


@register.filter
def status_label(status: str) -> str:
    return STATUS.get(status, UNKNOWN).label


@register.filter
def event_look(kind: str) -> Look:
    return EVENT.get(kind, UNKNOWN)


@register.filter
def exact_time(moment: datetime | None) -> str:
    """`2026-12-01 14:05:09 UTC`."""
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC" if moment else ""


@register.simple_tag
def moment(at: datetime | None) -> SafeString:
    """`3 min ago`, `in 2 h`, with the exact instant in its title. pages.js keeps it true while the page is open."""
    if at is None:
        return format_html("–")
    machine = at.isoformat(timespec="seconds")
    return format_html('<time datetime="{}" title="{}">{}</time>', machine, exact_time(at), relative(at - now()))


def relative(distance: timedelta) -> str:
    """Rounded down, so that a deadline is never told as further away than it is. pages.js says the same."""
    seconds = int(abs(distance.total_seconds()))
    if seconds < 5:
        return "just now"
    count = _count(seconds)
    return f"in {count}" if distance > timedelta(0) else f"{count} ago"


def _count(seconds: int) -> str:
    hours, minutes = seconds // 3600, seconds // 60
    if hours >= 48:
        return f"{hours // 24} days"
    if hours >= 10:
        return f"{hours} h"
    if hours:
        return f"{hours} h {minutes % 60} min" if minutes % 60 else f"{hours} h"
    return f"{minutes} min" if minutes else f"{seconds} s"


@register.filter
def short(digest: str) -> str:
    return digest[:12]


@register.filter
def words(name: str) -> str:
    return name.replace("_", " ")
