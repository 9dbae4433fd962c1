"""What changes what is sent and asks nobody: marks, a plan that was edited, a cleared context."""

from collections.abc import Mapping, Sequence

from jan_magics.context.plan import ContextPlan, plan_context
from jan_magics.context.rows import rows_of
from jan_magics.context.segments import ARCHIVED, TRUNCATED, look
from jan_magics.domain.errors import SettingError, ThreadError
from jan_magics.domain.messages import Json
from jan_magics.domain.overlays import (
    Change,
    ChangeKind,
    Mark,
    MarkAction,
    Overlay,
    SegmentCut,
    taken_back,
)
from jan_magics.domain.tree import Changes
from jan_magics.engine.branches import NOTHING_HERE, write
from jan_magics.engine.ids import full_id
from jan_magics.engine.session import Session
from jan_magics.engine.views import View


def mark(
    session: Session, ids: Sequence[str], action: MarkAction, plan: ContextPlan | None = None
) -> View:
    """Decide about messages, from here on down this branch.

    `plan` is that of the next request, where it is known what fits there.

    Raises:
        MessageNotFound: when none has such an id.
        ThreadError: where the mark would change nothing.
        SettingError: where what must stay would not fit any more.
    """
    view = session.view()
    wanted = {full_id(view.index, identifier): action for identifier in ids}
    records = _marks(session, view, wanted, "mark")
    _refuse_idle(view, records, wanted)
    if plan:
        after = plan_context(plan.measured.path, [*view.records, *records], plan.terms, plan,
                             looking=True)  # fmt: skip
        _refuse_too_much(plan, after, wanted, "message")
    return write(session, view, Changes(), records)


def clear(session: Session) -> tuple[View, int]:
    """Archive all that is sent of the path; returns how many messages that are.

    Raises:
        ThreadError: when nothing is.
    """
    view = session.view()
    path, seen = view.path(), look(view.path(), view.records)
    count = sum(message.id not in seen.statuses for message in path)
    if not count and not seen.summary:
        raise ThreadError("there is nothing to clear: no message here is sent", "Ask something.")
    change = Change(session.engine.new_id(), "clear", {"messages": count}, session.engine.now())
    records: list[Overlay] = [SegmentCut(path[-1].id, change.id), change]
    return write(session, view, Changes(), records), count


def restore(session: Session, kind: ChangeKind) -> View:
    """Take the newest clearing or compaction that this path sees back.

    Raises:
        ThreadError: when it sees none.
    """
    view = session.view()
    path = view.path()
    if kind == "compact":
        summary = look(path, view.records).summary
        found = summary.change if summary else None
    else:
        found = _newest_cut(view)
    if found is None:
        what = "summary to take back" if kind == "compact" else "cleared context to restore"
        raise ThreadError(f"there is no {what} on this branch", "See: %chat show")
    before: dict[str, Json] = {"change": found, "what": kind}
    change = Change(session.engine.new_id(), "restore", before, session.engine.now())
    return write(session, view, Changes(), [change])


def apply(session: Session, plan: ContextPlan, wanted: Mapping[str, MarkAction]) -> View:
    """Write a plan's edited actions as marks.

    `plan` is the one that was edited. Raises SettingError naming the row that cannot be so.
    """
    view = session.view()
    rows = {row.id: row for row in rows_of(plan) if row.id}
    changed: dict[str, MarkAction] = {}
    for identifier, action in wanted.items():
        row = rows.get(identifier)
        if row is None:
            raise SettingError(
                f"the plan has no row of {identifier!r}", "Make it anew: chat.plan()"
            )
        if row.action != action:
            if row.reason == "prompt":
                raise SettingError(
                    f"row {identifier[:8]} is the prompt and cannot be {action!r}",
                    "It is always sent; change another row.",
                )
            changed[identifier] = action
    if not changed:
        return view
    # Where trimming had fallen to in this plan: what was kept in it must not fall now.
    records = [*([plan.cut] if plan.cut else []), *_marks(session, view, changed, "plan")]
    _check(plan, [*view.records, *records], wanted, changed)
    return write(session, view, Changes(), records)


