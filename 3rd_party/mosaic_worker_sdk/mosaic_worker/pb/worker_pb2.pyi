from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ToWorker(_message.Message):
    __slots__ = ("hello", "load", "work", "human", "shutdown", "noted")
    HELLO_FIELD_NUMBER: _ClassVar[int]
    LOAD_FIELD_NUMBER: _ClassVar[int]
    WORK_FIELD_NUMBER: _ClassVar[int]
    HUMAN_FIELD_NUMBER: _ClassVar[int]
    SHUTDOWN_FIELD_NUMBER: _ClassVar[int]
    NOTED_FIELD_NUMBER: _ClassVar[int]
    hello: Hello
    load: Load
    work: Work
    human: HumanAction
    shutdown: Shutdown
    noted: Noted
    def __init__(self, hello: _Optional[_Union[Hello, _Mapping]] = ..., load: _Optional[_Union[Load, _Mapping]] = ..., work: _Optional[_Union[Work, _Mapping]] = ..., human: _Optional[_Union[HumanAction, _Mapping]] = ..., shutdown: _Optional[_Union[Shutdown, _Mapping]] = ..., noted: _Optional[_Union[Noted, _Mapping]] = ...) -> None: ...

class FromWorker(_message.Message):
    __slots__ = ("welcome", "loaded", "replies", "ask_human", "alive", "log", "failed", "call", "announce")
    WELCOME_FIELD_NUMBER: _ClassVar[int]
    LOADED_FIELD_NUMBER: _ClassVar[int]
    REPLIES_FIELD_NUMBER: _ClassVar[int]
    ASK_HUMAN_FIELD_NUMBER: _ClassVar[int]
    ALIVE_FIELD_NUMBER: _ClassVar[int]
    LOG_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    CALL_FIELD_NUMBER: _ClassVar[int]
    ANNOUNCE_FIELD_NUMBER: _ClassVar[int]
    welcome: Welcome
    loaded: Loaded
    replies: Replies
    ask_human: HumanRequest
    alive: Alive
    log: Log
    failed: Failed
    call: Call
    announce: Announce
    def __init__(self, welcome: _Optional[_Union[Welcome, _Mapping]] = ..., loaded: _Optional[_Union[Loaded, _Mapping]] = ..., replies: _Optional[_Union[Replies, _Mapping]] = ..., ask_human: _Optional[_Union[HumanRequest, _Mapping]] = ..., alive: _Optional[_Union[Alive, _Mapping]] = ..., log: _Optional[_Union[Log, _Mapping]] = ..., failed: _Optional[_Union[Failed, _Mapping]] = ..., call: _Optional[_Union[Call, _Mapping]] = ..., announce: _Optional[_Union[Announce, _Mapping]] = ...) -> None: ...

class Hello(_message.Message):
    __slots__ = ("protocol", "host", "heartbeat_s", "token", "notes")
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_S_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    protocol: int
    host: str
    heartbeat_s: float
    token: str
    notes: bool
    def __init__(self, protocol: _Optional[int] = ..., host: _Optional[str] = ..., heartbeat_s: _Optional[float] = ..., token: _Optional[str] = ..., notes: bool = ...) -> None: ...

class Welcome(_message.Message):
    __slots__ = ("protocol", "worker", "version", "sdk", "pid", "wants_results", "in_flight", "alive", "inputs", "announces")
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    WORKER_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    SDK_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    WANTS_RESULTS_FIELD_NUMBER: _ClassVar[int]
    IN_FLIGHT_FIELD_NUMBER: _ClassVar[int]
    ALIVE_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    ANNOUNCES_FIELD_NUMBER: _ClassVar[int]
    protocol: int
    worker: str
    version: str
    sdk: str
    pid: int
    wants_results: bool
    in_flight: int
    alive: bool
    inputs: _containers.RepeatedScalarFieldContainer[str]
    announces: bool
    def __init__(self, protocol: _Optional[int] = ..., worker: _Optional[str] = ..., version: _Optional[str] = ..., sdk: _Optional[str] = ..., pid: _Optional[int] = ..., wants_results: bool = ..., in_flight: _Optional[int] = ..., alive: bool = ..., inputs: _Optional[_Iterable[str]] = ..., announces: bool = ...) -> None: ...

