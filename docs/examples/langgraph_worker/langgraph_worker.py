"""A LangGraph agent: a node asks the model, which calls a tool; an edge leads back if that is not legal."""

from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage, convert_to_openai_messages
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from openai import OpenAIError

from mosaic_worker.calls import recorded_call
from mosaic_worker.concurrent import AsyncWorker
from mosaic_worker.worker import Actions, Decision, Invalid, LoadError


@tool
def act(action: str) -> str:
    """Play a legal action."""
    return action


class State(MessagesState):
    decision: Decision
    agent: str
    words: dict[str, int]  # legal actions
    calls: list[dict]  # so far, as they are recorded
    action: str


class LangGraphWorker(AsyncWorker):
    inputs = ("text", "messages")  # the observation in words, and what team-mates said

    def load(self, slot):
        if slot.action_space.kind != "Discrete":
            raise LoadError("this agent chooses among actions that are counted")
        self.model_id, self.url, self.rounds = (slot.settings[n] for n in ("model_id", "base_url", "rounds"))
        key = slot.secrets.get("api_key", "none")
        model = ChatOpenAI(model=self.model_id, base_url=self.url, api_key=key, timeout=60)
        self.model, self.seats = model.bind_tools([act]), {}
        graph = StateGraph(State).add_node("ask", self.ask).add_node("read", self.read)
        graph.add_edge(START, "ask").add_edge("ask", "read").add_conditional_edges("read", self.follow)
        self.graph = graph.compile()
        return f"langgraph:{self.model_id}"

    def reset(self, slot, starts):  # where teams change places, a slot has another seat in each episode
        self.seats.update({(slot.index, start.episode): slot.at(start.agent_id) for start in starts})

    async def decide(self, slot, decision):
        seat, words = self.seats[slot.index, decision.episode], slot.legal_words(decision)
        told = [decision.text, *decision.messages, decision.reason, f"Legal actions: {', '.join(words)}"]
        messages = [SystemMessage(seat.briefing), HumanMessage("\n".join(told))]
        state = {"decision": decision, "agent": seat.agent_id, "words": words, "calls": [], "action": ""}
        try:
            state = await self.graph.ainvoke({**state, "messages": messages})
        except OpenAIError as error:
            return Invalid(f"the model at {self.url} gives no answer: {error}")
        last = state["calls"][-1]
        if not state["action"]:
            return Invalid(f"no legal action in {self.rounds} replies", last["reply"])
        tokens = {name: sum(call["tokens"][name] for call in state["calls"]) for name in last["tokens"]}
        return Actions([words[state["action"]]], extras=[{"tokens": tokens, "call_ref": last["ref"]}])

    async def ask(self, state):
        shown, turn = convert_to_openai_messages(state["messages"]), len(state["calls"])
        place = self.host, state["agent"], state["decision"]
        with recorded_call(*place, model=self.model_id, messages=shown, turn=turn) as call:
            reply = await self.model.ainvoke(state["messages"])
            call["reply"] = reply.text or str([each["args"] for each in reply.tool_calls])
            used = reply.usage_metadata
            call["tokens"] = {"input": used["input_tokens"], "output": used["output_tokens"]}
        return {"messages": [reply], "calls": [*state["calls"], call]}

    def read(self, state):
        wanted = {call["id"]: call["args"].get("action") for call in state["messages"][-1].tool_calls}
        action = next((word for word in wanted.values() if word in state["words"]), "")
        answers = [ToolMessage("That is no legal action.", tool_call_id=each) for each in wanted]
        return {"messages": answers or [HumanMessage("Call act.")], "action": action}

    def follow(self, state):
        return END if state["action"] or len(state["calls"]) >= self.rounds else "ask"
