"""mini-swe-agent's model layer (litellm) with patience, counting, refusals by mechanical signs, and typed failures."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import litellm
from litellm import exceptions
from minisweagent.exceptions import InterruptAgentFlow
from minisweagent.models.litellm_model import LitellmModel
from minisweagent.models.litellm_textbased_model import LitellmTextbasedModel

from scenlint.harness.llm import prompts

LONGEST_WAIT = 120.0  # seconds between two tries
_PROVIDER = (
    exceptions.RateLimitError, exceptions.Timeout, exceptions.APIConnectionError, exceptions.InternalServerError,
    exceptions.ServiceUnavailableError, exceptions.BadGatewayError, exceptions.APIError,
)  # fmt: skip
_PASSING = (408, 409, 425, 429)  # statuses of this kind that pass
_DENIED = (
    exceptions.AuthenticationError, exceptions.PermissionDeniedError, exceptions.NotFoundError,
    exceptions.UnsupportedParamsError,
)  # fmt: skip
_QUOTA = re.compile("insufficient_quota|exceeded your current quota", re.IGNORECASE)  # no wait helps
_KINDS = re.compile(r"\A(?:(?:litellm\.)?\w+(?:Error|Exception|Timeout)(?:: | - ))+")
_REFUSED_FINISH = ("content_filter", "refusal")


class Refused(InterruptAgentFlow):  # type: ignore[misc,unused-ignore]
    """The provider marked the reply as a refusal."""

    STATUS = "Refused"


@dataclass
class Spent:
    """What the model has used up; `tell` is given it after each reply, `wait` why there is a wait."""

    tell: Callable[[dict[str, Any]], None]
    wait: Callable[[str], None]
    replies: int = 0
    input: int = 0
    output: int = 0
    cost: float | None = 0.0  # None: the price of a reply was not known
    finish: str = ""  # why the last reply ended
    words: str = ""  # its text
    plain: bool = False  # it had no tool call at all

    def add(self, response: Any, cost: float | None) -> None:
        usage = getattr(response, "usage", None)
        self.replies += 1
        self.input += getattr(usage, "prompt_tokens", 0) or 0
        self.output += getattr(usage, "completion_tokens", 0) or 0
        self.cost = None if cost is None or self.cost is None else round(self.cost + cost, 9)
        self.tell({"cost_usd": self.cost, "input_tokens": self.input, "output_tokens": self.output})


class _Patient:
    """What is added to either model class."""

    config: Any
    abort_exceptions: ClassVar = [Exception]  # all tries are made here

    def __init__(self, job: dict[str, Any], spent: Spent) -> None:
        parameters = {**job["parameters"], "drop_params": True}
        for name, value in {"temperature": job["temperature"], "max_tokens": job["reply_tokens"]}.items():
            if value is not None:
                parameters[name] = value
        super().__init__(  # type: ignore[call-arg]
            model_name=job["model"],
            model_kwargs=parameters,
            cost_tracking="ignore_errors",
            set_cache_control="default_end" if re.search("anthropic|claude", job["model"]) else None,
            observation_template=prompts.OBSERVATION,
            format_error_template=prompts.FORMAT_ERROR if job["tools"] else prompts.FORMAT_ERROR_WITHOUT_TOOLS,
        )
        self.spent, self.price, self.retries = spent, job["price"], job["retries"]
        # Not in `config`, which goes into the trajectory.
        # An endpoint of one's own may want no key, and the client insists on one.
        key = job["key"] or ("none" if job["base_url"] else None)
        self._access = {"api_key": key, "api_base": job["base_url"] or None}
        self._access |= {"timeout": job["request_timeout"], "max_retries": 0, "num_retries": 0}

    def _query(self, messages: list[dict[str, Any]], **kwargs: Any) -> Any:
        tries = 0
        while True:
            try:
                return super()._query(messages, **self._access, **kwargs)  # type: ignore[misc]
            except Exception as exc:
                tries += 1
                if tries > self.retries or not _passes(exc):
                    exc.tries = tries  # type: ignore[attr-defined]
                    raise
                self.spent.wait(_said(exc))
                time.sleep(_pause(exc, tries))

    def _calculate_cost(self, response: Any) -> dict[str, float]:
        usage = getattr(response, "usage", None)
        cost: float | None = None
        if self.price:
            rates = zip(self.price, ("prompt_tokens", "completion_tokens"), strict=True)
            cost = sum(rate * (getattr(usage, key, 0) or 0) for rate, key in rates) / 1_000_000
        else:
            try:
                cost = litellm.completion_cost(response, model=self.config.model_name) or None
            except Exception:  # it has no one type of error for a price that it does not know
                cost = None
        self.spent.add(response, cost)
        return {"cost": cost or 0.0}

    def _parse_actions(self, response: Any) -> list[dict[str, Any]]:
        choice = response.choices[0]
        refusal = getattr(choice.message, "refusal", None)
        self.spent.finish = choice.finish_reason or ""
        self.spent.words = choice.message.content or ""
        self.spent.plain = not choice.message.tool_calls
        if refusal or choice.finish_reason in _REFUSED_FINISH:
            sign = f"refusal: `{str(refusal)[:300]}`" if refusal else f"finish_reason `{choice.finish_reason}`"
            reply = {"role": "assistant", "content": self.spent.words, "extra": {"response": response.model_dump()}}
            raise Refused(reply, {"role": "exit", "content": sign, "extra": {"exit_status": Refused.STATUS}})
        return list(super()._parse_actions(response))  # type: ignore[misc]


class _ToolModel(_Patient, LitellmModel):  # type: ignore[misc,unused-ignore]
    pass


class _TextModel(_Patient, LitellmTextbasedModel):  # type: ignore[misc,unused-ignore]
    pass


def endpoint(job: dict[str, Any], spent: Spent) -> Any:
    """The model of a job."""
    litellm.suppress_debug_info, litellm.telemetry = True, False
    return _ToolModel(job, spent) if job["tools"] else _TextModel(job, spent)


def typed(error: Exception, *, first: bool) -> tuple[str, str]:
    """The failure class of what ended the loop, and the evidence. `first`: the model has not replied yet."""
    tries = getattr(error, "tries", 1)
    told = _said(error) + (f" (tried {tries} times)" if tries > 1 else "")
    match error:
        case exceptions.ContextWindowExceededError():
            return "context", told
        case exceptions.ContentPolicyViolationError():
            return "refusal", told
        case _ if _passes(error) or _QUOTA.search(_whole(error)):
            return "provider", told
    # The agent itself may have made a request a bad one, but not the first.
    denied = isinstance(error, _DENIED) or _status(error) in (401, 403, 404)
    return "configuration" if denied or (first and 400 <= _status(error) < 500) else "agent-crash", told


def _passes(error: Exception) -> bool:
    """Whether it may be better at another try."""
    if 400 <= _status(error) < 500 and _status(error) not in _PASSING:
        return False
    return isinstance(error, _PROVIDER) and not _QUOTA.search(_whole(error))


def _status(error: Exception) -> int:
    found = getattr(error, "status_code", None)
    return found if isinstance(found, int) else 0


def _whole(error: Exception) -> str:
    return f"{error} {getattr(error, 'body', '')}"


def _pause(error: Exception, tries: int) -> float:
    """Seconds until the next try: what the provider asks for, else doubling, with some chance in it."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return min(max(float(headers.get("retry-after", "")), 0.0), LONGEST_WAIT)
    except ValueError:
        return min(2.0**tries, LONGEST_WAIT) * (0.5 + random.random() / 2)


def _said(error: Exception) -> str:
    """An error in one line, without advice that is about another program."""
    text = str(error).split(" You can permanently set your API key")[0]
    first = _KINDS.sub("", text.strip().partition("\n")[0])
    return f"{type(error).__name__}: {first[:500]}"
