from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Greeting(_message.Message):
    __slots__ = ("protocol", "version")
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    protocol: int
    version: str
    def __init__(self, protocol: _Optional[int] = ..., version: _Optional[str] = ...) -> None: ...

class Done(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class PauseRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ResumeRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class StepRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class AbortRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class LaunchRequest(_message.Message):
    __slots__ = ("operator", "concurrency", "max_steps", "observations", "secrets", "live")
    class SecretsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    OPERATOR_FIELD_NUMBER: _ClassVar[int]
    CONCURRENCY_FIELD_NUMBER: _ClassVar[int]
    MAX_STEPS_FIELD_NUMBER: _ClassVar[int]
    OBSERVATIONS_FIELD_NUMBER: _ClassVar[int]
    SECRETS_FIELD_NUMBER: _ClassVar[int]
    LIVE_FIELD_NUMBER: _ClassVar[int]
    operator: bytes
    concurrency: int
    max_steps: int
    observations: bool
    secrets: _containers.ScalarMap[str, str]
    live: Live
    def __init__(self, operator: _Optional[bytes] = ..., concurrency: _Optional[int] = ..., max_steps: _Optional[int] = ..., observations: bool = ..., secrets: _Optional[_Mapping[str, str]] = ..., live: _Optional[_Union[Live, _Mapping]] = ...) -> None: ...

class Live(_message.Message):
    __slots__ = ("fps", "render", "first", "everything")
    FPS_FIELD_NUMBER: _ClassVar[int]
    RENDER_FIELD_NUMBER: _ClassVar[int]
    FIRST_FIELD_NUMBER: _ClassVar[int]
    EVERYTHING_FIELD_NUMBER: _ClassVar[int]
    fps: float
    render: str
    first: Episode
    everything: bool
    def __init__(self, fps: _Optional[float] = ..., render: _Optional[str] = ..., first: _Optional[_Union[Episode, _Mapping]] = ..., everything: bool = ...) -> None: ...

class WatchRequest(_message.Message):
    __slots__ = ("live",)
    LIVE_FIELD_NUMBER: _ClassVar[int]
    live: Live
    def __init__(self, live: _Optional[_Union[Live, _Mapping]] = ...) -> None: ...

class Episodes(_message.Message):
    __slots__ = ("episodes",)
    EPISODES_FIELD_NUMBER: _ClassVar[int]
    episodes: _containers.RepeatedCompositeFieldContainer[Episode]
    def __init__(self, episodes: _Optional[_Iterable[_Union[Episode, _Mapping]]] = ...) -> None: ...

class Episode(_message.Message):
    __slots__ = ("index", "seed", "seating", "allowances", "opening", "time_control")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    SEATING_FIELD_NUMBER: _ClassVar[int]
    ALLOWANCES_FIELD_NUMBER: _ClassVar[int]
    OPENING_FIELD_NUMBER: _ClassVar[int]
    TIME_CONTROL_FIELD_NUMBER: _ClassVar[int]
    index: int
    seed: int
    seating: int
    allowances: _containers.RepeatedCompositeFieldContainer[Allowance]
    opening: Opening
    time_control: TimeControl
    def __init__(self, index: _Optional[int] = ..., seed: _Optional[int] = ..., seating: _Optional[int] = ..., allowances: _Optional[_Iterable[_Union[Allowance, _Mapping]]] = ..., opening: _Optional[_Union[Opening, _Mapping]] = ..., time_control: _Optional[_Union[TimeControl, _Mapping]] = ...) -> None: ...

class Opening(_message.Message):
    __slots__ = ("episode", "step")
    EPISODE_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    episode: int
    step: int
    def __init__(self, episode: _Optional[int] = ..., step: _Optional[int] = ...) -> None: ...

class TimeControl(_message.Message):
    __slots__ = ("seconds", "increment_s")
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    INCREMENT_S_FIELD_NUMBER: _ClassVar[int]
    seconds: float
    increment_s: float
    def __init__(self, seconds: _Optional[float] = ..., increment_s: _Optional[float] = ...) -> None: ...

class Allowance(_message.Message):
    __slots__ = ("slot", "tokens", "usd")
    SLOT_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    USD_FIELD_NUMBER: _ClassVar[int]
    slot: str
    tokens: int
    usd: float
    def __init__(self, slot: _Optional[str] = ..., tokens: _Optional[int] = ..., usd: _Optional[float] = ...) -> None: ...

class StopRequest(_message.Message):
    __slots__ = ("in_haste", "rest")
    IN_HASTE_FIELD_NUMBER: _ClassVar[int]
    REST_FIELD_NUMBER: _ClassVar[int]
    in_haste: bool
    rest: bool
    def __init__(self, in_haste: bool = ..., rest: bool = ...) -> None: ...

class Pace(_message.Message):
    __slots__ = ("steps_per_s",)
    STEPS_PER_S_FIELD_NUMBER: _ClassVar[int]
    steps_per_s: float
    def __init__(self, steps_per_s: _Optional[float] = ...) -> None: ...

class SettleRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: int
    def __init__(self, id: _Optional[int] = ...) -> None: ...

class Seen(_message.Message):
    __slots__ = ("looks", "noted")
    LOOKS_FIELD_NUMBER: _ClassVar[int]
    NOTED_FIELD_NUMBER: _ClassVar[int]
    looks: int
    noted: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, looks: _Optional[int] = ..., noted: _Optional[_Iterable[int]] = ...) -> None: ...

