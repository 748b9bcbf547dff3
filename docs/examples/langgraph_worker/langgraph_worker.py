"""A LangGraph agent: a node asks the model, which calls a tool; an edge leads back if that is not legal."""

from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage, convert_to_openai_messages
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from openai import OpenAIError

from mosaic_worker.calls import recorded_call
from mosaic_worker.concurrent import AsyncWorker
from mosaic_worker.worker import Actions, Decision, Invalid, LoadError, Slot


@tool(description="Play a legal action.")
def act(action: str) -> None: ...


class State(MessagesState):
    decision: Decision
    seat: Slot
    words: dict[str, int]  # legal actions
    calls: list[dict]  # so far, as they are recorded
    action: str


class LangGraphWorker(AsyncWorker):
    inputs = ("text", "messages")  # the observation in words, and what team-mates said

    def __init__(self):
        self.models, self.seats = {}, {}  # by slot: linked agents share a process
        graph = StateGraph(State).add_node("ask", self.ask).add_node("read", self.read).add_edge(START, "ask")
        self.graph = graph.add_edge("ask", "read").add_conditional_edges("read", self.follow).compile()

    def load(self, slot):
        if slot.action_space.kind != "Discrete":
            raise LoadError("this agent chooses among actions that are counted")
        name, url = slot.settings["model_id"], slot.settings["base_url"]
        model = ChatOpenAI(model=name, base_url=url, api_key=slot.secrets.get("api_key", "none"), timeout=60)
        self.models[slot.index] = model.bind_tools([act])
        return f"langgraph:{name}"

    def reset(self, slot, starts):  # where teams change places, a slot has another seat in each episode
        self.seats.update({(slot.index, s.episode): slot.at(s.agent_id, s.seat) for s in starts})

    def on_episode_end(self, slot, ends):
        for end in ends:
            self.seats.pop((slot.index, end.episode), None)

    async def decide(self, slot, decision):
        seat, words = self.seats[slot.index, decision.episode], slot.legal_words(decision)
        told = [decision.text, *decision.messages, decision.reason, f"Legal moves: {', '.join(words)}"]
        state = {"messages": [SystemMessage(seat.briefing), HumanMessage("\n".join(told))], "calls": []}
        try:
            state = await self.graph.ainvoke({**state, "decision": decision, "seat": seat, "words": words})
        except OpenAIError as error:
            return Invalid(f"the model at {slot.settings['base_url']} gives no answer: {error}")
        last = state["calls"][-1]
        if not state["action"]:
            return Invalid(f"no legal action in {len(state['calls'])} replies", last["reply"])
        used = {name: sum(call["tokens"][name] for call in state["calls"]) for name in ("input", "output")}
        return Actions([words[state["action"]]], extras=[{"tokens": used, "call_ref": last["ref"]}])

    async def ask(self, state):
        seat, shown = state["seat"], convert_to_openai_messages(state["messages"])
        asked = {"model": seat.settings["model_id"], "messages": shown, "turn": len(state["calls"])}
        with recorded_call(self.host, seat.agent_id, state["decision"], **asked) as call:
            reply = await self.models[seat.index].ainvoke(state["messages"])
            call["reply"] = reply.text or str([each["args"] for each in reply.tool_calls])
            call["tokens"] = {k: (reply.usage_metadata or {}).get(f"{k}_tokens", 0) for k in call["tokens"]}
        return {"messages": [reply], "calls": [*state["calls"], call]}

    def read(self, state):
        wanted = {call["id"]: str(call["args"].get("action")) for call in state["messages"][-1].tool_calls}
        action = next((word for word in wanted.values() if word in state["words"]), "")
        answers = [ToolMessage("That is no legal action.", tool_call_id=each) for each in wanted]
        return {"messages": answers or [HumanMessage("Call act.")], "action": action}

    def follow(self, state):
        return END if state["action"] or len(state["calls"]) >= state["seat"].settings["rounds"] else "ask"
