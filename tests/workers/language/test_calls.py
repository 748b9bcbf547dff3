"""A slot's calls: insisted on, paced, paid for, bounded by time and budget, and written down."""

from __future__ import annotations

import asyncio
import json
import logging
import math
from collections.abc import Iterator
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import Any

import pytest

from gym_gui.workers.recorded_extras import read_object
from mosaic_llm_worker.budget import Most, Price, estimate_tokens, most_tokens, price_of
from mosaic_llm_worker.calls import BudgetSpent, Caller, CostSoFar, DryRun, FatalCallError, NoUsableReply
from mosaic_llm_worker.chat_servers.servers import CallId, Completion, ReplyRequest
from mosaic_llm_worker.server_settings import ServerSettings
from mosaic_worker.worker import EpisodeStart, LimitReached, LoadError
from tests.support.fake_model_server import FakeModelServer, Raw, Reply, refusal
from tests.support.model_server import ModelServer
from tests.support.tiny_models import TEXT_MODEL, VISION_MODEL
from tests.support.waiting import in_time

KEY = "sk-planted-0123456789abcdef"
PROMPT = [{"role": "system", "content": "You are an agent."}, {"role": "user", "content": "Where to?"}]
RED = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAQAAAACCAIAAADwyuo0AAAAEElEQVR4nGP8z4AATEhsBgAZNQED"
    "Gy9LEgAAAABJRU5ErkJggg=="
)
MODEL = "gpt-4o-mini"
"""Has a price."""


@pytest.fixture(scope="module")
def serving() -> Iterator[FakeModelServer]:
    with FakeModelServer() as server:
        yield server


@pytest.fixture
def fake(serving: FakeModelServer) -> FakeModelServer:
    serving.script = lambda request: "left"
    serving.requests.clear()
    serving.most_at_once = 0
    return serving


class Slot:
    """A caller and what it has recorded."""

    def __init__(self, url: str, **more: Any) -> None:
        given = {"client_name": "openai", "base_url": url, "model_id": MODEL, **more}
        self.records: list[dict[str, Any]] = []
        settings = ServerSettings.model_validate(given)
        self.noted = asyncio.Event()
        self.noted.set()
        self.announced: list[tuple[int, Most]] = []
        self.caller = Caller(settings, {"api_key": KEY}, self.records.append, self._announce)

    async def _announce(self, episode: int, most: Most) -> None:
        self.announced.append((episode, most))
        await self.noted.wait()

    async def ask(self, step: int = 0, until: float = math.inf, prompt: Any = PROMPT) -> Completion:
        return await self.caller.call(
            CallId("green_0", 3, step, until=until), prompt, ReplyRequest(seed=step)
        )

    async def aclose(self) -> None:
        await self.caller.aclose()


def soon() -> float:
    """So little time that no wait of a minute fits into it."""
    return asyncio.get_running_loop().time() + 30


def in_turn(*answers: Reply | Raw | str) -> Any:
    """Answers by the number of the request, the last of them for all that follow."""
    return lambda request: answers[min(request.number, len(answers) - 1)]


# -- records -------------------------------------------------------------------------------


async def test_a_call_is_recorded_with_all_that_is_known(fake: FakeModelServer) -> None:
    fake.script = lambda request: Reply("left", "A wall.", tokens=(1000, 20), model="gpt-4o-mini-2024-07-18")
    async with aclosing(Slot(fake.url)) as slot:
        await slot.ask(5)
        (record,) = slot.records
        latency, most = record.pop("latency_ms"), record.pop("most")
        assert most["tokens"] > 512 and most["usd"] > 512 * 0.6 / 1e6
        assert record == {
            "kind": "chat",
            "ref": "green_0/3/5/0/0",
            "agent": "green_0",
            "episode": 3,
            "step": 5,
            "attempt": 0,
            "turn": 0,
            "provider": "openai",
            "model": MODEL,
            "model_reported": "gpt-4o-mini-2024-07-18",
            "messages": PROMPT,
            "reply": "left",
            "thinking": "A wall.",
            "finish": "stop",
            "tokens": {"input": 1000, "output": 20},
            "usd": pytest.approx(0.000162),
            "error": "",
            "retries": 0,
            "replayed": False,
        }
        assert latency > 0
        assert slot.caller.spent == CostSoFar(1, 1000, 20, pytest.approx(0.000162))


