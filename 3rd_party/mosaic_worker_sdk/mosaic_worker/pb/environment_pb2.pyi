from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ToEnvironment(_message.Message):
    __slots__ = ("hello", "orders", "shutdown")
    HELLO_FIELD_NUMBER: _ClassVar[int]
    ORDERS_FIELD_NUMBER: _ClassVar[int]
    SHUTDOWN_FIELD_NUMBER: _ClassVar[int]
    hello: EnvironmentHello
    orders: _containers.RepeatedCompositeFieldContainer[Order]
    shutdown: bool
    def __init__(self, hello: _Optional[_Union[EnvironmentHello, _Mapping]] = ..., orders: _Optional[_Iterable[_Union[Order, _Mapping]]] = ..., shutdown: bool = ...) -> None: ...

class FromEnvironment(_message.Message):
    __slots__ = ("welcome", "reports", "failed")
    WELCOME_FIELD_NUMBER: _ClassVar[int]
    REPORTS_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    welcome: EnvironmentWelcome
    reports: _containers.RepeatedCompositeFieldContainer[Report]
    failed: str
    def __init__(self, welcome: _Optional[_Union[EnvironmentWelcome, _Mapping]] = ..., reports: _Optional[_Iterable[_Union[Report, _Mapping]]] = ..., failed: _Optional[str] = ...) -> None: ...

class EnvironmentHello(_message.Message):
    __slots__ = ("protocol", "player", "token")
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    PLAYER_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    protocol: int
    player: str
    token: str
    def __init__(self, protocol: _Optional[int] = ..., player: _Optional[str] = ..., token: _Optional[str] = ...) -> None: ...

class EnvironmentWelcome(_message.Message):
    __slots__ = ("protocol", "server", "pid")
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    SERVER_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    protocol: int
    server: str
    pid: int
    def __init__(self, protocol: _Optional[int] = ..., server: _Optional[str] = ..., pid: _Optional[int] = ...) -> None: ...

class Order(_message.Message):
    __slots__ = ("instance", "make", "reset", "step", "render", "ask", "close")
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    MAKE_FIELD_NUMBER: _ClassVar[int]
    RESET_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    RENDER_FIELD_NUMBER: _ClassVar[int]
    ASK_FIELD_NUMBER: _ClassVar[int]
    CLOSE_FIELD_NUMBER: _ClassVar[int]
    instance: int
    make: Make
    reset: Reset
    step: Step
    render: Render
    ask: Ask
    close: Close
    def __init__(self, instance: _Optional[int] = ..., make: _Optional[_Union[Make, _Mapping]] = ..., reset: _Optional[_Union[Reset, _Mapping]] = ..., step: _Optional[_Union[Step, _Mapping]] = ..., render: _Optional[_Union[Render, _Mapping]] = ..., ask: _Optional[_Union[Ask, _Mapping]] = ..., close: _Optional[_Union[Close, _Mapping]] = ...) -> None: ...

class Report(_message.Message):
    __slots__ = ("instance", "error", "kind", "made", "state", "frame", "json")
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    MADE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    FRAME_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    instance: int
    error: str
    kind: str
    made: Made
    state: State
    frame: Frame
    json: str
    def __init__(self, instance: _Optional[int] = ..., error: _Optional[str] = ..., kind: _Optional[str] = ..., made: _Optional[_Union[Made, _Mapping]] = ..., state: _Optional[_Union[State, _Mapping]] = ..., frame: _Optional[_Union[Frame, _Mapping]] = ..., json: _Optional[str] = ...) -> None: ...

class Make(_message.Message):
    __slots__ = ("entry", "arguments", "api")
    ENTRY_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    API_FIELD_NUMBER: _ClassVar[int]
    entry: str
    arguments: str
    api: str
    def __init__(self, entry: _Optional[str] = ..., arguments: _Optional[str] = ..., api: _Optional[str] = ...) -> None: ...

