from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SubmitRequest(_message.Message):
    __slots__ = ("task", "env_name", "api", "worker_type", "algorithm", "seed", "settings", "title", "priority", "limits", "resume_of", "action_space", "observation_space", "agents", "group")
    TASK_FIELD_NUMBER: _ClassVar[int]
    ENV_NAME_FIELD_NUMBER: _ClassVar[int]
    API_FIELD_NUMBER: _ClassVar[int]
    WORKER_TYPE_FIELD_NUMBER: _ClassVar[int]
    ALGORITHM_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    RESUME_OF_FIELD_NUMBER: _ClassVar[int]
    ACTION_SPACE_FIELD_NUMBER: _ClassVar[int]
    OBSERVATION_SPACE_FIELD_NUMBER: _ClassVar[int]
    AGENTS_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    task: str
    env_name: str
    api: str
    worker_type: str
    algorithm: str
    seed: int
    settings: str
    title: str
    priority: int
    limits: RunQuota
    resume_of: str
    action_space: str
    observation_space: str
    agents: int
    group: str
    def __init__(self, task: _Optional[str] = ..., env_name: _Optional[str] = ..., api: _Optional[str] = ..., worker_type: _Optional[str] = ..., algorithm: _Optional[str] = ..., seed: _Optional[int] = ..., settings: _Optional[str] = ..., title: _Optional[str] = ..., priority: _Optional[int] = ..., limits: _Optional[_Union[RunQuota, _Mapping]] = ..., resume_of: _Optional[str] = ..., action_space: _Optional[str] = ..., observation_space: _Optional[str] = ..., agents: _Optional[int] = ..., group: _Optional[str] = ...) -> None: ...

class RunQuota(_message.Message):
    __slots__ = ("cpu_cores", "memory_mb", "gpus", "max_s")
    CPU_CORES_FIELD_NUMBER: _ClassVar[int]
    MEMORY_MB_FIELD_NUMBER: _ClassVar[int]
    GPUS_FIELD_NUMBER: _ClassVar[int]
    MAX_S_FIELD_NUMBER: _ClassVar[int]
    cpu_cores: int
    memory_mb: int
    gpus: int
    max_s: float
    def __init__(self, cpu_cores: _Optional[int] = ..., memory_mb: _Optional[int] = ..., gpus: _Optional[int] = ..., max_s: _Optional[float] = ...) -> None: ...