async def test_a_picture_is_recorded_by_its_digest_and_size(fake: FakeModelServer) -> None:
    picture = {"type": "image_url", "image_url": {"url": RED}}
    prompt = [{"role": "user", "content": [{"type": "text", "text": "Look."}, picture]}]
    async with aclosing(Slot(fake.url)) as slot:
        await slot.ask(prompt=prompt)
        words, seen = slot.records[0]["messages"][0]["content"]
        assert words == {"type": "text", "text": "Look."}
        assert (seen["image"]["width"], seen["image"]["height"]) == (4, 2)
        assert len(seen["image"]["sha256"]) == 64
        assert "iVBORw0" not in json.dumps(slot.records)
        assert fake.requests[0].messages == prompt


async def test_whatever_a_model_says_can_be_recorded(fake: FakeModelServer) -> None:
    call = {"id": "c\ud800", "function": {"name": "f\x00", "arguments": '"\udfff'}}
    message = {"content": "\ud83d \x00 \u2028 é", "reasoning": "\udc00", "tool_calls": [call]}
    choices = [{"message": message, "finish_reason": "\ud800"}]
    fake.script = lambda request: Reply(more={"choices": choices, "model": "\ud800"})
    async with aclosing(Slot(fake.url)) as slot:
        await slot.ask()
        assert read_object(json.dumps(slot.records[0]), "a call") == slot.records[0]


async def test_switched_off_only_numbers_are_kept(fake: FakeModelServer) -> None:
    async with aclosing(Slot(fake.url, cassette="off")) as slot:
        await slot.ask()
        (record,) = slot.records
        assert record["tokens"] == {"input": 100, "output": 10}
        assert "Where to" not in json.dumps(record)
        assert not {"messages", "reply"} & record.keys()


async def test_a_dry_run_asks_nobody_and_estimates_the_price(fake: FakeModelServer) -> None:
    async with aclosing(Slot(fake.url, dry_run=True, max_tokens=200)) as slot:
        with pytest.raises(DryRun, match="dry run"):
            await slot.ask(7)
        (record,) = slot.records
        tokens = estimate_tokens(PROMPT, ReplyRequest(seed=7))
        assert (record["kind"], record["ref"], record["messages"]) == ("dry", "green_0/3/7/0/0", PROMPT)
        assert record["tokens"] == {"input": tokens, "output": 200}
        assert record["usd"] == pytest.approx((0.15 * tokens + 0.6 * 200) / 1e6)
        assert record["requests"] == 5, "each may be sent again four times"
        assert record["most"]["tokens"] >= 2 * most_tokens(PROMPT) + 200
        assert not fake.requests
        assert slot.caller.spent.calls == 0


async def test_the_key_is_in_no_record_and_no_log(
    fake: FakeModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    fake.script = in_turn(refusal(429, KEY, retry_after="0"), refusal(401, f"no such key: {KEY}"))
    async with aclosing(Slot(fake.url)) as slot:
        with caplog.at_level(logging.DEBUG), pytest.raises(FatalCallError) as caught:
            await slot.ask()
        assert fake.requests[0].key == KEY
        said = [str(caught.value), repr(slot.caller), json.dumps(slot.records), caplog.text]
        assert not [text for text in said if KEY in text]


# -- insisting -----------------------------------------------------------------------------


async def test_a_busy_server_is_asked_again_when_it_says(fake: FakeModelServer) -> None:
    fake.script = in_turn(
        refusal(429, "slow down", retry_after="0.2"), refusal(500, "oops", retry_after="0"), "left"
    )
    async with aclosing(Slot(fake.url)) as slot:
        assert (await slot.ask()).text == "left"
        first, second, third = fake.requests
        assert second.at - first.at >= 0.2
        assert first.body == second.body == third.body
        (record,) = slot.records
        assert (record["retries"], record["error"], record["reply"]) == (2, "", "left")


async def test_while_a_server_rests_nobody_asks_it(
    fake: FakeModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "mosaic_llm_worker")
    fake.script = in_turn(refusal(429, "slow down", retry_after="0.5"), "left")
    async with aclosing(Slot(fake.url)) as slot:
        first = asyncio.create_task(slot.ask(0))
        await in_time(lambda: "trying again in" in caplog.text, "the slot knows that the server rests")
        await asyncio.gather(first, *[slot.ask(step) for step in range(1, 4)])
        assert len(fake.requests) == 5
        assert min(request.at for request in fake.requests[1:]) - fake.requests[0].at >= 0.5


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (refusal(503, "down", retry_after="0"), r"is busy \(503\): down \(tried 3 times\)"),
        (Raw(body=b"{", headers={"Retry-After": "0"}), r"is not a JSON object.*tried 3 times"),
    ],
)
async def test_it_gives_up_after_its_retries(fake: FakeModelServer, answer: Raw, words: str) -> None:
    fake.script = in_turn(answer)
    async with aclosing(Slot(fake.url, retries=2)) as slot:
        with pytest.raises(NoUsableReply, match=words):
            await slot.ask()
        assert len(fake.requests) == 3
        (record,) = slot.records
        assert (record["retries"], record["reply"], record["tokens"]) == (2, "", {"input": 0, "output": 0})
        assert record["error"]


