"""Every setting, and the only reader of the environment. docs/settings.md is generated from `Settings`."""

from __future__ import annotations

import math
import os
import secrets
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

import django_stubs_ext
from pydantic import AliasChoices, Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from toolgate.logs import logging_settings

django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent
Names = Annotated[tuple[str, ...], NoDecode]


class SecretFiles(PydanticBaseSettingsSource):
    """`TOOLGATE_X_FILE` names a file that holds the value of `TOOLGATE_X`, as container platforms hand secrets over."""

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:
        path = os.environ.get(f"TOOLGATE_{field_name.upper()}_FILE")
        return (Path(path).read_text().strip() if path else None), field_name, False

    def __call__(self) -> dict[str, Any]:
        found = {name: self.get_field_value(field, name)[0] for name, field in self.settings_cls.model_fields.items()}
        return {name: value for name, value in found.items() if value is not None}


class Settings(BaseSettings):
    """`TOOLGATE_…` variables. Lists are separated by commas; every secret may come from a file named by `…_FILE`."""

    model_config = SettingsConfigDict(env_prefix="TOOLGATE_", extra="ignore", populate_by_name=True)

    mode: Literal["embedded", "production"] = Field(
        "embedded", description="`embedded`: one process on SQLite. `production`: PostgreSQL and Redis."
    )
    data_dir: Path = Field(Path("var"), description="Where the embedded mode keeps its database and its secret.")
    secret_key: SecretStr | None = Field(
        None, description="Signs sessions. Made and kept in the data directory when embedded; compulsory in production."
    )
    database_url: str | None = Field(
        None,
        validation_alias=AliasChoices("TOOLGATE_DATABASE_URL", "DATABASE_URL"),
        description="`postgres://user:password@host/name` or `sqlite:///path`. Compulsory in production.",
    )
    database_pool: int | None = Field(
        None,
        gt=0,
        description="Connections to PostgreSQL that a process holds at most. Unless set, one for each of its threads.",
    )
    database_pool_seconds: float = Field(5, gt=0, description="How long a thread waits for a connection.")
    database_prepared: bool = Field(
        True, description="Prepared statements. Not through a pooler that hands out connections by transaction and knows none."
    )
    database_connect_seconds: int = Field(5, ge=2, description="How long PostgreSQL may take to accept a connection.")
    database_statement_seconds: float = Field(30, gt=0, description="PostgreSQL ends a statement that takes longer.")
    database_lock_seconds: float = Field(10, gt=0, description="PostgreSQL ends a statement that waits longer for a lock.")
    database_idle_seconds: float = Field(
        60, gt=0, description="PostgreSQL ends the connection of a transaction that does nothing for longer."
    )
    redis_url: str | None = Field(
        None,
        validation_alias=AliasChoices("TOOLGATE_REDIS_URL", "REDIS_URL"),
        description="`redis://host:6379/0`. Compulsory in production.",
    )
    allowed_hosts: Names = Field(
        ("localhost", "127.0.0.1", "[::1]"),
        description="Host names that this server answers to, beside that of `TOOLGATE_PUBLIC_URL`.",
    )
    metrics_token: SecretStr | None = Field(
        None,
        min_length=20,
        description="Whoever shows it as a bearer token reads `/metrics`. Unless set, only auditors and administrators.",
    )
    public_url: str = Field("http://127.0.0.1:8000", description="How people reach the pages; used in links.")
    static_dir: Path | None = Field(
        None, description="Where `collectstatic` put style sheets and scripts. Unless set, they are served as installed."
    )
    debug: bool = Field(False, description="Shows tracebacks in pages. Never in production.")
    tools: Names = Field(
        ("toolgate.demonstration.tools",),
        description="Modules that hold a `Registry` with the tools to gate. The demonstration's, unless set.",
    )
    lease_seconds: float = Field(30, gt=0, description="How long a silent worker keeps a call. Renewed while it works.")
    sweep_seconds: float = Field(1, gt=0, description="How often the clock looks for what is overdue.")
    verify_seconds: float = Field(3600, gt=0, description="How often the clock verifies the whole trail.")
    prune_days: int | None = Field(
        None, gt=0, le=36_500, description="Retention: days after which the payloads of a settled call go. Unset: never."
    )
    dispatch_seconds: float = Field(
        5, gt=0, description="How long an approved call may stay unclaimed before it is sent again."
    )
    visibility_seconds: int = Field(
        3600,
        gt=0,
        description="When Redis hands out again what no worker acknowledged. A claim guards.",
    )
    max_attempts: int = Field(3, gt=0, description="How often an idempotent call is run again by itself when workers are lost.")
    worker_threads: int = Field(4, gt=0, description="Calls executed at the same time by one worker process.")
    web_threads: int = Field(16, gt=0, description="Requests answered at the same time by one web process.")
    web_processes: int = Field(2, gt=0, description="Processes of `toolgate web`.")
    grace_seconds: float = Field(25, gt=0, description="How long a production process may take to finish what it holds.")
    wait_limit: int = Field(8, gt=0, description="Waiting requests held at the same time; more are asked to come back.")
    max_body_bytes: int = Field(4 * 1024 * 1024, gt=0, description="The largest request body.")
    max_depth: int = Field(100, gt=0, description="The deepest nesting of arguments.")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] | None = Field(
        None, description="From which level on something is logged. INFO in production, else WARNING."
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, SecretFiles(settings_cls)

    @field_validator("allowed_hosts", "tools", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _production_is_complete(self) -> Settings:
        if self.mode == "production":
            if "tools" not in self.model_fields_set:
                self.tools = ()
            missing = [name for name in ("secret_key", "database_url", "redis_url") if not getattr(self, name)]
            if missing:
                names = ", ".join(f"TOOLGATE_{name.upper()}" for name in missing)
                raise ValueError(f"production needs {names}")
        return self

    def signing_key(self) -> str:
        return self.secret_key.get_secret_value() if self.secret_key else self._kept_secret()

    def _kept_secret(self) -> str:
        path = self.data_dir / "secret_key"
        self.data_dir.mkdir(parents=True, exist_ok=True)
        try:
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(secrets.token_urlsafe(50))
        except FileExistsError:
            pass
        return path.read_text()

    def database(self) -> dict[str, Any]:
        url = urlsplit(self.database_url or f"sqlite:///{self.data_dir / 'toolgate.sqlite3'}")
        return _sqlite(url.path[1:]) if url.scheme == "sqlite" else _postgresql(url, self)


def _sqlite(path: str) -> dict[str, Any]:
    # FULL: an acknowledged decision survives a power cut. recursive_triggers: without it INSERT OR REPLACE
    # passes the triggers that keep the trail append-only. IMMEDIATE: a transaction that will write never has to upgrade.
    pragmas = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA recursive_triggers=ON; PRAGMA foreign_keys=ON"
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": path,
        "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 30, "init_command": pragmas},
        "TEST": {"NAME": f"{path}.test"},
    }


def _postgresql(url: SplitResult, given: Settings) -> dict[str, Any]:
    asked = dict(parse_qsl(url.query))
    # A call that runs has two threads: one for its body, one that keeps its lease. And one is the clock.
    threads = given.web_threads + 2 * given.worker_threads + 1
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(url.path[1:]),
        "USER": unquote(url.username or ""),
        "PASSWORD": unquote(url.password or ""),
        "HOST": url.hostname or "",
        "PORT": str(url.port or ""),
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            "pool": {"min_size": 1, "max_size": given.database_pool or threads, "timeout": given.database_pool_seconds},
            "application_name": "toolgate",
            # PostgreSQL plans a statement once for a connection, instead of each time.
            "server_side_binding": given.database_prepared,
            "prepare_threshold": 5 if given.database_prepared else None,
            "connect_timeout": given.database_connect_seconds,
            # A server that is gone without a word is noticed within half a minute, not within hours.
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "tcp_user_timeout": 25_000,
            **asked,
            "options": f"{_session(given)} {asked.get('options', '')}".rstrip(),
        },
    }