class RunReference(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class TrainerAnswer(_message.Message):
    __slots__ = ("id", "error", "fix", "usage")
    ID_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    FIX_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    id: int
    error: str
    fix: str
    usage: bool
    def __init__(self, id: _Optional[int] = ..., error: _Optional[str] = ..., fix: _Optional[str] = ..., usage: bool = ...) -> None: ...

class RunsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RunList(_message.Message):
    __slots__ = ("runs",)
    RUNS_FIELD_NUMBER: _ClassVar[int]
    runs: _containers.RepeatedCompositeFieldContainer[TrainingRunState]
    def __init__(self, runs: _Optional[_Iterable[_Union[TrainingRunState, _Mapping]]] = ...) -> None: ...

class TrainingRunState(_message.Message):
    __slots__ = ("run_id", "title", "worker_id", "algorithm", "env_id", "seed", "settings", "state", "reason", "step", "total_steps", "mean_return", "episodes", "steps_per_s", "remaining_s", "elapsed_s", "priority", "position", "folder", "submitted_at", "started_at", "ended_at", "cpu_percent", "memory_mb", "gpu", "policy", "video", "limits", "warning", "evaluated", "group", "place")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    ALGORITHM_FIELD_NUMBER: _ClassVar[int]
    ENV_ID_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    TOTAL_STEPS_FIELD_NUMBER: _ClassVar[int]
    MEAN_RETURN_FIELD_NUMBER: _ClassVar[int]
    EPISODES_FIELD_NUMBER: _ClassVar[int]
    STEPS_PER_S_FIELD_NUMBER: _ClassVar[int]
    REMAINING_S_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_S_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    FOLDER_FIELD_NUMBER: _ClassVar[int]
    SUBMITTED_AT_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    CPU_PERCENT_FIELD_NUMBER: _ClassVar[int]
    MEMORY_MB_FIELD_NUMBER: _ClassVar[int]
    GPU_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    VIDEO_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    WARNING_FIELD_NUMBER: _ClassVar[int]
    EVALUATED_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    title: str
    worker_id: str
    algorithm: str
    env_id: str
    seed: int
    settings: str
    state: str
    reason: str
    step: int
    total_steps: int
    mean_return: float
    episodes: int
    steps_per_s: float
    remaining_s: float
    elapsed_s: float
    priority: int
    position: int
    folder: str
    submitted_at: float
    started_at: float
    ended_at: float
    cpu_percent: float
    memory_mb: float
    gpu: str
    policy: str
    video: str
    limits: RunQuota
    warning: str
    evaluated: bool
    group: str
    place: str
    def __init__(self, run_id: _Optional[str] = ..., title: _Optional[str] = ..., worker_id: _Optional[str] = ..., algorithm: _Optional[str] = ..., env_id: _Optional[str] = ..., seed: _Optional[int] = ..., settings: _Optional[str] = ..., state: _Optional[str] = ..., reason: _Optional[str] = ..., step: _Optional[int] = ..., total_steps: _Optional[int] = ..., mean_return: _Optional[float] = ..., episodes: _Optional[int] = ..., steps_per_s: _Optional[float] = ..., remaining_s: _Optional[float] = ..., elapsed_s: _Optional[float] = ..., priority: _Optional[int] = ..., position: _Optional[int] = ..., folder: _Optional[str] = ..., submitted_at: _Optional[float] = ..., started_at: _Optional[float] = ..., ended_at: _Optional[float] = ..., cpu_percent: _Optional[float] = ..., memory_mb: _Optional[float] = ..., gpu: _Optional[str] = ..., policy: _Optional[str] = ..., video: _Optional[str] = ..., limits: _Optional[_Union[RunQuota, _Mapping]] = ..., warning: _Optional[str] = ..., evaluated: bool = ..., group: _Optional[str] = ..., place: _Optional[str] = ...) -> None: ...

class ControlWish(_message.Message):
    __slots__ = ("id", "run_id", "wish")
    ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    WISH_FIELD_NUMBER: _ClassVar[int]
    id: int
    run_id: str
    wish: str
    def __init__(self, id: _Optional[int] = ..., run_id: _Optional[str] = ..., wish: _Optional[str] = ...) -> None: ...

class HealthRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class TrainerHealth(_message.Message):
    __slots__ = ("protocol", "version", "pid", "uptime_s", "cores", "memory_mb", "free_memory_mb", "gpus", "running", "queued", "capacity", "data_folder", "log")
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    UPTIME_S_FIELD_NUMBER: _ClassVar[int]
    CORES_FIELD_NUMBER: _ClassVar[int]
    MEMORY_MB_FIELD_NUMBER: _ClassVar[int]
    FREE_MEMORY_MB_FIELD_NUMBER: _ClassVar[int]
    GPUS_FIELD_NUMBER: _ClassVar[int]
    RUNNING_FIELD_NUMBER: _ClassVar[int]
    QUEUED_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    DATA_FOLDER_FIELD_NUMBER: _ClassVar[int]
    LOG_FIELD_NUMBER: _ClassVar[int]
    protocol: int
    version: str
    pid: int
    uptime_s: float
    cores: int
    memory_mb: int
    free_memory_mb: int
    gpus: _containers.RepeatedScalarFieldContainer[str]
    running: int
    queued: int
    capacity: int
    data_folder: str
    log: str
    def __init__(self, protocol: _Optional[int] = ..., version: _Optional[str] = ..., pid: _Optional[int] = ..., uptime_s: _Optional[float] = ..., cores: _Optional[int] = ..., memory_mb: _Optional[int] = ..., free_memory_mb: _Optional[int] = ..., gpus: _Optional[_Iterable[str]] = ..., running: _Optional[int] = ..., queued: _Optional[int] = ..., capacity: _Optional[int] = ..., data_folder: _Optional[str] = ..., log: _Optional[str] = ...) -> None: ...