async def test_it_does_not_wait_beyond_the_time_an_answer_is_wanted(fake: FakeModelServer) -> None:
    fake.script = in_turn(refusal(429, "slow down", retry_after="3600"))
    async with aclosing(Slot(fake.url)) as slot:
        with pytest.raises(NoUsableReply, match=r"no answer in time.*slow down"):
            await slot.ask(until=soon())
        assert len(fake.requests) == 1
        assert slot.records[0]["retries"] == 0


async def test_a_reply_that_comes_too_late_is_none(fake: FakeModelServer) -> None:
    fake.script = in_turn(Raw(body=b"{" * 9, stall_after=3))
    async with aclosing(Slot(fake.url)) as slot:
        with pytest.raises(NoUsableReply, match="has not replied yet"):
            await slot.ask(until=asyncio.get_running_loop().time() + 0.3)
        assert "no answer in time" in slot.records[0]["error"]


async def test_a_stalled_server_is_asked_again(fake: FakeModelServer) -> None:
    fake.script = in_turn(Raw(body=b"{" * 9, stall_after=3), "left")
    async with aclosing(Slot(fake.url, timeout_s=0.3)) as slot:
        assert (await slot.ask()).text == "left"
        assert slot.records[0]["retries"] == 1


async def test_a_reply_without_end_is_no_reply(fake: FakeModelServer) -> None:
    fake.script = lambda request: "la " * 350_000
    async with aclosing(Slot(fake.url)) as slot:
        with pytest.raises(NoUsableReply, match="1,050,000 characters"):
            await slot.ask()
        (record,) = slot.records
        assert len(record["reply"]) == 2000
        assert record["tokens"]["output"] > 250_000, "ten tokens have not so many characters"
        assert "counted 10 tokens for a reply of 1,050,000 bytes" in record["estimated"]
        assert slot.caller.spent.calls == 1


async def test_after_a_refused_key_nobody_is_asked_again(fake: FakeModelServer) -> None:
    fake.script = in_turn(refusal(401, "no such key"))
    async with aclosing(Slot(fake.url)) as slot:
        for step in range(3):
            with pytest.raises(FatalCallError, match="refuses the key"):
                await slot.ask(step)
        assert len(fake.requests) == 1
        assert [record["fatal"] for record in slot.records] == [True]