class Made(_message.Message):
    __slots__ = ("api", "agents", "metadata", "render_mode", "max_episode_steps", "answers")
    API_FIELD_NUMBER: _ClassVar[int]
    AGENTS_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    RENDER_MODE_FIELD_NUMBER: _ClassVar[int]
    MAX_EPISODE_STEPS_FIELD_NUMBER: _ClassVar[int]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    api: str
    agents: _containers.RepeatedCompositeFieldContainer[Agent]
    metadata: str
    render_mode: str
    max_episode_steps: int
    answers: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, api: _Optional[str] = ..., agents: _Optional[_Iterable[_Union[Agent, _Mapping]]] = ..., metadata: _Optional[str] = ..., render_mode: _Optional[str] = ..., max_episode_steps: _Optional[int] = ..., answers: _Optional[_Iterable[str]] = ...) -> None: ...

class Agent(_message.Message):
    __slots__ = ("name", "observation_space", "action_space")
    NAME_FIELD_NUMBER: _ClassVar[int]
    OBSERVATION_SPACE_FIELD_NUMBER: _ClassVar[int]
    ACTION_SPACE_FIELD_NUMBER: _ClassVar[int]
    name: str
    observation_space: str
    action_space: str
    def __init__(self, name: _Optional[str] = ..., observation_space: _Optional[str] = ..., action_space: _Optional[str] = ...) -> None: ...

class Reset(_message.Message):
    __slots__ = ("seed", "options")
    SEED_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    seed: int
    options: str
    def __init__(self, seed: _Optional[int] = ..., options: _Optional[str] = ...) -> None: ...

class Step(_message.Message):
    __slots__ = ("actions",)
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    actions: _containers.RepeatedCompositeFieldContainer[Action]
    def __init__(self, actions: _Optional[_Iterable[_Union[Action, _Mapping]]] = ...) -> None: ...

class Action(_message.Message):
    __slots__ = ("agent", "value")
    AGENT_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    agent: int
    value: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, agent: _Optional[int] = ..., value: _Optional[_Iterable[bytes]] = ...) -> None: ...

class State(_message.Message):
    __slots__ = ("agents", "living", "selection", "joined")
    AGENTS_FIELD_NUMBER: _ClassVar[int]
    LIVING_FIELD_NUMBER: _ClassVar[int]
    SELECTION_FIELD_NUMBER: _ClassVar[int]
    JOINED_FIELD_NUMBER: _ClassVar[int]
    agents: _containers.RepeatedCompositeFieldContainer[AgentState]
    living: _containers.RepeatedScalarFieldContainer[int]
    selection: int
    joined: _containers.RepeatedCompositeFieldContainer[Agent]
    def __init__(self, agents: _Optional[_Iterable[_Union[AgentState, _Mapping]]] = ..., living: _Optional[_Iterable[int]] = ..., selection: _Optional[int] = ..., joined: _Optional[_Iterable[_Union[Agent, _Mapping]]] = ...) -> None: ...

class AgentState(_message.Message):
    __slots__ = ("agent", "observed", "observation", "reward", "terminated", "truncated", "info", "paid")
    AGENT_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_FIELD_NUMBER: _ClassVar[int]
    OBSERVATION_FIELD_NUMBER: _ClassVar[int]
    REWARD_FIELD_NUMBER: _ClassVar[int]
    TERMINATED_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    INFO_FIELD_NUMBER: _ClassVar[int]
    PAID_FIELD_NUMBER: _ClassVar[int]
    agent: int
    observed: bool
    observation: _containers.RepeatedScalarFieldContainer[bytes]
    reward: float
    terminated: bool
    truncated: bool
    info: str
    paid: bool
    def __init__(self, agent: _Optional[int] = ..., observed: bool = ..., observation: _Optional[_Iterable[bytes]] = ..., reward: _Optional[float] = ..., terminated: bool = ..., truncated: bool = ..., info: _Optional[str] = ..., paid: bool = ...) -> None: ...

class Render(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Frame(_message.Message):
    __slots__ = ("shape", "data", "shared", "text")
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    SHARED_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    shape: _containers.RepeatedScalarFieldContainer[int]
    data: bytes
    shared: int
    text: str
    def __init__(self, shape: _Optional[_Iterable[int]] = ..., data: _Optional[bytes] = ..., shared: _Optional[int] = ..., text: _Optional[str] = ...) -> None: ...

class Ask(_message.Message):
    __slots__ = ("name", "agent")
    NAME_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    name: str
    agent: int
    def __init__(self, name: _Optional[str] = ..., agent: _Optional[int] = ...) -> None: ...

class Close(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