def _refuse_idle(view: View, records: Sequence[Overlay], wanted: Mapping[str, MarkAction]) -> None:
    """Raise ThreadError where a message stays unsent that was to be kept, or cannot be marked."""
    path = view.path()
    seen, here = look(path, [*view.records, *records]), {message.id for message in path}
    for identifier, action in wanted.items():
        short = identifier[:8]
        if identifier not in here:
            raise ThreadError(
                f"message {short} is on another branch", f"Go there first: %chat go {short}"
            )
        status = seen.status(identifier)
        if status == ARCHIVED and action in ("keep", "summarise"):
            raise ThreadError(
                f"message {short} is archived, and {action} changes nothing: the context was"
                " cleared after it",
                f"Send it all the same: %chat mark {short} pin   or all: %chat clear --off",
            )
        if status == TRUNCATED and action != "drop":
            raise ThreadError(
                f"message {short} is hidden, and {action} changes nothing",
                "Bring it back first: %chat undo",
            )


def _check(
    plan: ContextPlan,
    records: Sequence[Overlay],
    wanted: Mapping[str, MarkAction],
    changed: Mapping[str, MarkAction],
) -> None:
    """Raise SettingError unless all rows come out as they are wanted, naming what was edited."""
    after = plan_context(plan.measured.path, records, plan.terms, plan, looking=True)
    _refuse_too_much(plan, after, changed, "row")
    for row in rows_of(after):
        name = row.id or ""
        if wanted.get(name) not in ("keep", "pin") or row.sent:
            continue
        if name in changed:
            raise SettingError(
                f"row {name[:8]} cannot be {changed[name]!r}: {row.reason}",
                "Keep fewer rows, drop others, or keep an answer with its question.",
            )
        edited = _blamed(plan, name, changed)
        kept = changed[edited] in ("keep", "pin")
        cannot = "be kept" if kept else f"be {changed[edited]!r} alone"
        raise SettingError(
            f"row {edited[:8]} cannot {cannot}: row {name[:8]} would not be sent then"
            f" ({row.reason})",
            f"{'Keep fewer rows' if kept else 'Keep both'}, or drop row {name[:8]} too.",
        )


def _blamed(plan: ContextPlan, name: str, changed: Mapping[str, MarkAction]) -> str:
    """Return the edited row that an unsent one goes with: the nearest before it, else the first."""
    ids = [message.id for message in plan.measured.path]
    before = [each for each in ids[: ids.index(name)] if each in changed]
    return before[-1] if before else next(iter(changed))


def _refuse_too_much(
    plan: ContextPlan, after: ContextPlan, changed: Mapping[str, MarkAction], what: str
) -> None:
    """Raise SettingError where what trimming passes over has grown beyond its room."""
    kept = [each[:8] for each, action in changed.items() if action in ("keep", "pin")]
    if kept and after.forced > max(after.costs.history, plan.forced):
        raise SettingError(
            f"{what} {', '.join(kept)} cannot be kept: what is marked takes {after.forced} tokens,"
            f" and there are {max(0, after.costs.history)} for it",
            f"Keep fewer {what}s, or drop others that are marked.",
        )


def _marks(
    session: Session, view: View, wanted: Mapping[str, MarkAction], kind: ChangeKind
) -> list[Overlay]:
    path = view.path()
    if not path:
        raise ThreadError(*NOTHING_HERE)
    change = Change(session.engine.new_id(), kind, {"ids": list(wanted)}, session.engine.now())
    head = path[-1].id
    return [*(Mark(each, action, head, change.id) for each, action in wanted.items()), change]


def _newest_cut(view: View) -> str | None:
    ids = {message.id for message in view.path()}
    undone = taken_back(view.records)
    cuts = (each for each in reversed(view.records) if isinstance(each, SegmentCut))
    found = (c.change for c in cuts if c.upto in ids and c.change not in undone)
    return next(found, None)
