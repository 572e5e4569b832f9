"""Who did something: the agent, a person, or the machinery itself. Copied into events, so that names stay what they were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from approvals.models.agents import Agent
    from approvals.models.people import Person


@dataclass(frozen=True, slots=True)
class Actor:
    kind: str  # agent, person, worker, clock or system
    id: str = ""
    name: str = ""
    login: str = ""  # for a person: session or token

    @classmethod
    def agent(cls, agent: Agent) -> Actor:
        return cls("agent", str(agent.pk), agent.name)

    @classmethod
    def person(cls, person: Person, login: str) -> Actor:
        return cls("person", str(person.pk), person.label, login)

    @classmethod
    def worker(cls, name: str) -> Actor:
        return cls("worker", "", name)


CLOCK = Actor("clock", "", "the clock")
SYSTEM = Actor("system", "", "toolgate")
