"""Which functions a deployment has, and what the gate needs to know about each that the model need not."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any, TypedDict, TypeVar, Unpack, overload

from toolgate.tools import headline
from toolgate.tools.callables import binds
from toolgate.tools.canonical import canonical
from toolgate.tools.decorator import Tool, tool
from toolgate.tools.definition import FunctionDefinitionError, Problems
from toolgate.tools.function import Function
from toolgate.tools.headline import Headline
from toolgate.tools.identities import identity
from toolgate.tools.references import secret_paths

RISKS = ("low", "medium", "high")
DECISIONS = ("approve", "edit", "reject", "respond", "request_changes")
DRIFT = ("ask", "fail")
Predicate = Callable[..., bool]
F = TypeVar("F")


class Facts(TypedDict, total=False):
    """What may be said of a function when it is registered. `Registration` tells what each means."""

    risk: str
    require_approval: bool | Predicate
    deny: bool | Predicate
    approvals: int
    groups: Iterable[str]
    allowed_decisions: Iterable[str]
    expires_after: timedelta
    approval_valid_for: timedelta
    self_approval: bool
    editor_may_approve: bool
    idempotent: bool
    time_limit: timedelta
    soft_time_limit: timedelta | None
    secrets: Iterable[str]
    volatile: Iterable[str]
    drift: str
    headline: Headline | None
    version: str


@dataclass(frozen=True, slots=True, eq=False)
class Registration:
    """A function and what the gate needs to know. Raises FunctionDefinitionError with every problem at once.

    `require_approval` and `deny` are true, false or a predicate of the resolved arguments (and, if it takes a second
    value, the context). `groups`: the reviewers; of several groups each must agree. `expires_after`: how long people may
    take; `approval_valid_for`: how long an approval may wait for a worker. `editor_may_approve`: whether who edited the
    arguments may also approve them. `idempotent`: run again without asking when a worker was lost. `time_limit`: given
    up; `soft_time_limit`: stopped by an exception in the body (nine tenths of the hard one unless given). `secrets` and
    `volatile` are dotted paths into the resolved arguments, `*` for any key or item: what is never shown, what does not
    count for drift. `drift`: whether people are asked again, or the call fails, when what would run is not what was
    approved. `headline`: a sentence with `{names}` of resolved values, or a callable that makes one.
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
        problems = Problems()
        for name in ("groups", "allowed_decisions", "secrets", "volatile"):
            object.__setattr__(self, name, _names(name, getattr(self, name), problems))
        object.__setattr__(self, "secrets", tuple(dict.fromkeys((*self.secrets, *declared_secrets(self.function)))))
        self._check_words(problems)
        self._check_rules(problems)
        self._check_times(problems)
        headline.check(self.headline, self.secrets, problems)
        try:
            canonical(self.declaration())
        except (TypeError, ValueError, RecursionError) as error:
            problems.add("function", f"its declaration is no JSON data: {error}")
        problems.raise_any()

    def _check_words(self, problems: Problems) -> None:
        for name, known in (("risk", RISKS), ("drift", DRIFT)):
            problems.add(name, f"must be one of {', '.join(known)}", when=getattr(self, name) not in known)
        unknown = [kind for kind in self.allowed_decisions if kind not in DECISIONS]
        problems.add("allowed_decisions", f"unknown: {', '.join(unknown)}", when=bool(unknown))
        problems.add("allowed_decisions", "can't be empty", when=not self.allowed_decisions)
        problems.add("version", "must be text", when=not isinstance(self.version, str))
        for name in ("self_approval", "editor_may_approve", "idempotent"):
            problems.add(name, "must be true or false", when=not isinstance(getattr(self, name), bool))

    def _check_rules(self, problems: Problems) -> None:
        problems.add("approvals", "must be a whole number from 1", when=not _is_count(self.approvals))
        for name in ("require_approval", "deny"):
            rule = getattr(self, name)
            usable = isinstance(rule, bool) or (callable(rule) and (binds(rule, 1) or binds(rule, 2)))
            problems.add(name, "must be true, false, or take (arguments) or (arguments, context)", when=not usable)
            problems.add(name, "must be no coroutine", when=inspect.iscoroutinefunction(rule))

    def _check_times(self, problems: Problems) -> None:
        for name in ("expires_after", "approval_valid_for", "time_limit"):
            problems.add(name, "must be a positive timedelta", when=not _is_positive(getattr(self, name)))
        soft = self.soft_time_limit
        problems.add("soft_time_limit", "must be a positive timedelta", when=soft is not None and not _is_positive(soft))
        both = _is_positive(soft) and _is_positive(self.time_limit)
        problems.add("soft_time_limit", "must be below time_limit", when=both and self.soft_limit >= self.time_limit)

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
            "parser": identity(function.parse_args) if function.parse_args is not None else None,
            "volatile": list(self.volatile),
            "secrets": list(self.secrets),
            "version": self.version,
        }

    def headline_for(self, arguments: Mapping[Any, Any]) -> str | None:
        """The sentence for these resolved arguments; None when there is none, or it cannot be made of them."""
        return headline.make(self.headline, arguments)