class HumanAnswer(_message.Message):
    __slots__ = ("question", "action")
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    question: int
    action: bytes
    def __init__(self, question: _Optional[int] = ..., action: _Optional[bytes] = ...) -> None: ...

class RebindRequest(_message.Message):
    __slots__ = ("agent", "assignment", "secrets", "allowance")
    class SecretsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    AGENT_FIELD_NUMBER: _ClassVar[int]
    ASSIGNMENT_FIELD_NUMBER: _ClassVar[int]
    SECRETS_FIELD_NUMBER: _ClassVar[int]
    ALLOWANCE_FIELD_NUMBER: _ClassVar[int]
    agent: str
    assignment: bytes
    secrets: _containers.ScalarMap[str, str]
    allowance: Allowance
    def __init__(self, agent: _Optional[str] = ..., assignment: _Optional[bytes] = ..., secrets: _Optional[_Mapping[str, str]] = ..., allowance: _Optional[_Union[Allowance, _Mapping]] = ...) -> None: ...

class PresentRequest(_message.Message):
    __slots__ = ("agent",)
    AGENT_FIELD_NUMBER: _ClassVar[int]
    agent: str
    def __init__(self, agent: _Optional[str] = ...) -> None: ...

class Presented(_message.Message):
    __slots__ = ("json",)
    JSON_FIELD_NUMBER: _ClassVar[int]
    json: bytes
    def __init__(self, json: _Optional[bytes] = ...) -> None: ...

class AgentObservation(_message.Message):
    __slots__ = ("agent", "step", "text", "fed", "preprocessing", "legal", "caption", "picture")
    AGENT_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    FED_FIELD_NUMBER: _ClassVar[int]
    PREPROCESSING_FIELD_NUMBER: _ClassVar[int]
    LEGAL_FIELD_NUMBER: _ClassVar[int]
    CAPTION_FIELD_NUMBER: _ClassVar[int]
    PICTURE_FIELD_NUMBER: _ClassVar[int]
    agent: str
    step: int
    text: str
    fed: str
    preprocessing: str
    legal: _containers.RepeatedScalarFieldContainer[str]
    caption: str
    picture: Pixels
    def __init__(self, agent: _Optional[str] = ..., step: _Optional[int] = ..., text: _Optional[str] = ..., fed: _Optional[str] = ..., preprocessing: _Optional[str] = ..., legal: _Optional[_Iterable[str]] = ..., caption: _Optional[str] = ..., picture: _Optional[_Union[Pixels, _Mapping]] = ...) -> None: ...

