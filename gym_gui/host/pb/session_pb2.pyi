from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Command(_message.Message):
    __slots__ = ("launch", "episodes", "pause", "resume", "step", "stop", "pace", "abort", "answer", "rebind", "seen", "present", "replay")
    LAUNCH_FIELD_NUMBER: _ClassVar[int]
    EPISODES_FIELD_NUMBER: _ClassVar[int]
    PAUSE_FIELD_NUMBER: _ClassVar[int]
    RESUME_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    STOP_FIELD_NUMBER: _ClassVar[int]
    PACE_FIELD_NUMBER: _ClassVar[int]
    ABORT_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    REBIND_FIELD_NUMBER: _ClassVar[int]
    SEEN_FIELD_NUMBER: _ClassVar[int]
    PRESENT_FIELD_NUMBER: _ClassVar[int]
    REPLAY_FIELD_NUMBER: _ClassVar[int]
    launch: Launch
    episodes: Episodes
    pause: Pause
    resume: Resume
    step: Step
    stop: Stop
    pace: Pace
    abort: Abort
    answer: Answer
    rebind: Rebind
    seen: Seen
    present: Present
    replay: Replay
    def __init__(self, launch: _Optional[_Union[Launch, _Mapping]] = ..., episodes: _Optional[_Union[Episodes, _Mapping]] = ..., pause: _Optional[_Union[Pause, _Mapping]] = ..., resume: _Optional[_Union[Resume, _Mapping]] = ..., step: _Optional[_Union[Step, _Mapping]] = ..., stop: _Optional[_Union[Stop, _Mapping]] = ..., pace: _Optional[_Union[Pace, _Mapping]] = ..., abort: _Optional[_Union[Abort, _Mapping]] = ..., answer: _Optional[_Union[Answer, _Mapping]] = ..., rebind: _Optional[_Union[Rebind, _Mapping]] = ..., seen: _Optional[_Union[Seen, _Mapping]] = ..., present: _Optional[_Union[Present, _Mapping]] = ..., replay: _Optional[_Union[Replay, _Mapping]] = ...) -> None: ...

class Launch(_message.Message):
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
    operator: str
    concurrency: int
    max_steps: int
    observations: bool
    secrets: _containers.ScalarMap[str, str]
    live: Live
    def __init__(self, operator: _Optional[str] = ..., concurrency: _Optional[int] = ..., max_steps: _Optional[int] = ..., observations: bool = ..., secrets: _Optional[_Mapping[str, str]] = ..., live: _Optional[_Union[Live, _Mapping]] = ...) -> None: ...

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

class Episodes(_message.Message):
    __slots__ = ("episodes",)
    EPISODES_FIELD_NUMBER: _ClassVar[int]
    episodes: _containers.RepeatedCompositeFieldContainer[Episode]
    def __init__(self, episodes: _Optional[_Iterable[_Union[Episode, _Mapping]]] = ...) -> None: ...

class Episode(_message.Message):
    __slots__ = ("index", "seed", "seating", "allowances")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    SEATING_FIELD_NUMBER: _ClassVar[int]
    ALLOWANCES_FIELD_NUMBER: _ClassVar[int]
    index: int
    seed: int
    seating: int
    allowances: _containers.RepeatedCompositeFieldContainer[Allowance]
    def __init__(self, index: _Optional[int] = ..., seed: _Optional[int] = ..., seating: _Optional[int] = ..., allowances: _Optional[_Iterable[_Union[Allowance, _Mapping]]] = ...) -> None: ...

class Allowance(_message.Message):
    __slots__ = ("slot", "tokens", "usd")
    SLOT_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    USD_FIELD_NUMBER: _ClassVar[int]
    slot: str
    tokens: int
    usd: float
    def __init__(self, slot: _Optional[str] = ..., tokens: _Optional[int] = ..., usd: _Optional[float] = ...) -> None: ...