def _names(field: str, given: Any, problems: Problems) -> tuple[str, ...]:
    if isinstance(given, str):
        return (given,)
    names = tuple(given) if isinstance(given, Iterable) else (None,)
    usable = all(isinstance(name, str) and name for name in names)
    problems.add(field, "must be a list of names", when=not usable)
    return names if usable else ()


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_positive(value: Any) -> bool:
    return isinstance(value, timedelta) and value > timedelta(0)


def declared_secrets(function: Function) -> list[str]:
    """Paths of parameters that the schema itself marks: `writeOnly`, or the format `password`, at any depth."""
    return secret_paths(function.json_schema())


class Registry:
    """Name to registration, in the order registered. Names are exact; two that differ only by case are refused."""

    def __init__(self) -> None:
        self._registrations: dict[str, Registration] = {}

    @overload
    def register(self, function: F, /, **facts: Unpack[Facts]) -> F: ...
    @overload
    def register(self, /, **facts: Unpack[Facts]) -> Callable[[F], F]: ...
    def register(self, function: Any = None, /, **facts: Any) -> Any:
        """Adds a Function, what @tool made, or a plain Python function (read as @tool reads it); answers what it was
        given, so it decorates too. `facts` as in Registration.

        Raises FunctionDefinitionError with every problem at once.
        """
        if function is None:
            return lambda decorated: self.register(decorated, **facts)
        declared = _declared(function)
        problems = Problems()
        for name in [name for name in facts if name not in _FACTS]:
            problems.add(name, "is not something a registration takes")
            del facts[name]
        self._check_name(declared.name, problems)
        try:
            registration = Registration(declared, **facts)
        except FunctionDefinitionError as error:
            raise FunctionDefinitionError({**problems.found, **error.errors}) from None
        problems.raise_any()
        self._registrations[declared.name] = registration
        return function

    def _check_name(self, name: str, problems: Problems) -> None:
        twin = next((known for known in self._registrations if known.casefold() == name.casefold()), None)
        if twin is not None:
            reason = "is registered already" if twin == name else f"differs only by case from {twin!r}"
            problems.add("name", f"{name!r} {reason}")

    @classmethod
    def union(cls, registries: Iterable[Registry]) -> Registry:
        """One registry of all registrations. Raises FunctionDefinitionError for names that clash."""
        united, problems = Registry(), Problems()
        for registry in registries:
            for registration in registry:
                united._check_name(registration.function.name, problems)
                united._registrations.setdefault(registration.function.name, registration)
        problems.raise_any()
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


_FACTS = frozenset(field.name for field in fields(Registration)) - {"function"}


def _declared(function: Any) -> Function:
    if isinstance(function, Function):
        return function
    if isinstance(function, Tool):
        return function.function
    if inspect.isfunction(function):
        return tool(function).function
    raise FunctionDefinitionError({"function": ["must be a Function, what @tool made, or a Python function"]})