class Load(_message.Message):
    __slots__ = ("slot", "agent", "env", "observation_space", "action_space", "settings", "action_meanings", "noop", "secrets", "deterministic", "briefing", "team", "teammates", "opponents", "seats", "deadline_s", "simulator", "options")
    class SecretsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    SLOT_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    ENV_FIELD_NUMBER: _ClassVar[int]
    OBSERVATION_SPACE_FIELD_NUMBER: _ClassVar[int]
    ACTION_SPACE_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    ACTION_MEANINGS_FIELD_NUMBER: _ClassVar[int]
    NOOP_FIELD_NUMBER: _ClassVar[int]
    SECRETS_FIELD_NUMBER: _ClassVar[int]
    DETERMINISTIC_FIELD_NUMBER: _ClassVar[int]
    BRIEFING_FIELD_NUMBER: _ClassVar[int]
    TEAM_FIELD_NUMBER: _ClassVar[int]
    TEAMMATES_FIELD_NUMBER: _ClassVar[int]
    OPPONENTS_FIELD_NUMBER: _ClassVar[int]
    SEATS_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_S_FIELD_NUMBER: _ClassVar[int]
    SIMULATOR_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    slot: int
    agent: str
    env: str
    observation_space: str
    action_space: str
    settings: str
    action_meanings: _containers.RepeatedScalarFieldContainer[str]
    noop: int
    secrets: _containers.ScalarMap[str, str]
    deterministic: bool
    briefing: str
    team: str
    teammates: _containers.RepeatedScalarFieldContainer[str]
    opponents: _containers.RepeatedScalarFieldContainer[str]
    seats: _containers.RepeatedCompositeFieldContainer[Seat]
    deadline_s: float
    simulator: str
    options: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, slot: _Optional[int] = ..., agent: _Optional[str] = ..., env: _Optional[str] = ..., observation_space: _Optional[str] = ..., action_space: _Optional[str] = ..., settings: _Optional[str] = ..., action_meanings: _Optional[_Iterable[str]] = ..., noop: _Optional[int] = ..., secrets: _Optional[_Mapping[str, str]] = ..., deterministic: bool = ..., briefing: _Optional[str] = ..., team: _Optional[str] = ..., teammates: _Optional[_Iterable[str]] = ..., opponents: _Optional[_Iterable[str]] = ..., seats: _Optional[_Iterable[_Union[Seat, _Mapping]]] = ..., deadline_s: _Optional[float] = ..., simulator: _Optional[str] = ..., options: _Optional[_Iterable[str]] = ...) -> None: ...

class Seat(_message.Message):
    __slots__ = ("agent", "briefing", "team", "teammates", "opponents")
    AGENT_FIELD_NUMBER: _ClassVar[int]
    BRIEFING_FIELD_NUMBER: _ClassVar[int]
    TEAM_FIELD_NUMBER: _ClassVar[int]
    TEAMMATES_FIELD_NUMBER: _ClassVar[int]
    OPPONENTS_FIELD_NUMBER: _ClassVar[int]
    agent: str
    briefing: str
    team: str
    teammates: _containers.RepeatedScalarFieldContainer[str]
    opponents: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, agent: _Optional[str] = ..., briefing: _Optional[str] = ..., team: _Optional[str] = ..., teammates: _Optional[_Iterable[str]] = ..., opponents: _Optional[_Iterable[str]] = ...) -> None: ...

class Loaded(_message.Message):
    __slots__ = ("slot", "policy", "error")
    SLOT_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    slot: int
    policy: str
    error: str
    def __init__(self, slot: _Optional[int] = ..., policy: _Optional[str] = ..., error: _Optional[str] = ...) -> None: ...

class Work(_message.Message):
    __slots__ = ("slot", "results", "ends", "starts", "questions")
    SLOT_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    ENDS_FIELD_NUMBER: _ClassVar[int]
    STARTS_FIELD_NUMBER: _ClassVar[int]
    QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    slot: int
    results: Results
    ends: _containers.RepeatedCompositeFieldContainer[End]
    starts: _containers.RepeatedCompositeFieldContainer[Start]
    questions: Questions
    def __init__(self, slot: _Optional[int] = ..., results: _Optional[_Union[Results, _Mapping]] = ..., ends: _Optional[_Iterable[_Union[End, _Mapping]]] = ..., starts: _Optional[_Iterable[_Union[Start, _Mapping]]] = ..., questions: _Optional[_Union[Questions, _Mapping]] = ...) -> None: ...

class Start(_message.Message):
    __slots__ = ("episode", "seed", "agent", "tokens", "usd", "joins", "seat")
    EPISODE_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    USD_FIELD_NUMBER: _ClassVar[int]
    JOINS_FIELD_NUMBER: _ClassVar[int]
    SEAT_FIELD_NUMBER: _ClassVar[int]
    episode: int
    seed: int
    agent: str
    tokens: int
    usd: float
    joins: int
    seat: Seat
    def __init__(self, episode: _Optional[int] = ..., seed: _Optional[int] = ..., agent: _Optional[str] = ..., tokens: _Optional[int] = ..., usd: _Optional[float] = ..., joins: _Optional[int] = ..., seat: _Optional[_Union[Seat, _Mapping]] = ...) -> None: ...

