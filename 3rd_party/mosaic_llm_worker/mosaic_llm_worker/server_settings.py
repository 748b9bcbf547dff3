"""Settings of the model, its server and the limits of its calls."""

from __future__ import annotations

import re
from typing import Any, Final, Literal
from urllib.parse import parse_qsl, urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from mosaic_llm_worker.chat_servers import extra_body as extra
from mosaic_llm_worker.chat_servers.servers import CallId, Failure
from mosaic_worker.rng import bits_of
from mosaic_worker.secret_words import is_key, is_secret_key

ClientName = Literal[
    "openai", "openrouter", "vllm", "ollama", "llamacpp", "transformers", "anthropic", "custom"
]

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]

BASE_URLS: Final[dict[str, str]] = {
    "openai": "https://api.openai.com/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "vllm": "http://localhost:8000/v1",
    "ollama": "http://localhost:11434/v1",
    "llamacpp": "http://localhost:8080/v1",
    "transformers": "http://localhost:8000/v1",
    "anthropic": "https://api.anthropic.com/v1",
}
"""Default base URL of each service."""

NEEDS_KEY: Final = frozenset({"openai", "openrouter", "anthropic"})
"""Services that refuse a request without a key."""

THINKS_BY_TOKENS: Final = frozenset({"openrouter", "anthropic"})
"""Services that accept a limit of the tokens for reasoning."""
_LEAST_THOUGHT: Final = 1024
"""Smallest limit of reasoning tokens that Anthropic accepts."""
_ANTHROPIC_EFFORTS: Final = frozenset({"low", "medium", "high", "xhigh", "max"})

_SIGNED: Final = frozenset({"key", "sig", "code", "auth", "subscription-key"})
"""URL parameters that carry a secret although their names do not say so."""
_REFERENCE: Final = re.compile(r"(env|keyring):[A-Za-z_][A-Za-z0-9_.\-]{0,127}")
_SEED_STREAM: Final = 0x6C6C6D  # "llm": other draws from the same (seed, step) are not these


