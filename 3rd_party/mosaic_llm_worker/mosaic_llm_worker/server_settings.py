"""Settings of the model, its server and the limits of its calls."""

from __future__ import annotations

import re
from typing import Any, Final, Literal
from urllib.parse import parse_qsl, urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from mosaic_llm_worker.chat_servers import extra_body as extra
from mosaic_llm_worker.chat_servers.servers import Failure, Place
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

    client_name: ClientName = Field("openai", title="Provider", description="Whose interface is spoken.")
    model_id: str = Field(
        "",
        title="Model",
        description="As the server calls it; empty: the only one that the server has.",
        max_length=300,
    )
    fallback_models: list[str] = Field(
        default_factory=list[str],
        max_length=10,
        title="Fallback models",
        description="Models of the same provider that are asked in this order where the model cannot answer.",
    )
    fallback_on: list[Failure] = Field(
        ["busy", "failed", "timeout"],
        title="Fall back when",
        description="The failures after which, with all retries, the next model is asked: busy, failed, "
        "timeout, missing (there is no such model), refused (it does not want the request).",
    )
    base_url: str = Field("", title="Base URL", description="Where the server is; empty: the provider's own.")
    api_key: str = Field(
        "",
        title="Key",
        description="Where the key is kept (keyring:NAME or env:NAME); the key itself is never a setting.",
    )
    temperature: float | None = Field(
        0.0, ge=0, le=2, title="Temperature", description="0: the likeliest words; none: the server's own."
    )
    top_p: float | None = Field(
        None,
        gt=0,
        le=1,
        title="Top p",
        description="Words are drawn from the likeliest that have this share of the probability; none: the "
        "server's own. With it, a temperature of 0 is left out, and is the server's own.",
    )
    reasoning_effort: Effort | None = Field(
        None,
        title="Reasoning effort",
        description="How long a reasoning model thinks; none: as it does by itself.",
    )
    reasoning_tokens: int = Field(
        0,
        ge=0,
        le=1_000_000,
        title="Reasoning tokens",
        description="Tokens that it may think for before each reply, beside max_tokens (Anthropic, "
        "OpenRouter); 0: not said.",
    )
    prompt_caching: bool = Field(
        False,
        title="Prompt caching",
        description="Asks Anthropic, also through OpenRouter, to keep what every prompt of an episode begins "
        "with: writing it costs a quarter more, reading it a tenth. Other servers do it by themselves.",
    )
    extra_body: dict[str, Any] = Field(
        default_factory=dict[str, Any],
        title="Extra parameters",
        description="Added to every request as they are; nothing that the worker sets, and no secret.",
    )
    seed: int | None = Field(
        None,
        ge=0,
        lt=2**63,
        title="Seed",
        description="Mixed into the seeds that requests are sent with, which come from episode and step.",
    )
    max_tokens: int = Field(
        512, ge=1, le=1_000_000, title="Max reply tokens", description="Tokens that one reply may have."
    )
    timeout_s: float = Field(
        60.0, gt=0, le=3600, title="Timeout", description="Seconds that one request may take."
    )
    requests_per_minute: int = Field(
        0,
        ge=0,
        le=1_000_000,
        title="Requests a minute",
        description="To this model, by all on this machine that ask it with a limit, and by all parts of a "
        "run that is played on several; 0: no limit.",
    )
    retries: int = Field(
        4,
        ge=0,
        le=20,
        title="Retries",
        description="How often a request is sent again when the server is busy or does not answer.",
    )
    token_budget: int = Field(
        0,
        ge=0,
        title="Token budget",
        description="Tokens of this slot, in and out together, in the whole run; 0: no limit.",
    )
    money_budget_usd: float = Field(
        0.0, ge=0, title="Money budget", description="US dollars of this slot in the whole run; 0: no limit."
    )
    episode_token_limit: int = Field(
        0,
        ge=0,
        title="Tokens an episode",
        description="Tokens of this slot in one episode, which ends there, truncated; 0: no limit.",
    )
    episode_cost_limit_usd: float = Field(
        0.0,
        ge=0,
        title="Cost of an episode",
        description="US dollars of this slot in one episode, which ends there, truncated; 0: no limit.",
    )
    episode_time_limit_s: float = Field(
        0.0,
        ge=0,
        title="Time of an episode",
        description="Seconds after which the slot makes no further call and the episode ends, truncated; "
        "0: no limit.",
    )
    cassette: Literal["record", "replay", "resume", "off"] = Field(
        "record",
        title="Recording",
        description="record: prompts and replies are kept in calls.jsonl; replay: replies come from "
        "cassette_file and no server is asked; resume: those that it holds come from there, others are asked "
        "for; off: only numbers are kept.",
    )
    cassette_file: str = Field(
        "", title="Recorded calls", description="The calls.jsonl that is replayed.", max_length=4096
    )
    dry_run: bool = Field(
        False, title="Dry run", description="Write down the prompt and its estimated price; ask no model."
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
            raise ValueError("is no address: write it as http://host:port/v1") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("must begin with http:// or https:// and name a host")
        if parts.username or parts.password or parts.fragment:
            raise ValueError(
                "must hold neither a name, a password nor anything behind '#': keys go to api_key"
            )
        for name, given in parse_qsl(parts.query, keep_blank_values=True):
            if is_secret_key(name) or is_key(given) or name.lower() in _SIGNED:
                raise ValueError("holds something secret behind '?': keys go to api_key")
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
            raise ValueError("fallback_models names other models than model_id, each once")
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
            return "openrouter takes either reasoning_effort or reasoning_tokens: give one of the two"
        if client != "anthropic":
            return ""
        if effort and effort not in _ANTHROPIC_EFFORTS:
            return f"anthropic knows no reasoning_effort {effort!r}: it has low, medium, high, xhigh and max"
        if tokens and tokens < _LEAST_THOUGHT:
            return f"anthropic takes reasoning_tokens from {_LEAST_THOUGHT}"
        if tokens and self.temperature not in (None, 0.0, 1.0):
            return "anthropic thinks at its own temperature alone: leave temperature out"
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


def call_seed(decision_seed: int, place: Place) -> int:
    """Return the seed of one request: 31 bits from the decision's seed and the place of the call."""
    step = (place.step << 20) | ((place.attempt & 0x3FF) << 10) | (place.turn & 0x3FF)
    return bits_of(decision_seed, step, _SEED_STREAM) >> 33


def said(error: ValidationError) -> str:
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
