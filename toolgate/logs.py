"""How the service logs: one line an event, one id from submit to result, and never an argument or a secret."""

from __future__ import annotations

import logging
import logging.config

import structlog


def logging_settings(level: str, *, plain: bool) -> None:
    """Sends the standard library's and structlog's events through one formatter: for people (`plain`) or as JSON."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    # Plain tracebacks: the richer ones show the values of local variables, and an argument is one.
    last: list[structlog.typing.Processor] = (
        [structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)]
        if plain
        else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    )
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    formatter = {
        "()": structlog.stdlib.ProcessorFormatter,
        "foreign_pre_chain": shared,
        "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
    }
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {"line": formatter},
            "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
            "root": {"handlers": ["stderr"], "level": level},
            # A line for each sweep of each second, or each request of a health check, hides what matters.
            "loggers": {name: {"level": "WARNING"} for name in ("celery", "uvicorn", "django.server")}
            | {name: {"level": "ERROR"} for name in ("kombu", "django.request")}
            | {"httpx2": {"level": "WARNING"}}
            | {"django.db.backends": {"level": "INFO"}}  # below, it tells each statement with its values: every argument
            | {"django.template": {"level": "INFO"}},  # below, it tells addresses, and what a page was made of
        }
    )
