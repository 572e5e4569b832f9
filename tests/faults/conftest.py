"""Everybody at once: callers over HTTP, people in browsers, and a real worker."""

from tests.api.conftest import as_agent, as_other_agent, as_person, as_second_person, as_stranger
from tests.execution.conftest import start_worker, worker, worker_of_the_module
from tests.review.conftest import ada, grace, log_in
from tests.running.conftest import serve

__all__ = [
    "ada",
    "as_agent",
    "as_other_agent",
    "as_person",
    "as_second_person",
    "as_stranger",
    "grace",
    "log_in",
    "serve",
    "start_worker",
    "worker",
    "worker_of_the_module",
]
