"""An agent loop in plain Python: ask the model, read its answer, say what is wrong with it, ask again."""

from openai import AsyncOpenAI, OpenAIError

from mosaic_worker.calls import recorded_call
from mosaic_worker.concurrent import AsyncWorker
from mosaic_worker.worker import Actions, Invalid, LoadError

RULES = "Think in a few words; write a line ACTION: and the action. A line SAY: goes to your team."
KEPT = 6  # messages of earlier turns that it is shown again


class LoopWorker(AsyncWorker):
    inputs = ("text", "messages")  # the observation in words, and what team-mates said

    def __init__(self):
        self.clients, self.chats = {}, {}  # by slot: linked agents share a process

    def load(self, slot):
        if slot.action_space.kind != "Discrete":
            raise LoadError("this agent chooses among actions that are counted")
        url, key = slot.settings["base_url"], slot.secrets.get("api_key", "none")
        self.clients[slot.index] = AsyncOpenAI(base_url=url, api_key=key, timeout=60)
        return f"loop:{slot.settings['model_id']}"

    def reset(self, slot, starts):
        for start in starts:
            seat = slot.at(start.agent_id, start.seat)  # where teams change places, another each time
            system = {"role": "system", "content": f"{seat.briefing}\n\n{RULES}"}
            self.chats[slot.index, start.episode] = seat.agent_id, [system]

    def on_episode_end(self, slot, ends):
        for end in ends:
            self.chats.pop((slot.index, end.episode), None)

    async def decide(self, slot, decision):
        words, model, rounds = slot.legal_words(decision), slot.settings["model_id"], slot.settings["rounds"]
        agent, chat = self.chats[slot.index, decision.episode]
        del chat[1:-KEPT]
        chat.append({"role": "user", "content": told(decision, words)})
        tokens = {"input": 0, "output": 0}
        for turn in range(rounds):
            try:
                with recorded_call(self.host, agent, decision, model=model, messages=chat, turn=turn) as call:
                    await self.ask(self.clients[slot.index], chat, call)
            except OpenAIError as error:
                chat.pop()  # it has no answer
                return Invalid(f"the model at {slot.settings['base_url']} gives no answer: {error}")
            tokens = {name: tokens[name] + call["tokens"][name] for name in tokens}
            chat.append({"role": "assistant", "content": call["reply"]})
            parts = (line.partition(":") for line in call["reply"].splitlines())
            lines = {key.strip(): rest.strip() for key, _, rest in parts}
            if lines.get("ACTION") in words:
                said = {"said": lines["SAY"][:1000]} if "SAY" in lines else {}
                extras = {"tokens": tokens, "call_ref": call["ref"], **said}
                return Actions([words[lines["ACTION"]]], extras=[extras])
            chat.append({"role": "user", "content": f"No legal action. Legal are: {', '.join(words)}"})
        chat.pop()  # not sent: the next question follows the reply
        return Invalid(f"no legal action in {rounds} replies", chat[-1]["content"])

    async def ask(self, client, chat, call):
        reply = await client.chat.completions.create(model=call["model"], messages=chat, max_tokens=300)
        if reply.usage:  # not every server counts
            call["tokens"] = {"input": reply.usage.prompt_tokens, "output": reply.usage.completion_tokens}
        call["reply"] = reply.choices[0].message.content or ""

    async def aclose(self):
        for client in self.clients.values():
            await client.close()


def told(decision, words):
    heard = "".join(f"\nYour team-mate {message}" for message in decision.messages)
    refused = f"\nYour last answer was refused: {decision.reason}" if decision.reason else ""
    return f"{decision.text}{heard}{refused}\n\nLegal moves: {', '.join(words)}"