async def test_a_call_that_is_not_wanted_any_more_is_recorded(fake: FakeModelServer) -> None:
    fake.script = in_turn(Raw(stall_after=0))
    async with aclosing(Slot(fake.url)) as slot:
        task = asyncio.create_task(slot.ask())
        await asyncio.to_thread(fake.wait_for, 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert slot.records[0]["error"] == "canceled: the session no longer waited for the answer"


# -- pace ----------------------------------------------------------------------------------


async def test_requests_are_as_far_apart_as_the_limit_says(fake: FakeModelServer) -> None:
    async with aclosing(Slot(fake.url, requests_per_minute=600)) as slot:
        loop = asyncio.get_running_loop()
        began = loop.time()
        await asyncio.gather(*[slot.ask(step) for step in range(6)])
        assert loop.time() - began >= 0.5
        assert len(fake.requests) == 6


async def test_whose_turn_comes_too_late_is_told_at_once(fake: FakeModelServer) -> None:
    async with aclosing(Slot(fake.url, requests_per_minute=1)) as slot:
        await slot.ask(0)
        with pytest.raises(NoUsableReply, match="limit of requests per minute"):
            await slot.ask(1, until=soon())
        assert len(fake.requests) == 1


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that processes share which ask the same models."""
    folder = tmp_path / "requests"
    monkeypatch.setenv("MOSAIC_REQUESTS_DIR", str(folder))
    return folder


async def test_all_who_ask_a_model_keep_to_its_limit_together(fake: FakeModelServer, shared: Path) -> None:
    async with AsyncExitStack() as open_slots:
        slots = [
            await open_slots.enter_async_context(aclosing(Slot(fake.url, requests_per_minute=600)))
            for _ in range(3)
        ]
        began = asyncio.get_running_loop().time()
        await asyncio.gather(*[slot.ask(step) for slot in slots for step in range(2)])
        assert asyncio.get_running_loop().time() - began >= 0.5
        assert len(fake.requests) == 6
    assert [file.stat().st_mode & 0o777 for file in shared.iterdir()] == [0o600]


async def test_other_models_are_not_waited_for(fake: FakeModelServer, shared: Path) -> None:
    for model in (MODEL, "gpt-4o"):
        async with aclosing(Slot(fake.url, requests_per_minute=1, model_id=model)) as slot:
            await slot.ask(0, until=soon())
    assert len(fake.requests) == 2


async def test_who_has_ended_leaves_no_turn_taken(fake: FakeModelServer, shared: Path) -> None:
    async with aclosing(Slot(fake.url, requests_per_minute=6)) as slot:
        await slot.ask(0)
        waiting = [asyncio.create_task(slot.ask(step)) for step in range(1, 9)]
        await asyncio.sleep(0)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    async with aclosing(Slot(fake.url, requests_per_minute=6)) as slot:
        asking = asyncio.create_task(slot.ask(9, until=soon()))
        done, _ = await asyncio.wait({asking}, timeout=0.1)
        assert not done, "it waits for ten seconds, not for ninety"
        asking.cancel()


async def test_a_part_of_a_run_has_its_part_of_the_limit(
    fake: FakeModelServer, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOSAIC_PLAYED_AT_ONCE", "8")
    for part in ("1", "2"):
        monkeypatch.setenv("MOSAIC_COORDINATED", part)
        async with aclosing(Slot(fake.url, requests_per_minute=6)) as slot:
            await slot.ask(0, until=soon())
            with pytest.raises(NoUsableReply, match="limit of requests per minute"):
                await slot.ask(1, until=soon())
    assert len(fake.requests) == 2


async def test_that_others_are_not_seen_is_told(
    fake: FakeModelServer, shared: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with aclosing(Slot(fake.url, requests_per_minute=1)) as slot:
        shared.rmdir()
        await slot.ask(0)
        with pytest.raises(NoUsableReply, match="limit of requests per minute"):
            await slot.ask(1, until=soon())
    assert "applies to each process separately" in caplog.text


# -- budgets -------------------------------------------------------------------------------


async def test_a_token_budget_stops_with_its_figures(fake: FakeModelServer) -> None:
    fake.script = lambda request: Reply("left", tokens=(300, 50))
    async with aclosing(Slot(fake.url, token_budget=1000, max_tokens=100)) as slot:
        for step in range(2):
            await slot.ask(step)
        with pytest.raises(BudgetSpent, match=r"used up: 700 of 1,000 tokens in 2 calls, .* may need 400"):
            await slot.ask(2)
        assert len(fake.requests) == len(slot.records) == 2


async def test_a_money_budget_stops_with_its_figures(fake: FakeModelServer) -> None:
    fake.script = lambda request: Reply("left", tokens=(100_000, 1))
    async with aclosing(Slot(fake.url, money_budget_usd=0.04)) as slot:
        await slot.ask(0)
        await slot.ask(1)
        with pytest.raises(BudgetSpent, match=r"used up: \$0\.0300 of \$0\.0400 in 2 calls"):
            await slot.ask(2)


async def test_calls_at_once_cannot_pass_the_budget_together(fake: FakeModelServer) -> None:
    fake.script = lambda request: Reply("left", tokens=(10, 40), after_s=0.1)
    async with aclosing(Slot(fake.url, token_budget=1000, max_tokens=200)) as slot:
        came = await asyncio.gather(*[slot.ask(step) for step in range(40)], return_exceptions=True)
        answered = [reply for reply in came if isinstance(reply, Completion)]
        assert {type(reply) for reply in came} == {Completion, BudgetSpent}
        # Those under way might have cost 200 each, but cost 50: others that waited for them got their room.
        assert len(answered) > 1000 // 200
        assert slot.caller.spent.tokens == 50 * len(answered) <= 1000
        assert fake.most_at_once <= 1000 // 200


async def test_who_waits_for_the_budget_waits_no_longer_than_wanted(fake: FakeModelServer) -> None:
    fake.script = in_turn(Raw(stall_after=0))
    async with aclosing(Slot(fake.url, token_budget=700)) as slot:
        first = asyncio.create_task(slot.ask(0))
        await asyncio.to_thread(fake.wait_for, 1)
        with pytest.raises(NoUsableReply, match="other calls"):
            await slot.ask(1, until=asyncio.get_running_loop().time() + 0.1)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        assert len(fake.requests) == 1


async def test_no_request_of_an_episode_with_a_budget_is_sent_before_it_is_on_record(
    fake: FakeModelServer,
) -> None:
    fake.script = in_turn(refusal(500, "busy"), Reply("left", tokens=(10, 5)))
    async with aclosing(Slot(fake.url, retries=1)) as slot:
        slot.noted.clear()
        slot.caller.begin(EpisodeStart(3, 0, tokens=10_000, usd=1.0))
        asking = asyncio.create_task(slot.ask())
        await in_time(lambda: slot.announced, "it is announced")
        await asyncio.sleep(0.2)
        assert not fake.requests and not asking.done(), "it waits"
        slot.noted.set()
        await asking
        (record,) = slot.records
        most = Most(**record["most"])
        assert slot.announced == [(3, most), (3, most)], "each, the second one after a refusal"
        assert len(fake.requests) == record["announced"] == 2


async def test_a_request_that_is_given_up_before_it_is_on_record_has_cost_nothing(
    fake: FakeModelServer,
) -> None:
    async with aclosing(Slot(fake.url)) as slot:
        slot.noted.clear()
        slot.caller.begin(EpisodeStart(3, 0, tokens=10_000))
        with pytest.raises(NoUsableReply, match="the run had not recorded the request by then"):
            await slot.ask(until=asyncio.get_running_loop().time() + 0.1)
        (record,) = slot.records
        assert record["announced"] == 1 and "unsure" not in record and record["tokens"]["input"] == 0
    assert not fake.requests


async def test_an_episode_whose_time_is_over_accounts_for_what_it_announced(fake: FakeModelServer) -> None:
    async with aclosing(Slot(fake.url, episode_time_limit_s=0.1)) as slot:
        slot.noted.clear()
        slot.caller.begin(EpisodeStart(3, 0, tokens=10_000))
        with pytest.raises(LimitReached, match=r"has used its 0\.1 s"):
            await slot.ask()
        (record,) = slot.records
        assert record["announced"] == 1 and "unsure" not in record
    assert not fake.requests


async def test_without_a_budget_nothing_is_announced(fake: FakeModelServer) -> None:
    async with aclosing(Slot(fake.url, token_budget=100_000)) as slot:
        slot.caller.begin(EpisodeStart(3, 0))
        await slot.ask()
        assert not slot.announced and "announced" not in slot.records[0]


async def test_of_a_model_without_a_price_nothing_is_made_up(fake: FakeModelServer) -> None:
    async with aclosing(Slot(fake.url, model_id="my-own")) as slot:
        await slot.ask()
        assert slot.records[0]["usd"] is None
        assert slot.caller.spent == CostSoFar(1, 100, 10, None)


async def test_what_a_server_had_kept_has_a_price_of_its_own(fake: FakeModelServer) -> None:
    """Two thousand tokens, first written to Anthropic's cache, then read from it; OpenAI counts by itself."""
    usage = (
        {"input_tokens": 100, "cache_creation_input_tokens": 1900, "output_tokens": 10},
        {"input_tokens": 100, "cache_read_input_tokens": 1900, "output_tokens": 10},
    )
    fake.script = lambda request: Reply("left", more={"usage": usage[request.number]})
    given = {"client_name": "anthropic", "model_id": "claude-haiku-4-5", "prompt_caching": True}
    async with aclosing(Slot(fake.url, **given)) as slot:
        await slot.ask(0)
        await slot.ask(1)
        assert [call["tokens"] for call in slot.records] == [
            {"input": 2000, "output": 10, "cache_written": 1900},
            {"input": 2000, "output": 10, "cached": 1900},
        ]
        written, read = (call["usd"] for call in slot.records)
        assert written == pytest.approx((100 * 1 + 1900 * 1.25 + 10 * 5) / 1e6)
        assert read == pytest.approx((100 * 1 + 1900 * 0.1 + 10 * 5) / 1e6)
    openai = {
        "prompt_tokens": 2000,
        "completion_tokens": 50,
        "prompt_tokens_details": {"cached_tokens": 1536},
        "completion_tokens_details": {"reasoning_tokens": 40},
    }
    fake.script = lambda request: Reply("left", more={"usage": openai})
    async with aclosing(Slot(fake.url)) as slot:
        await slot.ask()
        (record,) = slot.records
        assert record["tokens"] == {"input": 2000, "output": 50, "cached": 1536, "reasoning": 40}
        assert record["usd"] == pytest.approx((464 * 0.15 + 1536 * 0.075 + 50 * 0.6) / 1e6)


async def test_a_cache_that_may_cost_more_is_in_the_bound(fake: FakeModelServer) -> None:
    given = {"client_name": "anthropic", "model_id": "claude-haiku-4-5", "max_tokens": 1}
    most = (most_tokens(PROMPT) + 5) / 1e6
    async with aclosing(Slot(fake.url, **given, money_budget_usd=most)) as slot:
        await slot.ask()
    async with aclosing(Slot(fake.url, **given, money_budget_usd=most, prompt_caching=True)) as slot:
        with pytest.raises(BudgetSpent):
            await slot.ask()


async def test_a_request_that_ran_out_of_time_may_have_been_paid_for(fake: FakeModelServer) -> None:
    fake.script = in_turn(Raw(stall_after=0))
    async with aclosing(Slot(fake.url, timeout_s=0.1, retries=1, max_tokens=100)) as slot:
        with pytest.raises(NoUsableReply):
            await slot.ask()
        (record,) = slot.records
        assert record["usd"] is None and record["tokens"] == {"input": 0, "output": 0}
        assert record["unsure"]["requests"] == len(fake.requests) == 2
        assert record["unsure"]["tokens"] == 2 * record["most"]["tokens"] > 2 * 100
        assert record["unsure"]["usd"] == pytest.approx(2 * record["most"]["usd"])
        assert slot.caller.spent.most_usd == record["unsure"]["usd"]


async def test_requests_without_an_answer_use_the_budget_up(fake: FakeModelServer) -> None:
    fake.script = in_turn(Raw(stall_after=0))
    async with aclosing(Slot(fake.url, timeout_s=0.05, retries=20, max_tokens=100, token_budget=600)) as slot:
        with pytest.raises(BudgetSpent, match="that may have been paid for"):
            await slot.ask()
        most = 600 // slot.records[0]["most"]["tokens"]
        assert 1 < most < 20 and slot.records[0]["unsure"]["requests"] == most
        with pytest.raises(BudgetSpent):
            await slot.ask(1)
        assert len(fake.requests) <= most, "nothing more is sent"


@pytest.mark.parametrize("more", [{"choices": []}, {"choices": [{"index": 0, "error": {"code": 502}}]}])
async def test_a_reply_without_words_costs_what_it_costs(fake: FakeModelServer, more: dict[str, Any]) -> None:
    fake.script = in_turn(Reply("", tokens=(1000, 20), more=more))
    async with aclosing(Slot(fake.url, retries=2)) as slot:
        with pytest.raises(NoUsableReply):
            await slot.ask()
        (record,) = slot.records
        assert record["tokens"] == {"input": 3000, "output": 60}
        assert record["usd"] == pytest.approx(3 * (1000 * 0.15 + 20 * 0.6) / 1e6)
        assert "unsure" not in record
    fake.script = in_turn(Reply("", more={**more, "usage": None}))
    async with aclosing(Slot(fake.url, retries=0)) as slot:
        with pytest.raises(NoUsableReply):
            await slot.ask()
        assert slot.records[0]["unsure"]["requests"] == 1


@pytest.mark.parametrize("tokens", [(0, 0), (2_000_000_000, 2_000_000_000), (-5, 10), ("many", None)])
async def test_a_count_that_cannot_be_is_not_believed(fake: FakeModelServer, tokens: Any) -> None:
    usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    fake.script = lambda request: Reply("left " * 20, more={"usage": usage})
    async with aclosing(Slot(fake.url)) as slot:
        await slot.ask()
        (record,) = slot.records
        assert record["tokens"]["input"] == estimate_tokens(PROMPT)
        assert 10 < record["tokens"]["output"] < 100 or tokens[1] == 10
        assert "estimated from the length" in record["estimated"]
        assert 0 < record["usd"] < 0.001


async def test_a_limit_of_each_episode_is_one_of_each(fake: FakeModelServer) -> None:
    fake.script = lambda request: Reply("left", tokens=(100, 10))
    async with aclosing(Slot(fake.url, episode_token_limit=400, max_tokens=100)) as slot:
        for episode in (3, 4):
            slot.caller.begin(EpisodeStart(episode, 0))
            await slot.caller.call(CallId("green_0", episode, 0), PROMPT, ReplyRequest())
            await slot.caller.call(CallId("green_0", episode, 1), PROMPT, ReplyRequest())
            with pytest.raises(
                LimitReached, match="the token budget of the episode is used up: 220 of 400"
            ) as over:
                await slot.caller.call(CallId("green_0", episode, 2), PROMPT, ReplyRequest())
            assert over.value.own
            slot.caller.end(episode)
        assert len(fake.requests) == 4


async def test_an_episode_has_its_share_of_the_run_and_its_time(fake: FakeModelServer) -> None:
    fake.script = lambda request: Reply("left", tokens=(1000, 10))
    async with aclosing(Slot(fake.url)) as slot:
        slot.caller.begin(EpisodeStart(3, 0, usd=0.0010))
        await slot.ask()
        with pytest.raises(BudgetSpent, match=r"money budget of the run .* of \$0\.0010 in") as over:
            for step in range(1, 9):
                await slot.ask(step)
        assert not over.value.own and slot.caller.spent.most_usd <= 0.001
    async with aclosing(Slot(fake.url, episode_time_limit_s=0.01)) as slot:
        slot.caller.begin(EpisodeStart(3, 0))
        await asyncio.sleep(0.02)
        with pytest.raises(LimitReached, match=r"used its 0\.01 s"):
            await slot.ask()
    fake.script = lambda request: Raw(stall_after=0)
    async with aclosing(Slot(fake.url, episode_time_limit_s=0.2, timeout_s=5, retries=0)) as slot:
        slot.caller.begin(EpisodeStart(3, 0))
        with pytest.raises(LimitReached, match=r"used its 0\.2 s"):  # a request does not outlast it
            await slot.ask()
        assert slot.caller.spent.unsure == 1, "it may have been paid for"


@pytest.mark.parametrize(
    ("client", "model", "price"),
    [
        ("openai", "gpt-4o-mini", Price(0.15, 0.6, 0.075)),
        ("openai", "gpt-4o-mini-2024-07-18", Price(0.15, 0.6, 0.075)),
        ("openai", "gpt-4o", Price(2.5, 10, 1.25)),
        ("openai", "gpt-4o-2024-05-13", Price(5, 15)),
        ("openai", "gpt-4o-audio-preview", None),
        ("openai", "o1-pro", None),
        ("anthropic", "claude-opus-4-20250514", Price(15, 75, 1.5, 18.75)),
        ("anthropic", "claude-opus-4-5-20251101", Price(5, 25, 0.5, 6.25)),
        ("anthropic", "claude-haiku-4-5", Price(1, 5, 0.1, 1.25)),
        ("openrouter", "openai/gpt-4o", Price(2.5, 10)),
        ("openrouter", "someone/else", None),
        ("ollama", "llama3.2:1b", Price(0, 0)),
        ("custom", "gpt-4o", None),
    ],
)
def test_prices(client: str, model: str, price: Price | None) -> None:
    assert price_of(client, model) == price


# -- another model in its place ----------------------------------------------------------------


def by_model(**answers: Reply | Raw | str) -> Any:
    """Answers by the model that is asked; ``_`` stands for a dash in its name."""
    return lambda request: answers[request.json["model"].replace("-", "_").replace(".", "_")]


async def test_another_model_is_asked_in_order_where_one_cannot_answer(fake: FakeModelServer) -> None:
    fake.script = by_model(
        gpt_4o=refusal(503, "overloaded", retry_after="0"),
        gpt_4_1=refusal(500, "oops", retry_after="0"),
        gpt_4o_mini=Reply("left", tokens=(1000, 20), model="gpt-4o-mini-2024-07-18"),
    )
    given = {"model_id": "gpt-4o", "fallback_models": ["gpt-4.1", "gpt-4o-mini"], "retries": 1}
    async with aclosing(Slot(fake.url, **given)) as slot:
        assert (await slot.ask()).text == "left"
        asked = ["gpt-4o", "gpt-4o", "gpt-4.1", "gpt-4.1", "gpt-4o-mini"]
        assert [request.json["model"] for request in fake.requests] == asked
        others = [{k: v for k, v in request.json.items() if k != "model"} for request in fake.requests]
        assert all(other == others[0] for other in others), "the request is the same, but for the model"
        (record,) = slot.records
        assert (record["model"], record["fallback"]) == ("gpt-4o", "gpt-4o-mini")
        assert record["model_reported"] == "gpt-4o-mini-2024-07-18"
        assert [tried["model"] for tried in record["tried"]] == ["gpt-4o", "gpt-4.1"]
        assert "is busy (503): overloaded (tried 2 times)" in record["tried"][0]["error"]
        assert (record["error"], record["retries"]) == ("", 2)
        assert record["usd"] == pytest.approx(0.000162), "at the price of who has answered"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (refusal(429, "slow down", retry_after="0"), "busy"),
        (refusal(500, "oops", retry_after="0"), "failed"),
        (Raw(body=b"<html>"), "failed"),
        (Reply("late", after_s=30), "timeout"),
        (refusal(404, "The model does not exist", code="model_not_found"), "missing"),
        (refusal(400, "flagged as harmful"), "refused"),
    ],
)
async def test_which_failures_lead_on_is_said_by_kind(
    fake: FakeModelServer, answer: Reply | Raw, kind: str
) -> None:
    fake.script = by_model(gpt_4o=answer, gpt_4o_mini="left")
    given: dict[str, Any] = {"model_id": "gpt-4o", "fallback_models": ["gpt-4o-mini"], "retries": 0}
    if kind == "timeout":
        given["timeout_s"] = 0.3
    async with aclosing(Slot(fake.url, **given, fallback_on=[kind])) as slot:
        assert (await slot.ask()).text == "left"
    rest = [other for other in ("busy", "failed", "timeout", "missing", "refused") if other != kind]
    async with aclosing(Slot(fake.url, **given, fallback_on=rest)) as slot:
        with pytest.raises((NoUsableReply, FatalCallError)):
            await slot.ask()
        assert "fallback" not in slot.records[0]