class Compiling(_message.Message):
    __slots__ = ("title", "functions", "total")
    TITLE_FIELD_NUMBER: _ClassVar[int]
    FUNCTIONS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    title: str
    functions: _containers.RepeatedScalarFieldContainer[str]
    total: int
    def __init__(self, title: _Optional[str] = ..., functions: _Optional[_Iterable[str]] = ..., total: _Optional[int] = ...) -> None: ...

class Ready(_message.Message):
    __slots__ = ("pid", "players", "concurrency", "versions", "actions", "renamed", "seats", "announcing")
    PID_FIELD_NUMBER: _ClassVar[int]
    PLAYERS_FIELD_NUMBER: _ClassVar[int]
    CONCURRENCY_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    RENAMED_FIELD_NUMBER: _ClassVar[int]
    SEATS_FIELD_NUMBER: _ClassVar[int]
    ANNOUNCING_FIELD_NUMBER: _ClassVar[int]
    pid: int
    players: _containers.RepeatedCompositeFieldContainer[Player]
    concurrency: int
    versions: _containers.RepeatedCompositeFieldContainer[NamedText]
    actions: _containers.RepeatedCompositeFieldContainer[NamedWords]
    renamed: _containers.RepeatedCompositeFieldContainer[NamedWords]
    seats: _containers.RepeatedCompositeFieldContainer[NamedText]
    announcing: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, pid: _Optional[int] = ..., players: _Optional[_Iterable[_Union[Player, _Mapping]]] = ..., concurrency: _Optional[int] = ..., versions: _Optional[_Iterable[_Union[NamedText, _Mapping]]] = ..., actions: _Optional[_Iterable[_Union[NamedWords, _Mapping]]] = ..., renamed: _Optional[_Iterable[_Union[NamedWords, _Mapping]]] = ..., seats: _Optional[_Iterable[_Union[NamedText, _Mapping]]] = ..., announcing: _Optional[_Iterable[str]] = ...) -> None: ...

class Player(_message.Message):
    __slots__ = ("slot", "worker_id", "worker_type", "policy", "version")
    SLOT_FIELD_NUMBER: _ClassVar[int]
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    WORKER_TYPE_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    slot: str
    worker_id: str
    worker_type: str
    policy: str
    version: str
    def __init__(self, slot: _Optional[str] = ..., worker_id: _Optional[str] = ..., worker_type: _Optional[str] = ..., policy: _Optional[str] = ..., version: _Optional[str] = ...) -> None: ...

class NamedText(_message.Message):
    __slots__ = ("name", "text")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    name: str
    text: str
    def __init__(self, name: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class NamedWords(_message.Message):
    __slots__ = ("name", "words")
    NAME_FIELD_NUMBER: _ClassVar[int]
    WORDS_FIELD_NUMBER: _ClassVar[int]
    name: str
    words: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., words: _Optional[_Iterable[str]] = ...) -> None: ...