def _session(given: Settings) -> str:
    """What PostgreSQL holds each connection to. The verbs are written for READ COMMITTED, whatever the server's default is."""
    limits = {
        "statement_timeout": given.database_statement_seconds,
        "lock_timeout": given.database_lock_seconds,
        "idle_in_transaction_session_timeout": given.database_idle_seconds,
    }
    milliseconds = [f"-c {name}={math.ceil(seconds * 1000)}" for name, seconds in limits.items()]
    return " ".join([r"-c default_transaction_isolation=read\ committed", *milliseconds])


def _host_of(url: str) -> list[str]:
    """The host name as Django compares it; none in what is no address, which `check` names."""
    host = urlsplit(url).hostname
    return [f"[{host}]" if ":" in host else host] if host else []


settings = Settings()
IS_EMBEDDED = settings.mode == "embedded"
IS_SECURE = settings.public_url.startswith("https://")

SECRET_KEY = settings.signing_key()
DEBUG = settings.debug
PUBLIC_URL = settings.public_url.rstrip("/")
ALLOWED_HOSTS = [*settings.allowed_hosts, *_host_of(PUBLIC_URL)]
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "toolgate",
    "approvals",
]
MIDDLEWARE = [
    "toolgate.health.HealthChecks",
    "toolgate.middleware.MetricsByToken",
    "toolgate.middleware.RequestId",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "toolgate.middleware.ContentSecurityPolicy",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "toolgate.urls"
WSGI_APPLICATION = "toolgate.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "libraries": {"review": "approvals.review.tags"},
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

DATABASES = {"default": settings.database()}
AUTH_USER_MODEL = "approvals.Person"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "review:login"
LOGIN_REDIRECT_URL = "review:inbox"
LOGOUT_REDIRECT_URL = "review:login"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

STATIC_URL = "/static/"
STATIC_ROOT = settings.static_dir or settings.data_dir / "static"
WHITENOISE_USE_FINDERS = settings.static_dir is None
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_AGE = 12 * 60 * 60
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = IS_SECURE
SECURE_SSL_REDIRECT = IS_SECURE
SECURE_HSTS_SECONDS = 365 * 24 * 60 * 60 if IS_SECURE else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = IS_SECURE
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if IS_SECURE else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = settings.max_body_bytes

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "approvals.api.authentication.AgentKeyAuthentication",
        "approvals.api.authentication.PersonalTokenAuthentication",
        "approvals.api.authentication.ReviewerSessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PARSER_CLASSES": ["approvals.api.parsers.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["approvals.api.renderers.ExactJSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "approvals.api.renderers.AlwaysJSON",
    "DEFAULT_METADATA_CLASS": None,
    "EXCEPTION_HANDLER": "approvals.api.problems.answer",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "toolgate",
    "DESCRIPTION": "Human approval between AI agents and the tools that can hurt.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PUBLIC": True,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "ENUM_NAME_OVERRIDES": {
        "Status": "approvals.models.Status",
        "Risk": "approvals.models.Risk",
        "DecisionKind": "approvals.models.DecisionKind",
        "EventKind": "approvals.models.EventKind",
        "PolicyOutcome": "approvals.models.Outcome",
    },
}

TOOLGATE_TOOLS = settings.tools
LEASE = timedelta(seconds=settings.lease_seconds)
SWEEP_EVERY = timedelta(seconds=settings.sweep_seconds)
DISPATCH_AFTER = timedelta(seconds=settings.dispatch_seconds)
MAX_ATTEMPTS = settings.max_attempts
WAIT_LIMIT = settings.wait_limit
METRICS_TOKEN = settings.metrics_token.get_secret_value() if settings.metrics_token else ""
METRICS_KEPT_FOR = timedelta(seconds=3)
PRUNE_AFTER = timedelta(days=settings.prune_days) if settings.prune_days else None
VERIFY_EVERY = timedelta(seconds=settings.verify_seconds)
MAX_DEPTH = settings.max_depth

CELERY_BROKER_URL = "memory://localhost" if IS_EMBEDDED else settings.redis_url
# Polled each 50 ms in memory. On Redis: silence for as long as it takes a person to notice is too long; and what a worker
# held that died is handed out again after the visibility timeout, while the sweep has done so long before.
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = (
    {"polling_interval": 0.05}
    if IS_EMBEDDED
    else {
        "socket_timeout": 5,
        "socket_connect_timeout": 2,
        "socket_keepalive": True,
        "health_check_interval": 10,
        "visibility_timeout": settings.visibility_seconds,
        # A worker that lives looks every 10 seconds for what a lost one left. Unless told, it does at every tenth look only,
        # and a worker that died while it looked keeps all others from it for 5 minutes.
        "unacked_restore_interval": 10,
        "unacked_restore_throttle": 1,
        "unacked_mutex_expire": 10,
    }
)
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker waits for its broker as long as it takes
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_PUBLISH_RETRY = False  # a web request never waits for the broker; the sweep sends what was not sent
CELERY_WORKER_PREFETCH_MULTIPLIER = 1  # a call waits in the queue, where any worker can take it, not with a busy one
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_REDIRECT_STDOUTS = False
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "toolgate.sweep", "schedule": SWEEP_EVERY},
    "prune": {"task": "toolgate.prune", "schedule": timedelta(hours=1)},
    "verify": {"task": "toolgate.verify", "schedule": min(VERIFY_EVERY, timedelta(minutes=1))},  # looks whether it is time
}
Path(STATIC_ROOT).mkdir(parents=True, exist_ok=True)  # whitenoise warns of a folder that is not there
LOGGING_CONFIG = None
logging_settings(settings.log_level or ("WARNING" if IS_EMBEDDED else "INFO"), plain=IS_EMBEDDED)