class ServerSettings(BaseModel):
    """Settings of every worker that asks a model of its server."""

    # A refused value is never repeated: it may be a key in the wrong place.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, hide_input_in_errors=True)

    client_name: ClientName = Field(
        "openai", title="Provider", description="Provider of the model, which determines the API of requests."
    )
    model_id: str = Field(
        "",
        title="Model",
        description="Name of the model on the server; empty: the server's only model.",
        max_length=300,
    )
    fallback_models: list[str] = Field(
        default_factory=list[str],
        max_length=10,
        title="Fallback models",
        description="Models of the same provider that are called in this order if the model cannot answer.",
    )
    fallback_on: list[Failure] = Field(
        ["busy", "failed", "timeout"],
        title="Fall back when",
        description="Failures after which, when all retries are used, the next model is called: busy, "
        "failed, timeout, missing (there is no such model), refused (the request is "
        "refused).",
    )
    base_url: str = Field(
        "", title="Base URL", description="Address of the server; empty: the provider's own address."
    )
    api_key: str = Field(
        "",
        title="Key",
        description="Reference to the stored key (keyring:NAME or env:NAME); the key itself is never a "
        "setting.",
    )
    temperature: float | None = Field(
        0.0,
        ge=0,
        le=2,
        title="Temperature",
        description="Temperature of sampling; 0: always the likeliest token; none: the server's default.",
    )
    top_p: float | None = Field(
        None,
        gt=0,
        le=1,
        title="Top p",
        description="Sample from the likeliest tokens that together have this probability; none: the "
        "server's default. A temperature of 0 is then replaced by the server's default.",
    )
    reasoning_effort: Effort | None = Field(
        None,
        title="Reasoning effort",
        description="Reasoning effort of a reasoning model; none: the model's own.",
    )
    reasoning_tokens: int = Field(
        0,
        ge=0,
        le=1_000_000,
        title="Reasoning tokens",
        description="Limit of the reasoning tokens before each reply, in addition to max_tokens "
        "(Anthropic, OpenRouter); 0: the provider's default.",
    )
    prompt_caching: bool = Field(
        False,
        title="Prompt caching",
        description="Let Anthropic (also by OpenRouter) cache the constant beginning of an episode's "
        "prompts: writing costs 25 % more, reading 90 % less. Other servers cache by "
        "themselves.",
    )
    extra_body: dict[str, Any] = Field(
        default_factory=dict[str, Any],
        title="Extra parameters",
        description="Parameters added to every request; not those that the worker sets itself, and no "
        "secrets.",
    )
    seed: int | None = Field(
        None,
        ge=0,
        lt=2**63,
        title="Seed",
        description="Added to the seeds of requests, which also depend on episode and step.",
    )
    max_tokens: int = Field(
        512, ge=1, le=1_000_000, title="Max reply tokens", description="Largest number of tokens of a reply."
    )
    timeout_s: float = Field(
        60.0, gt=0, le=3600, title="Timeout", description="Time limit of a request in seconds."
    )
    requests_per_minute: int = Field(
        0,
        ge=0,
        le=1_000_000,
        title="Requests per minute",
        description="Limit of requests to this model, shared by all slots on this machine and by all "
        "shards of a run; 0: no limit.",
    )
    retries: int = Field(
        4,
        ge=0,
        le=20,
        title="Retries",
        description="Largest number of retries when the server is busy or does not answer.",
    )
    token_budget: int = Field(
        0,
        ge=0,
        title="Token budget",
        description="Limit of this slot's input and output tokens in the whole run; 0: no limit.",
    )
    money_budget_usd: float = Field(
        0.0,
        ge=0,
        title="Money budget",
        description="Limit of this slot's cost in the whole run, in US dollars; 0: no limit.",
    )
    episode_token_limit: int = Field(
        0,
        ge=0,
        title="Tokens per episode",
        description="Tokens of this slot at which an episode is truncated; 0: no limit.",
    )
    episode_cost_limit_usd: float = Field(
        0.0,
        ge=0,
        title="Cost per episode",
        description="Cost of this slot in US dollars at which an episode is truncated; 0: no limit.",
    )
    episode_time_limit_s: float = Field(
        0.0,
        ge=0,
        title="Time per episode",
        description="Seconds after which an episode is truncated and the slot makes no further call in "
        "it; 0: no limit.",
    )
    cassette: Literal["record", "replay", "resume", "off"] = Field(
        "record",
        title="Recording",
        description="record: prompts and replies are recorded in calls.jsonl; replay: replies come from "
        "cassette_file, and no request is sent; resume: as replay, but requests without a "
        "recorded reply are sent; off: only numbers are recorded.",
    )
    cassette_file: str = Field(
        "", title="Recorded calls", description="File calls.jsonl of the run to replay.", max_length=4096
    )
    dry_run: bool = Field(
        False,
        title="Dry run",
        description="Record the prompts and their estimated price without calling a model.",
    )

    @field_validator("base_url")
    @classmethod
    def _address(cls, value: str) -> str:
        if not value:
            return value
        try:
            parts = urlsplit(value)
            _ = parts.port
        except ValueError:
            raise ValueError("is not a valid address: write it as http://host:port/v1") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("must begin with http:// or https:// and name a host")
        if parts.username or parts.password or parts.fragment:
            raise ValueError(
                "must contain no user name, no password and no fragment ('#'): keys go to api_key"
            )
        for name, given in parse_qsl(parts.query, keep_blank_values=True):
            if is_secret_key(name) or is_key(given) or name.lower() in _SIGNED:
                raise ValueError("contains a secret after '?': keys go to api_key")
        base, _, query = value.partition("?")
        return f"{base.rstrip('/')}?{query}" if query else base.rstrip("/")

    @field_validator("api_key")
    @classmethod
    def _only_a_reference(cls, value: str) -> str:
        if value in ("", "EMPTY") or _REFERENCE.fullmatch(value):
            return value
        raise ValueError("must be a reference (keyring:NAME or env:NAME), never the key itself")

    @model_validator(mode="after")
    def _together(self) -> ServerSettings:
        if self.client_name == "custom" and not self.base_url:
            raise ValueError("client_name 'custom' needs base_url, such as http://localhost:8000/v1")
        if self.cassette in ("replay", "resume") and not self.cassette_file:
            raise ValueError(f"cassette {self.cassette!r} needs cassette_file, the calls.jsonl of a run")
        models = [self.model_id, *self.fallback_models]
        if self.fallback_models and (not all(models) or len(set(models)) < len(models)):
            raise ValueError("fallback_models must name other models than model_id, each once")
        if problem := self._thinking_problem():
            raise ValueError(problem)
        reasons = bool(self.reasoning_effort or self.reasoning_tokens)
        if problem := extra.wrong(self.extra_body, reasons=reasons):
            raise ValueError(f"extra_body: {problem}")
        return self

    def _thinking_problem(self) -> str:
        client, effort, tokens = self.client_name, self.reasoning_effort, self.reasoning_tokens
        if tokens and client not in THINKS_BY_TOKENS:
            return f"reasoning_tokens cannot be said to {client}: set reasoning_effort instead"
        if client == "openrouter" and tokens and effort:
            return "openrouter accepts either reasoning_effort or reasoning_tokens: set only one of them"
        if client != "anthropic":
            return ""
        if effort and effort not in _ANTHROPIC_EFFORTS:
            return f"anthropic knows no reasoning_effort {effort!r}: it has low, medium, high, xhigh and max"
        if tokens and tokens < _LEAST_THOUGHT:
            return f"anthropic takes reasoning_tokens from {_LEAST_THOUGHT}"
        if tokens and self.temperature not in (None, 0.0, 1.0):
            return "anthropic reasons only at its default temperature: leave temperature out"
        return ""

    @property
    def sent_temperature(self) -> float | None:
        """Temperature of the request; ``None`` for the server's default."""
        if self.top_p is not None and not self.temperature:
            return None  # at 0 only the most likely token is left, and top_p would have no effect
        return self.temperature

    @property
    def longest_reply(self) -> int:
        """Largest number of tokens of a reply, including reasoning."""
        return self.max_tokens + self.reasoning_tokens

    @property
    def models(self) -> tuple[str, ...]:
        """The model, then the fallback models that are called if it cannot answer."""
        return (self.model_id, *self.fallback_models)

    @property
    def url(self) -> str:
        """Base URL for requests, without a slash at the end."""
        return self.base_url or BASE_URLS[self.client_name]

    @property
    def asks_server(self) -> bool:
        """Whether requests are sent to the server: not in a dry run, not in a replay."""
        return not self.dry_run and self.cassette != "replay"


def call_seed(decision_seed: int, place: CallId) -> int:
    """Return the seed of one request: 31 bits from the decision's seed and the place of the call."""
    step = (place.step << 20) | ((place.attempt & 0x3FF) << 10) | (place.turn & 0x3FF)
    return bits_of(decision_seed, step, _SEED_STREAM) >> 33


def errors_sentence(error: ValidationError) -> str:
    """Return the errors of settings as one sentence that never repeats a value."""
    return "; ".join(
        _problem_words(dict(problem)) for problem in error.errors(include_input=False, include_url=False)
    )


def _problem_words(problem: dict[str, Any]) -> str:
    place = ".".join(str(part) for part in problem["loc"])
    message = str(problem["msg"]).removeprefix("Value error, ")
    if problem["type"] == "extra_forbidden":
        return f"there is no setting {place!r}"
    return f"{place}: {message}" if place else message