class End(_message.Message):
    __slots__ = ("episode", "total_reward", "steps", "status")
    EPISODE_FIELD_NUMBER: _ClassVar[int]
    TOTAL_REWARD_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    episode: int
    total_reward: float
    steps: int
    status: str
    def __init__(self, episode: _Optional[int] = ..., total_reward: _Optional[float] = ..., steps: _Optional[int] = ..., status: _Optional[str] = ...) -> None: ...

class Column(_message.Message):
    __slots__ = ("data", "sizes")
    DATA_FIELD_NUMBER: _ClassVar[int]
    SIZES_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    sizes: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, data: _Optional[bytes] = ..., sizes: _Optional[_Iterable[int]] = ...) -> None: ...

class Questions(_message.Message):
    __slots__ = ("ids", "episodes", "steps", "observation", "masks", "attempts", "reasons", "seeds", "texts", "images", "messages", "choices", "facts", "states")
    IDS_FIELD_NUMBER: _ClassVar[int]
    EPISODES_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    OBSERVATION_FIELD_NUMBER: _ClassVar[int]
    MASKS_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    SEEDS_FIELD_NUMBER: _ClassVar[int]
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    IMAGES_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    CHOICES_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    ids: _containers.RepeatedScalarFieldContainer[int]
    episodes: _containers.RepeatedScalarFieldContainer[int]
    steps: _containers.RepeatedScalarFieldContainer[int]
    observation: _containers.RepeatedCompositeFieldContainer[Column]
    masks: bytes
    attempts: _containers.RepeatedScalarFieldContainer[int]
    reasons: _containers.RepeatedScalarFieldContainer[str]
    seeds: _containers.RepeatedScalarFieldContainer[int]
    texts: _containers.RepeatedScalarFieldContainer[str]
    images: _containers.RepeatedCompositeFieldContainer[Image]
    messages: _containers.RepeatedCompositeFieldContainer[Messages]
    choices: _containers.RepeatedCompositeFieldContainer[Choices]
    facts: _containers.RepeatedCompositeFieldContainer[Facts]
    states: _containers.RepeatedCompositeFieldContainer[State]
    def __init__(self, ids: _Optional[_Iterable[int]] = ..., episodes: _Optional[_Iterable[int]] = ..., steps: _Optional[_Iterable[int]] = ..., observation: _Optional[_Iterable[_Union[Column, _Mapping]]] = ..., masks: _Optional[bytes] = ..., attempts: _Optional[_Iterable[int]] = ..., reasons: _Optional[_Iterable[str]] = ..., seeds: _Optional[_Iterable[int]] = ..., texts: _Optional[_Iterable[str]] = ..., images: _Optional[_Iterable[_Union[Image, _Mapping]]] = ..., messages: _Optional[_Iterable[_Union[Messages, _Mapping]]] = ..., choices: _Optional[_Iterable[_Union[Choices, _Mapping]]] = ..., facts: _Optional[_Iterable[_Union[Facts, _Mapping]]] = ..., states: _Optional[_Iterable[_Union[State, _Mapping]]] = ...) -> None: ...

class Image(_message.Message):
    __slots__ = ("data", "mime")
    DATA_FIELD_NUMBER: _ClassVar[int]
    MIME_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    mime: str
    def __init__(self, data: _Optional[bytes] = ..., mime: _Optional[str] = ...) -> None: ...

class Messages(_message.Message):
    __slots__ = ("texts",)
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    texts: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, texts: _Optional[_Iterable[str]] = ...) -> None: ...

class Facts(_message.Message):
    __slots__ = ("facts",)
    FACTS_FIELD_NUMBER: _ClassVar[int]
    facts: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, facts: _Optional[_Iterable[str]] = ...) -> None: ...

class State(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, values: _Optional[_Iterable[float]] = ...) -> None: ...

class Choices(_message.Message):
    __slots__ = ("actions", "words")
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    WORDS_FIELD_NUMBER: _ClassVar[int]
    actions: _containers.RepeatedScalarFieldContainer[int]
    words: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, actions: _Optional[_Iterable[int]] = ..., words: _Optional[_Iterable[str]] = ...) -> None: ...

