"""One piece of a tool's answer: text, an image, a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from toolgate.tools.definition import Problems, one_of

KINDS = ("text", "image_url", "image", "file", "file_url", "thinking", "unsupported")


@dataclass(frozen=True, slots=True)
class ContentPart:
    """`type` is one of KINDS, `content` text or None, `options` whatever a provider wants (media, detail, cache_control)."""

    type: str = "text"
    content: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        problems = Problems()
        problems.add("type", f"must be {one_of(KINDS)}", when=self.type not in KINDS)
        problems.add("content", "must be text", when=not isinstance(self.content, str | None))
        problems.add("options", "must be a mapping", when=not isinstance(self.options, Mapping | None))
        problems.raise_any()
        object.__setattr__(self, "options", dict(self.options or {}))

    @classmethod
    def text(cls, content: str | None, options: Mapping[str, Any] | None = None, /, **more: Any) -> ContentPart:
        return cls("text", content, {**(options or {}), **more})

    @classmethod
    def image(cls, content: str | None, options: Mapping[str, Any] | None = None, /, **more: Any) -> ContentPart:
        return cls("image", content, {**(options or {}), **more})

    @classmethod
    def file(cls, content: str | None, options: Mapping[str, Any] | None = None, /, **more: Any) -> ContentPart:
        return cls("file", content, {**(options or {}), **more})

    @classmethod
    def image_url(cls, content: str | None, options: Mapping[str, Any] | None = None, /, **more: Any) -> ContentPart:
        return cls("image_url", content, {**(options or {}), **more})

    @classmethod
    def file_url(cls, content: str | None, options: Mapping[str, Any] | None = None, /, **more: Any) -> ContentPart:
        return cls("file_url", content, {**(options or {}), **more})

    @classmethod
    def thinking(cls, content: str | None, options: Mapping[str, Any] | None = None, /, **more: Any) -> ContentPart:
        return cls("thinking", content, {**(options or {}), **more})

    def to_dict(self) -> dict[str, Any]:
        return {"type": self.type, "content": self.content, "options": dict(self.options)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ContentPart:
        return cls(data.get("type", "text"), data.get("content"), data.get("options") or {})

    def merge(self, part: ContentPart) -> ContentPart:
        """This part with a streamed piece added. Pieces of another kind give their options only."""
        content = self.content
        if part.content is not None and part.type == self.type:
            content = (content or "") + part.content
        return replace(self, content=content, options=_merged(self.options, part.options))


def _merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(one)
    for key, value in other.items():
        both_text = isinstance(merged.get(key), str) and isinstance(value, str)
        merged[key] = merged[key] + value if both_text else value
    return merged


def merge_parts(one: ContentPart | None, part: ContentPart) -> ContentPart:
    """Folds a stream of parts, starting from nothing."""
    return part if one is None else one.merge(part)


def parts_to_text(parts: Iterable[ContentPart | None], kind: str = "text") -> str | None:
    """The content of the parts of one kind, an empty line between them; None when there is none."""
    found = [part.content for part in parts if part is not None and part.type == kind and part.content is not None]
    return "\n\n".join(found) if found else None


def content_to_text(content: str | Sequence[ContentPart | None] | None) -> str | None:
    return content if content is None or isinstance(content, str) else parts_to_text(content)


def set_option_on_last(parts: Sequence[ContentPart], name: str, value: Any) -> list[ContentPart]:
    """A new list whose last part has the option; nothing given is changed."""
    if not parts:
        return []
    return [*parts[:-1], replace(parts[-1], options={**parts[-1].options, name: value})]
