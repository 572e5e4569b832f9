"""Which functions a deployment has, and what the gate needs to know about each that the model need not."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar, overload

from toolgate.tools.callables import binds
from toolgate.tools.definition import FunctionDefinitionError, Problems
from toolgate.tools.function import Function

RISKS = ("low", "medium", "high")
DECISIONS = ("approve", "edit", "reject", "respond", "request_changes")
Predicate = Callable[..., bool]
Headline = str | Callable[[dict[str, Any]], str]
F = TypeVar("F")


@dataclass(frozen=True, slots=True, eq=False)
class Registration:
    """A function and what the gate needs to know. Raises FunctionDefinitionError with every problem at once.

    `require_approval` and `deny` are true, false or a predicate of the resolved arguments (and, if it takes a second
    value, the context). `groups`: the reviewers; of several groups each must agree. `expires_after`: how long people may
    take; `approval_valid_for`: how long an approval may wait for a worker. `editor_may_approve`: whether who edited the
    arguments may also approve them. `idempotent`: run again without asking when a worker was lost. `time_limit`: given
    up; `soft_time_limit`: stopped by an exception in the body (nine tenths of the hard one unless given). `secrets` and
    `volatile` are dotted paths into the resolved arguments, `*` for any key or item: what is never shown, what does not
    count for drift. `headline`: a sentence with `{names}` of resolved values, or a callable that makes one.
    """

    function: Function
    risk: str = "medium"
    require_approval: bool | Predicate = True
    deny: bool | Predicate = False
    approvals: int = 1
    groups: tuple[str, ...] = ()
    allowed_decisions: tuple[str, ...] = DECISIONS
    expires_after: timedelta = timedelta(days=1)
    approval_valid_for: timedelta = timedelta(days=1)
    self_approval: bool = False
    editor_may_approve: bool = True
    idempotent: bool = False
    time_limit: timedelta = timedelta(seconds=60)
    soft_time_limit: timedelta | None = None
    secrets: tuple[str, ...] = ()
    volatile: tuple[str, ...] = ()
    drift: str = "ask"
    headline: Headline | None = None
    version: str = "1"

    def __post_init__(self) -> None:
        for name in ("groups", "allowed_decisions", "secrets", "volatile"):
            given = getattr(self, name)
            object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))
        object.__setattr__(self, "secrets", tuple(dict.fromkeys((*self.secrets, *declared_secrets(self.function)))))
        problems = Problems()
        self._check_words(problems)
        self._check_times(problems)
        problems.raise_any()

    def _check_words(self, problems: Problems) -> None:
        problems.add("risk", f"must be one of {', '.join(RISKS)}", when=self.risk not in RISKS)
        unknown = [kind for kind in self.allowed_decisions if kind not in DECISIONS]
        problems.add("allowed_decisions", f"unknown: {', '.join(unknown)}", when=bool(unknown))
        problems.add("allowed_decisions", "can't be empty", when=not self.allowed_decisions)
        problems.add("approvals", "must be a whole number from 1", when=not (_is_count(self.approvals)))
        problems.add("drift", "must be ask or fail", when=self.drift not in ("ask", "fail"))
        for name in ("require_approval", "deny"):
            rule = getattr(self, name)
            usable = isinstance(rule, bool) or (callable(rule) and (binds(rule, 1) or binds(rule, 2)))
            problems.add(name, "must be true, false, or take (arguments) or (arguments, context)", when=not usable)

    def _check_times(self, problems: Problems) -> None:
        for name in ("expires_after", "approval_valid_for", "time_limit"):
            problems.add(name, "must be a positive timedelta", when=not _is_positive(getattr(self, name)))
        soft = self.soft_time_limit
        problems.add(
            "soft_time_limit", "must be a positive timedelta", when=soft is not None and not _is_positive(soft)
        )

    @property
    def soft_limit(self) -> timedelta:
        return self.soft_time_limit or self.time_limit * 0.9

    def declaration(self) -> dict[str, Any]:
        """What an approval is bound to beside the arguments: JSON data that is the same in every process."""
        function = self.function
        return {
            "name": function.name,
            "description": function.description,
            "schema": function.json_schema(),
            "strict": function.strict,
            "async": function.async_,
            "parser": _identity(function.parse_args),
            "volatile": list(self.volatile),
            "version": self.version,
        }

    def headline_for(self, arguments: Mapping[Any, Any]) -> str | None:
        """The sentence for these resolved arguments; None when there is none, or it cannot be made of them."""
        try:
            if callable(self.headline):
                return str(self.headline(dict(arguments)))
            return _Sentence().vformat(self.headline, (), arguments) if self.headline else None
        except Exception:  # noqa: BLE001 - a sentence that cannot be made must not stop a call from being reviewed
            return None


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_positive(value: Any) -> bool:
    return isinstance(value, timedelta) and value > timedelta(0)


def _identity(target: Any) -> str | None:
    """What tells one parser from another in every process: its own `identity`, or where it is defined."""
    if target is None:
        return None
    if isinstance(own := getattr(target, "identity", None), str):
        return own
    inner = getattr(target, "func", target)  # a partial
    named = inner if hasattr(inner, "__qualname__") else type(inner)
    return f"{named.__module__}:{named.__qualname__}"


class _Sentence(string.Formatter):
    """`str.format` over resolved values that reaches keys and public attributes only."""

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        first, *rest = field_name.replace("]", "").replace("[", ".").split(".")
        value = kwargs[first]
        for step in rest:
            if step.startswith("_"):
                raise AttributeError(step)
            value = value[step] if isinstance(value, Mapping) else getattr(value, step)
        return value, first


def declared_secrets(function: Function) -> list[str]:
    """Paths of parameters that the schema itself marks: `writeOnly`, or the format `password`."""
    found: list[str] = []

    def walk(schema: Any, path: tuple[str, ...]) -> None:
        if not isinstance(schema, Mapping) or len(path) > 20:
            return
        if path and (schema.get("writeOnly") is True or schema.get("format") == "password"):
            found.append(".".join(path))
        properties = schema.get("properties")
        for name, inner in properties.items() if isinstance(properties, Mapping) else ():
            walk(inner, (*path, str(name)))
        walk(schema.get("items"), (*path, "*"))

    walk(function.json_schema(), ())
    return found


class Registry:
    """Name to registration, in the order registered. Names are exact; two that differ only by case are refused."""

    def __init__(self) -> None:
        self._registrations: dict[str, Registration] = {}

    @overload
    def register(self, function: F, /, **facts: Any) -> F: ...
    @overload
    def register(self, /, **facts: Any) -> Callable[[F], F]: ...
    def register(self, function: Any = None, /, **facts: Any) -> Any:
        """Adds a Function or what @tool made; answers what it was given, so it decorates too. `facts` as in Registration.

        Raises FunctionDefinitionError.
        """
        if function is None:
            return lambda decorated: self.register(decorated, **facts)
        declared = function if isinstance(function, Function) else getattr(function, "function", None)
        if not isinstance(declared, Function):
            raise FunctionDefinitionError({"function": ["must be a Function, or a Python function under @tool"]})
        unknown = [name for name in facts if name not in Registration.__dataclass_fields__ or name == "function"]
        if unknown:
            raise FunctionDefinitionError({name: ["is not something a registration takes"] for name in unknown})
        self._add(Registration(declared, **facts))
        return function

    def _add(self, registration: Registration) -> None:
        name = registration.function.name
        twin = next((known for known in self._registrations if known.casefold() == name.casefold()), None)
        if twin is not None:
            reason = "is registered already" if twin == name else f"differs only by case from {twin!r}"
            raise FunctionDefinitionError({"name": [f"{name!r} {reason}"]})
        self._registrations[name] = registration

    @classmethod
    def union(cls, registries: Iterable[Registry]) -> Registry:
        """One registry of all registrations. Raises FunctionDefinitionError for names that clash."""
        united = Registry()
        for registry in registries:
            for registration in registry:
                united._add(registration)
        return united

    def get(self, name: str) -> Registration | None:
        return self._registrations.get(name)

    @property
    def names(self) -> list[str]:
        return list(self._registrations)

    @property
    def functions(self) -> list[Function]:
        return [registration.function for registration in self]

    def __iter__(self) -> Iterator[Registration]:
        return iter(self._registrations.values())

    def __len__(self) -> int:
        return len(self._registrations)

    def __contains__(self, name: object) -> bool:
        return name in self._registrations