async def test_a_model_that_is_not_there_is_not_asked_twice(fake: FakeModelServer) -> None:
    missing = refusal(404, "The model does not exist", code="model_not_found")
    fake.script = by_model(gpt_4o=missing, gpt_4o_mini="left")
    given = {"model_id": "gpt-4o", "fallback_models": ["gpt-4o-mini"], "fallback_on": ["missing"]}
    async with aclosing(Slot(fake.url, **given)) as slot:
        for step in range(3):
            await slot.ask(step)
        assert [request.json["model"] for request in fake.requests].count("gpt-4o") == 1
        assert [record["fallback"] for record in slot.records] == ["gpt-4o-mini"] * 3


async def test_no_other_model_is_asked_with_a_key_that_is_refused(fake: FakeModelServer) -> None:
    fake.script = lambda request: refusal(401, "bad key")
    every = ["busy", "failed", "timeout", "missing", "refused"]
    async with aclosing(Slot(fake.url, fallback_models=["gpt-4o"], fallback_on=every)) as slot:
        with pytest.raises(FatalCallError, match="refuses the key"):
            await slot.ask()
        assert len(fake.requests) == 1


async def test_a_bound_holds_for_the_dearest_of_the_models(fake: FakeModelServer) -> None:
    """The call would fit with the model alone (at most $0.0003), not with the one that stands in for it."""
    given = {"money_budget_usd": 0.001}
    async with aclosing(Slot(fake.url, **given)) as slot:
        await slot.ask()
    async with aclosing(Slot(fake.url, **given, fallback_models=["gpt-4o"])) as slot:
        with pytest.raises(BudgetSpent):
            await slot.ask()
    with pytest.raises(LoadError, match="no price for openai model 'nobody-1'"):
        Slot(fake.url, **given, fallback_models=["nobody-1"])