class Pause(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Resume(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Step(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Stop(_message.Message):
    __slots__ = ("in_haste",)
    IN_HASTE_FIELD_NUMBER: _ClassVar[int]
    in_haste: bool
    def __init__(self, in_haste: bool = ...) -> None: ...

class Pace(_message.Message):
    __slots__ = ("steps_per_s",)
    STEPS_PER_S_FIELD_NUMBER: _ClassVar[int]
    steps_per_s: float
    def __init__(self, steps_per_s: _Optional[float] = ...) -> None: ...

class Abort(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Seen(_message.Message):
    __slots__ = ("looks",)
    LOOKS_FIELD_NUMBER: _ClassVar[int]
    looks: int
    def __init__(self, looks: _Optional[int] = ...) -> None: ...

class Answer(_message.Message):
    __slots__ = ("question", "action")
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    question: int
    action: str
    def __init__(self, question: _Optional[int] = ..., action: _Optional[str] = ...) -> None: ...

class Rebind(_message.Message):
    __slots__ = ("id", "agent", "assignment", "secrets", "allowance")
    class SecretsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    ASSIGNMENT_FIELD_NUMBER: _ClassVar[int]
    SECRETS_FIELD_NUMBER: _ClassVar[int]
    ALLOWANCE_FIELD_NUMBER: _ClassVar[int]
    id: int
    agent: str
    assignment: str
    secrets: _containers.ScalarMap[str, str]
    allowance: Allowance
    def __init__(self, id: _Optional[int] = ..., agent: _Optional[str] = ..., assignment: _Optional[str] = ..., secrets: _Optional[_Mapping[str, str]] = ..., allowance: _Optional[_Union[Allowance, _Mapping]] = ...) -> None: ...

class Present(_message.Message):
    __slots__ = ("id", "agent")
    ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    id: int
    agent: str
    def __init__(self, id: _Optional[int] = ..., agent: _Optional[str] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ("ready", "news", "call", "log", "broken", "ended", "view", "question", "withdrawn", "rebound", "presented", "retried", "compiling", "looks")
    READY_FIELD_NUMBER: _ClassVar[int]
    NEWS_FIELD_NUMBER: _ClassVar[int]
    CALL_FIELD_NUMBER: _ClassVar[int]
    LOG_FIELD_NUMBER: _ClassVar[int]
    BROKEN_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    WITHDRAWN_FIELD_NUMBER: _ClassVar[int]
    REBOUND_FIELD_NUMBER: _ClassVar[int]
    PRESENTED_FIELD_NUMBER: _ClassVar[int]
    RETRIED_FIELD_NUMBER: _ClassVar[int]
    COMPILING_FIELD_NUMBER: _ClassVar[int]
    LOOKS_FIELD_NUMBER: _ClassVar[int]
    ready: Ready
    news: News
    call: PaidCall
    log: LogLine
    broken: Broken
    ended: Ended
    view: View
    question: Question
    withdrawn: Withdrawn
    rebound: Rebound
    presented: Presented
    retried: Retried
    compiling: Compiling
    looks: Looks
    def __init__(self, ready: _Optional[_Union[Ready, _Mapping]] = ..., news: _Optional[_Union[News, _Mapping]] = ..., call: _Optional[_Union[PaidCall, _Mapping]] = ..., log: _Optional[_Union[LogLine, _Mapping]] = ..., broken: _Optional[_Union[Broken, _Mapping]] = ..., ended: _Optional[_Union[Ended, _Mapping]] = ..., view: _Optional[_Union[View, _Mapping]] = ..., question: _Optional[_Union[Question, _Mapping]] = ..., withdrawn: _Optional[_Union[Withdrawn, _Mapping]] = ..., rebound: _Optional[_Union[Rebound, _Mapping]] = ..., presented: _Optional[_Union[Presented, _Mapping]] = ..., retried: _Optional[_Union[Retried, _Mapping]] = ..., compiling: _Optional[_Union[Compiling, _Mapping]] = ..., looks: _Optional[_Union[Looks, _Mapping]] = ...) -> None: ...

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
    __slots__ = ("pid", "players", "concurrency", "versions", "actions")
    PID_FIELD_NUMBER: _ClassVar[int]
    PLAYERS_FIELD_NUMBER: _ClassVar[int]
    CONCURRENCY_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    pid: int
    players: str
    concurrency: int
    versions: str
    actions: str
    def __init__(self, pid: _Optional[int] = ..., players: _Optional[str] = ..., concurrency: _Optional[int] = ..., versions: _Optional[str] = ..., actions: _Optional[str] = ...) -> None: ...

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
    __slots__ = ("index", "reason")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    index: int
    reason: str
    def __init__(self, index: _Optional[int] = ..., reason: _Optional[str] = ...) -> None: ...

class PaidCall(_message.Message):
    __slots__ = ("json",)
    JSON_FIELD_NUMBER: _ClassVar[int]
    json: str
    def __init__(self, json: _Optional[str] = ...) -> None: ...

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
    __slots__ = ("reason", "usage")
    REASON_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    reason: str
    usage: bool
    def __init__(self, reason: _Optional[str] = ..., usage: bool = ...) -> None: ...

class Ended(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class View(_message.Message):
    __slots__ = ("json", "frame")
    JSON_FIELD_NUMBER: _ClassVar[int]
    FRAME_FIELD_NUMBER: _ClassVar[int]
    json: bytes
    frame: Frame
    def __init__(self, json: _Optional[bytes] = ..., frame: _Optional[_Union[Frame, _Mapping]] = ...) -> None: ...

class Frame(_message.Message):
    __slots__ = ("number", "base", "stride", "height", "width", "pixels")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    BASE_FIELD_NUMBER: _ClassVar[int]
    STRIDE_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    PIXELS_FIELD_NUMBER: _ClassVar[int]
    number: int
    base: int
    stride: int
    height: int
    width: int
    pixels: bytes
    def __init__(self, number: _Optional[int] = ..., base: _Optional[int] = ..., stride: _Optional[int] = ..., height: _Optional[int] = ..., width: _Optional[int] = ..., pixels: _Optional[bytes] = ...) -> None: ...

class Question(_message.Message):
    __slots__ = ("json",)
    JSON_FIELD_NUMBER: _ClassVar[int]
    json: str
    def __init__(self, json: _Optional[str] = ...) -> None: ...

class Withdrawn(_message.Message):
    __slots__ = ("question",)
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    question: int
    def __init__(self, question: _Optional[int] = ...) -> None: ...

class Rebound(_message.Message):
    __slots__ = ("id", "player", "error")
    ID_FIELD_NUMBER: _ClassVar[int]
    PLAYER_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    id: int
    player: str
    error: str
    def __init__(self, id: _Optional[int] = ..., player: _Optional[str] = ..., error: _Optional[str] = ...) -> None: ...

class Presented(_message.Message):
    __slots__ = ("id", "json", "error")
    ID_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    id: int
    json: str
    error: str
    def __init__(self, id: _Optional[int] = ..., json: _Optional[str] = ..., error: _Optional[str] = ...) -> None: ...

class Replay(_message.Message):
    __slots__ = ("order", "lines")
    ORDER_FIELD_NUMBER: _ClassVar[int]
    LINES_FIELD_NUMBER: _ClassVar[int]
    order: str
    lines: bytes
    def __init__(self, order: _Optional[str] = ..., lines: _Optional[bytes] = ...) -> None: ...

class Looks(_message.Message):
    __slots__ = ("looks", "meanings", "over", "departs")
    LOOKS_FIELD_NUMBER: _ClassVar[int]
    MEANINGS_FIELD_NUMBER: _ClassVar[int]
    OVER_FIELD_NUMBER: _ClassVar[int]
    DEPARTS_FIELD_NUMBER: _ClassVar[int]
    looks: _containers.RepeatedCompositeFieldContainer[Look]
    meanings: str
    over: bool
    departs: str
    def __init__(self, looks: _Optional[_Iterable[_Union[Look, _Mapping]]] = ..., meanings: _Optional[str] = ..., over: bool = ..., departs: _Optional[str] = ...) -> None: ...

class Look(_message.Message):
    __slots__ = ("position", "step", "rows", "pixels", "height", "width", "board", "text", "scores")
    POSITION_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    PIXELS_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    BOARD_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    position: int
    step: int
    rows: int
    pixels: bytes
    height: int
    width: int
    board: str
    text: str
    scores: str
    def __init__(self, position: _Optional[int] = ..., step: _Optional[int] = ..., rows: _Optional[int] = ..., pixels: _Optional[bytes] = ..., height: _Optional[int] = ..., width: _Optional[int] = ..., board: _Optional[str] = ..., text: _Optional[str] = ..., scores: _Optional[str] = ...) -> None: ...
