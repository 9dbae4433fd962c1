"""A dry run: what would be sent, to be read; nothing is sent and nothing is stored."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jan_magics.api.answer import sent_of
from jan_magics.api.asking import plain_options
from jan_magics.api.host import Host
from jan_magics.domain.counting import counted
from jan_magics.domain.errors import LeakFound
from jan_magics.domain.messages import text_of
from jan_magics.engine.asking import Asking
from jan_magics.engine.naming import shown_title
from jan_magics.engine.session import Preview


@dataclass(frozen=True, slots=True)
class Plan:
    """A request that was not sent. `str()` is its text form, `.sent` the request as JSON."""

    text: str
    sent: dict[str, Any]

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text


def preview(host: Host, asking: Asking) -> Plan:
    """Return what a turn would send."""
    plan = host.preview(asking)
    return Plan(_described(plan, _stopped(host, plan)), sent_of(plan.request, plan.plan))


def _stopped(host: Host, plan: Preview) -> tuple[str, ...]:
    """Say that a key would stop it; while a cassette plays nothing is sent."""
    engine = host.session().engine
    try:
        if not engine.deck.playing:
            engine.guard.check(plan.request)
    except LeakFound as found:
        return (found.message.replace("was sent", "would be sent", 1),)
    return ()


def notices(shown: Preview) -> Iterator[str]:
    """Yield what must be said of a plan beside its table."""
    if shown.plan.refused:
        yield f"this would not be sent: {shown.plan.refused}"
    elif shown.first:
        count = counted(len(shown.first.messages), "message")
        yield f"a compaction of {count} comes before this is sent; shown is the plan without it"


def _described(plan: Preview, stopped: tuple[str, ...]) -> str:
    request = plan.request
    fit = plan.plan
    before = len(fit.sent) - 1
    left_out = len(fit.measured.path) - len(fit.sent) - len(fit.measured.system)
    thread = shown_title(plan.thread) if plan.thread else "a new one"
    about = "" if fit.exact else "≈"
    room = f" of {fit.budget.input:,}" if fit.budget.window else ", no limit"
    lines = [
        "nothing was sent",
        f"model    {plan.choice.model} ({plan.choice.why})",
        f"thread   {thread}, {counted(before, 'message')} before this one"
        + (f", {left_out} left out: %chat plan" if left_out else ""),
        f"budget   {about}{counted(fit.tokens, 'token')}{room}",
    ]
    lines += [f"but      {each}" for each in (*notices(plan), *stopped)]
    if options := plain_options(request.options):
        lines.append("options  " + ", ".join(f"{k}={v}" for k, v in options.items()))
    if request.tools:
        lines.append("tools    " + ", ".join(tool.name for tool in request.tools))
    if request.system:
        lines.append(f"system   {request.system}")
    return "\n".join((*lines, "prompt", text_of(request.messages[-1])))