# -- what is refused before anything is asked ----------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "secrets", "words"),
    [
        ({}, {}, "openai needs a key.*keyring:openai.*env:OPENAI_API_KEY"),
        ({"model_id": ""}, {"api_key": KEY}, "set model_id"),
        ({"model_id": "new", "money_budget_usd": 1}, {"api_key": KEY}, "no price for openai model 'new'"),
        ({}, {"api_key": "sk-a b"}, "a key cannot have"),
        ({"cassette": "replay", "cassette_file": "/no/such/calls.jsonl"}, {}, "cannot be read: No such file"),
    ],
)
def test_a_slot_that_could_make_no_call_is_refused(wrong: Any, secrets: dict[str, str], words: str) -> None:
    settings = ServerSettings.model_validate({"client_name": "openai", "model_id": MODEL, **wrong})
    with pytest.raises(LoadError, match=words) as caught:
        Caller(settings, secrets, print)
    assert KEY not in str(caught.value)


def test_a_dry_run_needs_no_key() -> None:
    settings = ServerSettings(client_name="anthropic", model_id="claude-haiku-4-5", dry_run=True)
    assert Caller(settings, {}, print).spent == CostSoFar()


# -- a real model --------------------------------------------------------------------------


@pytest.mark.full
async def test_a_real_model_answers_the_same_to_the_same(model_server: ModelServer) -> None:
    # Without chance: its seed is the server's, which shares it with whatever else it still answers.
    slot = Slot(
        model_server.url, client_name="transformers", model_id=TEXT_MODEL, max_tokens=12, temperature=0
    )
    async with aclosing(slot):
        first, again = [await slot.ask(step) for step in (1, 1)]
        assert first.text == again.text != ""
        assert (first.finish, first.output_tokens) == ("length", 12)
        assert first.input_tokens > len(PROMPT)
        assert first.model.startswith(TEXT_MODEL)
        assert slot.records[0]["usd"] == 0.0


@pytest.mark.full
async def test_a_real_model_sees_a_picture(model_server: ModelServer) -> None:
    slot = Slot(model_server.url, client_name="transformers", model_id=VISION_MODEL, max_tokens=12)
    picture = {"type": "image_url", "image_url": {"url": RED}}
    prompt = [{"role": "user", "content": [{"type": "text", "text": "Look."}, picture]}]
    async with aclosing(slot):
        assert (await slot.ask(prompt=prompt)).text
        without = await slot.ask(prompt=[{"role": "user", "content": "Look."}])
        assert slot.records[0]["tokens"]["input"] > without.input_tokens