class NamedNumber(_message.Message):
    __slots__ = ("name", "number")
    NAME_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    name: str
    number: float
    def __init__(self, name: _Optional[str] = ..., number: _Optional[float] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ("news", "call", "log", "broken", "view", "question", "withdrawn", "retried", "settled", "compiling", "thought", "announced")
    NEWS_FIELD_NUMBER: _ClassVar[int]
    CALL_FIELD_NUMBER: _ClassVar[int]
    LOG_FIELD_NUMBER: _ClassVar[int]
    BROKEN_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    WITHDRAWN_FIELD_NUMBER: _ClassVar[int]
    RETRIED_FIELD_NUMBER: _ClassVar[int]
    SETTLED_FIELD_NUMBER: _ClassVar[int]
    COMPILING_FIELD_NUMBER: _ClassVar[int]
    THOUGHT_FIELD_NUMBER: _ClassVar[int]
    ANNOUNCED_FIELD_NUMBER: _ClassVar[int]
    news: News
    call: PaidCall
    log: LogLine
    broken: Broken
    view: View
    question: Question
    withdrawn: Withdrawn
    retried: Retried
    settled: Settled
    compiling: Compiling
    thought: Thought
    announced: AnnouncedRequest
    def __init__(self, news: _Optional[_Union[News, _Mapping]] = ..., call: _Optional[_Union[PaidCall, _Mapping]] = ..., log: _Optional[_Union[LogLine, _Mapping]] = ..., broken: _Optional[_Union[Broken, _Mapping]] = ..., view: _Optional[_Union[View, _Mapping]] = ..., question: _Optional[_Union[Question, _Mapping]] = ..., withdrawn: _Optional[_Union[Withdrawn, _Mapping]] = ..., retried: _Optional[_Union[Retried, _Mapping]] = ..., settled: _Optional[_Union[Settled, _Mapping]] = ..., compiling: _Optional[_Union[Compiling, _Mapping]] = ..., thought: _Optional[_Union[Thought, _Mapping]] = ..., announced: _Optional[_Union[AnnouncedRequest, _Mapping]] = ...) -> None: ...

class Settled(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: int
    def __init__(self, id: _Optional[int] = ...) -> None: ...

class News(_message.Message):
    __slots__ = ("finished", "live", "steps")
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    LIVE_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    finished: _containers.RepeatedCompositeFieldContainer[Finished]
    live: int
    steps: int
    def __init__(self, finished: _Optional[_Iterable[_Union[Finished, _Mapping]]] = ..., live: _Optional[int] = ..., steps: _Optional[int] = ...) -> None: ...

class Finished(_message.Message):
    __slots__ = ("index", "steps", "episode", "status", "unplayed")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    EPISODE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    UNPLAYED_FIELD_NUMBER: _ClassVar[int]
    index: int
    steps: bytes
    episode: bytes
    status: str
    unplayed: bool
    def __init__(self, index: _Optional[int] = ..., steps: _Optional[bytes] = ..., episode: _Optional[bytes] = ..., status: _Optional[str] = ..., unplayed: bool = ...) -> None: ...

class Retried(_message.Message):
    __slots__ = ("index", "reason", "lost")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    LOST_FIELD_NUMBER: _ClassVar[int]
    index: int
    reason: str
    lost: str
    def __init__(self, index: _Optional[int] = ..., reason: _Optional[str] = ..., lost: _Optional[str] = ...) -> None: ...

class PaidCall(_message.Message):
    __slots__ = ("json",)
    JSON_FIELD_NUMBER: _ClassVar[int]
    json: str
    def __init__(self, json: _Optional[str] = ...) -> None: ...

class AnnouncedRequest(_message.Message):
    __slots__ = ("number", "episode", "most")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    EPISODE_FIELD_NUMBER: _ClassVar[int]
    MOST_FIELD_NUMBER: _ClassVar[int]
    number: int
    episode: int
    most: Allowance
    def __init__(self, number: _Optional[int] = ..., episode: _Optional[int] = ..., most: _Optional[_Union[Allowance, _Mapping]] = ...) -> None: ...

class Thought(_message.Message):
    __slots__ = ("json",)
    JSON_FIELD_NUMBER: _ClassVar[int]
    json: bytes
    def __init__(self, json: _Optional[bytes] = ...) -> None: ...

class LogLine(_message.Message):
    __slots__ = ("level", "logger", "text")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    LOGGER_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    level: int
    logger: str
    text: str
    def __init__(self, level: _Optional[int] = ..., logger: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class Broken(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class View(_message.Message):
    __slots__ = ("episode", "seed", "step", "agents", "turn", "over", "error", "scores", "outcome", "board", "text", "picture", "frame", "kept_from", "seen_from", "sent_ns", "pointing", "result", "moves")
    EPISODE_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    AGENTS_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    OVER_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    BOARD_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    PICTURE_FIELD_NUMBER: _ClassVar[int]
    FRAME_FIELD_NUMBER: _ClassVar[int]
    KEPT_FROM_FIELD_NUMBER: _ClassVar[int]
    SEEN_FROM_FIELD_NUMBER: _ClassVar[int]
    SENT_NS_FIELD_NUMBER: _ClassVar[int]
    POINTING_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    episode: int
    seed: int
    step: int
    agents: _containers.RepeatedCompositeFieldContainer[AgentView]
    turn: _containers.RepeatedScalarFieldContainer[str]
    over: str
    error: str
    scores: Scores
    outcome: Outcomes
    board: Board
    text: str
    picture: int
    frame: Frame
    kept_from: _containers.RepeatedScalarFieldContainer[str]
    seen_from: _containers.RepeatedScalarFieldContainer[str]
    sent_ns: int
    pointing: Pointing
    result: str
    moves: _containers.RepeatedCompositeFieldContainer[NamedText]
    def __init__(self, episode: _Optional[int] = ..., seed: _Optional[int] = ..., step: _Optional[int] = ..., agents: _Optional[_Iterable[_Union[AgentView, _Mapping]]] = ..., turn: _Optional[_Iterable[str]] = ..., over: _Optional[str] = ..., error: _Optional[str] = ..., scores: _Optional[_Union[Scores, _Mapping]] = ..., outcome: _Optional[_Union[Outcomes, _Mapping]] = ..., board: _Optional[_Union[Board, _Mapping]] = ..., text: _Optional[str] = ..., picture: _Optional[int] = ..., frame: _Optional[_Union[Frame, _Mapping]] = ..., kept_from: _Optional[_Iterable[str]] = ..., seen_from: _Optional[_Iterable[str]] = ..., sent_ns: _Optional[int] = ..., pointing: _Optional[_Union[Pointing, _Mapping]] = ..., result: _Optional[str] = ..., moves: _Optional[_Iterable[_Union[NamedText, _Mapping]]] = ...) -> None: ...

class Scores(_message.Message):
    __slots__ = ("teams",)
    TEAMS_FIELD_NUMBER: _ClassVar[int]
    teams: _containers.RepeatedCompositeFieldContainer[NamedNumber]
    def __init__(self, teams: _Optional[_Iterable[_Union[NamedNumber, _Mapping]]] = ...) -> None: ...

class Outcomes(_message.Message):
    __slots__ = ("teams",)
    TEAMS_FIELD_NUMBER: _ClassVar[int]
    teams: _containers.RepeatedCompositeFieldContainer[NamedText]
    def __init__(self, teams: _Optional[_Iterable[_Union[NamedText, _Mapping]]] = ...) -> None: ...

class AgentView(_message.Message):
    __slots__ = ("agent", "slot", "action", "number", "source", "reward", "total", "value", "option", "latency_ms", "unusable", "by", "option_since", "refused", "name", "used_ms", "left_ms", "clock_runs")
    AGENT_FIELD_NUMBER: _ClassVar[int]
    SLOT_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    REWARD_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    OPTION_FIELD_NUMBER: _ClassVar[int]
    LATENCY_MS_FIELD_NUMBER: _ClassVar[int]
    UNUSABLE_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    OPTION_SINCE_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    USED_MS_FIELD_NUMBER: _ClassVar[int]
    LEFT_MS_FIELD_NUMBER: _ClassVar[int]
    CLOCK_RUNS_FIELD_NUMBER: _ClassVar[int]
    agent: str
    slot: str
    action: str
    number: int
    source: str
    reward: float
    total: float
    value: float
    option: str
    latency_ms: float
    unusable: int
    by: str
    option_since: int
    refused: str
    name: str
    used_ms: float
    left_ms: float
    clock_runs: bool
    def __init__(self, agent: _Optional[str] = ..., slot: _Optional[str] = ..., action: _Optional[str] = ..., number: _Optional[int] = ..., source: _Optional[str] = ..., reward: _Optional[float] = ..., total: _Optional[float] = ..., value: _Optional[float] = ..., option: _Optional[str] = ..., latency_ms: _Optional[float] = ..., unusable: _Optional[int] = ..., by: _Optional[str] = ..., option_since: _Optional[int] = ..., refused: _Optional[str] = ..., name: _Optional[str] = ..., used_ms: _Optional[float] = ..., left_ms: _Optional[float] = ..., clock_runs: bool = ...) -> None: ...

class Board(_message.Message):
    __slots__ = ("kind", "rows", "columns", "cells", "moves", "last", "turn", "flipped", "line", "captured", "fen", "near")
    KIND_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    CELLS_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    FLIPPED_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    CAPTURED_FIELD_NUMBER: _ClassVar[int]
    FEN_FIELD_NUMBER: _ClassVar[int]
    NEAR_FIELD_NUMBER: _ClassVar[int]
    kind: str
    rows: int
    columns: int
    cells: _containers.RepeatedScalarFieldContainer[str]
    moves: _containers.RepeatedCompositeFieldContainer[Move]
    last: _containers.RepeatedScalarFieldContainer[int]
    turn: str
    flipped: bool
    line: _containers.RepeatedScalarFieldContainer[int]
    captured: _containers.RepeatedCompositeFieldContainer[Captured]
    fen: str
    near: str
    def __init__(self, kind: _Optional[str] = ..., rows: _Optional[int] = ..., columns: _Optional[int] = ..., cells: _Optional[_Iterable[str]] = ..., moves: _Optional[_Iterable[_Union[Move, _Mapping]]] = ..., last: _Optional[_Iterable[int]] = ..., turn: _Optional[str] = ..., flipped: bool = ..., line: _Optional[_Iterable[int]] = ..., captured: _Optional[_Iterable[_Union[Captured, _Mapping]]] = ..., fen: _Optional[str] = ..., near: _Optional[str] = ...) -> None: ...

class Captured(_message.Message):
    __slots__ = ("agent", "pieces", "ahead")
    AGENT_FIELD_NUMBER: _ClassVar[int]
    PIECES_FIELD_NUMBER: _ClassVar[int]
    AHEAD_FIELD_NUMBER: _ClassVar[int]
    agent: str
    pieces: _containers.RepeatedScalarFieldContainer[str]
    ahead: int
    def __init__(self, agent: _Optional[str] = ..., pieces: _Optional[_Iterable[str]] = ..., ahead: _Optional[int] = ...) -> None: ...

class Pointing(_message.Message):
    __slots__ = ("rows", "columns", "moves", "part")
    ROWS_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    rows: int
    columns: int
    moves: _containers.RepeatedCompositeFieldContainer[Move]
    part: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, rows: _Optional[int] = ..., columns: _Optional[int] = ..., moves: _Optional[_Iterable[_Union[Move, _Mapping]]] = ..., part: _Optional[_Iterable[float]] = ...) -> None: ...

class Move(_message.Message):
    __slots__ = ("action", "target", "source", "label", "promotion")
    ACTION_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    PROMOTION_FIELD_NUMBER: _ClassVar[int]
    action: int
    target: int
    source: int
    label: str
    promotion: str
    def __init__(self, action: _Optional[int] = ..., target: _Optional[int] = ..., source: _Optional[int] = ..., label: _Optional[str] = ..., promotion: _Optional[str] = ...) -> None: ...

class Frame(_message.Message):
    __slots__ = ("base", "stride", "pixels")
    BASE_FIELD_NUMBER: _ClassVar[int]
    STRIDE_FIELD_NUMBER: _ClassVar[int]
    PIXELS_FIELD_NUMBER: _ClassVar[int]
    base: int
    stride: int
    pixels: Pixels
    def __init__(self, base: _Optional[int] = ..., stride: _Optional[int] = ..., pixels: _Optional[_Union[Pixels, _Mapping]] = ...) -> None: ...

class Pixels(_message.Message):
    __slots__ = ("rgb", "height", "width")
    RGB_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    rgb: bytes
    height: int
    width: int
    def __init__(self, rgb: _Optional[bytes] = ..., height: _Optional[int] = ..., width: _Optional[int] = ...) -> None: ...

class Question(_message.Message):
    __slots__ = ("id", "episode", "step", "agent", "slot", "legal", "deadline_s", "attempt", "reason", "space")
    ID_FIELD_NUMBER: _ClassVar[int]
    EPISODE_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    SLOT_FIELD_NUMBER: _ClassVar[int]
    LEGAL_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_S_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SPACE_FIELD_NUMBER: _ClassVar[int]
    id: int
    episode: int
    step: int
    agent: str
    slot: str
    legal: Actions
    deadline_s: float
    attempt: int
    reason: str
    space: bytes
    def __init__(self, id: _Optional[int] = ..., episode: _Optional[int] = ..., step: _Optional[int] = ..., agent: _Optional[str] = ..., slot: _Optional[str] = ..., legal: _Optional[_Union[Actions, _Mapping]] = ..., deadline_s: _Optional[float] = ..., attempt: _Optional[int] = ..., reason: _Optional[str] = ..., space: _Optional[bytes] = ...) -> None: ...

class Actions(_message.Message):
    __slots__ = ("numbers",)
    NUMBERS_FIELD_NUMBER: _ClassVar[int]
    numbers: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, numbers: _Optional[_Iterable[int]] = ...) -> None: ...

class Withdrawn(_message.Message):
    __slots__ = ("question",)
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    question: int
    def __init__(self, question: _Optional[int] = ...) -> None: ...

class ReplayRequest(_message.Message):
    __slots__ = ("operator", "index", "seed", "seats", "max_steps", "lines", "origin", "folder", "seen_from")
    OPERATOR_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    SEATS_FIELD_NUMBER: _ClassVar[int]
    MAX_STEPS_FIELD_NUMBER: _ClassVar[int]
    LINES_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    FOLDER_FIELD_NUMBER: _ClassVar[int]
    SEEN_FROM_FIELD_NUMBER: _ClassVar[int]
    operator: bytes
    index: int
    seed: int
    seats: _containers.RepeatedCompositeFieldContainer[NamedText]
    max_steps: int
    lines: bytes
    origin: str
    folder: str
    seen_from: str
    def __init__(self, operator: _Optional[bytes] = ..., index: _Optional[int] = ..., seed: _Optional[int] = ..., seats: _Optional[_Iterable[_Union[NamedText, _Mapping]]] = ..., max_steps: _Optional[int] = ..., lines: _Optional[bytes] = ..., origin: _Optional[str] = ..., folder: _Optional[str] = ..., seen_from: _Optional[str] = ...) -> None: ...

class Looks(_message.Message):
    __slots__ = ("looks", "meanings", "over", "departs", "seats")
    LOOKS_FIELD_NUMBER: _ClassVar[int]
    MEANINGS_FIELD_NUMBER: _ClassVar[int]
    OVER_FIELD_NUMBER: _ClassVar[int]
    DEPARTS_FIELD_NUMBER: _ClassVar[int]
    SEATS_FIELD_NUMBER: _ClassVar[int]
    looks: _containers.RepeatedCompositeFieldContainer[Look]
    meanings: _containers.RepeatedCompositeFieldContainer[NamedWords]
    over: bool
    departs: str
    seats: _containers.RepeatedCompositeFieldContainer[NamedText]
    def __init__(self, looks: _Optional[_Iterable[_Union[Look, _Mapping]]] = ..., meanings: _Optional[_Iterable[_Union[NamedWords, _Mapping]]] = ..., over: bool = ..., departs: _Optional[str] = ..., seats: _Optional[_Iterable[_Union[NamedText, _Mapping]]] = ...) -> None: ...

class Look(_message.Message):
    __slots__ = ("position", "step", "rows", "picture", "board", "text", "scores", "moves", "result", "observed")
    POSITION_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    PICTURE_FIELD_NUMBER: _ClassVar[int]
    BOARD_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_FIELD_NUMBER: _ClassVar[int]
    position: int
    step: int
    rows: int
    picture: Pixels
    board: Board
    text: str
    scores: Scores
    moves: _containers.RepeatedScalarFieldContainer[str]
    result: str
    observed: AgentObservation
    def __init__(self, position: _Optional[int] = ..., step: _Optional[int] = ..., rows: _Optional[int] = ..., picture: _Optional[_Union[Pixels, _Mapping]] = ..., board: _Optional[_Union[Board, _Mapping]] = ..., text: _Optional[str] = ..., scores: _Optional[_Union[Scores, _Mapping]] = ..., moves: _Optional[_Iterable[str]] = ..., result: _Optional[str] = ..., observed: _Optional[_Union[AgentObservation, _Mapping]] = ...) -> None: ...