class Results(_message.Message):
    __slots__ = ("episodes", "steps", "observation", "action", "rewards", "terminated", "truncated")
    EPISODES_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    OBSERVATION_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    REWARDS_FIELD_NUMBER: _ClassVar[int]
    TERMINATED_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    episodes: _containers.RepeatedScalarFieldContainer[int]
    steps: _containers.RepeatedScalarFieldContainer[int]
    observation: _containers.RepeatedCompositeFieldContainer[Column]
    action: _containers.RepeatedCompositeFieldContainer[Column]
    rewards: _containers.RepeatedScalarFieldContainer[float]
    terminated: _containers.RepeatedScalarFieldContainer[bool]
    truncated: _containers.RepeatedScalarFieldContainer[bool]
    def __init__(self, episodes: _Optional[_Iterable[int]] = ..., steps: _Optional[_Iterable[int]] = ..., observation: _Optional[_Iterable[_Union[Column, _Mapping]]] = ..., action: _Optional[_Iterable[_Union[Column, _Mapping]]] = ..., rewards: _Optional[_Iterable[float]] = ..., terminated: _Optional[_Iterable[bool]] = ..., truncated: _Optional[_Iterable[bool]] = ...) -> None: ...

class Replies(_message.Message):
    __slots__ = ("slot", "ids", "action", "values", "extras", "problems")
    SLOT_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    EXTRAS_FIELD_NUMBER: _ClassVar[int]
    PROBLEMS_FIELD_NUMBER: _ClassVar[int]
    slot: int
    ids: _containers.RepeatedScalarFieldContainer[int]
    action: _containers.RepeatedCompositeFieldContainer[Column]
    values: _containers.RepeatedScalarFieldContainer[float]
    extras: _containers.RepeatedCompositeFieldContainer[Extra]
    problems: _containers.RepeatedCompositeFieldContainer[Problem]
    def __init__(self, slot: _Optional[int] = ..., ids: _Optional[_Iterable[int]] = ..., action: _Optional[_Iterable[_Union[Column, _Mapping]]] = ..., values: _Optional[_Iterable[float]] = ..., extras: _Optional[_Iterable[_Union[Extra, _Mapping]]] = ..., problems: _Optional[_Iterable[_Union[Problem, _Mapping]]] = ...) -> None: ...

class Extra(_message.Message):
    __slots__ = ("id", "json")
    ID_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    id: int
    json: str
    def __init__(self, id: _Optional[int] = ..., json: _Optional[str] = ...) -> None: ...

class Problem(_message.Message):
    __slots__ = ("id", "reason", "raw", "fatal", "limit")
    ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    RAW_FIELD_NUMBER: _ClassVar[int]
    FATAL_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    id: int
    reason: str
    raw: str
    fatal: bool
    limit: str
    def __init__(self, id: _Optional[int] = ..., reason: _Optional[str] = ..., raw: _Optional[str] = ..., fatal: bool = ..., limit: _Optional[str] = ...) -> None: ...

class HumanRequest(_message.Message):
    __slots__ = ("slot", "id")
    SLOT_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    slot: int
    id: int
    def __init__(self, slot: _Optional[int] = ..., id: _Optional[int] = ...) -> None: ...

class HumanAction(_message.Message):
    __slots__ = ("slot", "id", "action")
    SLOT_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    slot: int
    id: int
    action: _containers.RepeatedCompositeFieldContainer[Column]
    def __init__(self, slot: _Optional[int] = ..., id: _Optional[int] = ..., action: _Optional[_Iterable[_Union[Column, _Mapping]]] = ...) -> None: ...

class Alive(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Log(_message.Message):
    __slots__ = ("level", "logger", "text")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    LOGGER_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    level: int
    logger: str
    text: str
    def __init__(self, level: _Optional[int] = ..., logger: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class Failed(_message.Message):
    __slots__ = ("reason", "traceback")
    REASON_FIELD_NUMBER: _ClassVar[int]
    TRACEBACK_FIELD_NUMBER: _ClassVar[int]
    reason: str
    traceback: str
    def __init__(self, reason: _Optional[str] = ..., traceback: _Optional[str] = ...) -> None: ...

class Call(_message.Message):
    __slots__ = ("json",)
    JSON_FIELD_NUMBER: _ClassVar[int]
    json: str
    def __init__(self, json: _Optional[str] = ...) -> None: ...

class Announce(_message.Message):
    __slots__ = ("number", "slot", "episode", "tokens", "usd")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    SLOT_FIELD_NUMBER: _ClassVar[int]
    EPISODE_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    USD_FIELD_NUMBER: _ClassVar[int]
    number: int
    slot: int
    episode: int
    tokens: int
    usd: float
    def __init__(self, number: _Optional[int] = ..., slot: _Optional[int] = ..., episode: _Optional[int] = ..., tokens: _Optional[int] = ..., usd: _Optional[float] = ...) -> None: ...

class Noted(_message.Message):
    __slots__ = ("number",)
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    number: int
    def __init__(self, number: _Optional[int] = ...) -> None: ...

class Shutdown(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
