"""The line of one page in JupyterLab: its requests come in, each gets one reply.

Messages are described in protocol.json. Which thread of the kernel hears them is not known: it is
the one that this kernel has last spoken from on that comm.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from jan_magics.domain.errors import JanError, SettingError
from jan_magics.domain.version import VERSION
from jan_magics.notebook.buttons import PROTOCOL

Request: TypeAlias = Mapping[str, Any]
Action: TypeAlias = Callable[[Request], Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class PageLine:
    """The comm of a page, and what pages may ask for by name."""

    comm: Any
    actions: Mapping[str, Action]

    def open(self) -> None:
        """Listen, and tell the page whom it speaks to."""
        self.comm.on_msg(self.hear)
        self.comm.send({"kind": "welcome", "protocol": PROTOCOL, "version": VERSION})

    def hear(self, message: Mapping[str, Any]) -> None:
        """Do what a page asks for and reply; a failure is a reply too."""
        data = message.get("content", {}).get("data")
        request: Request = data if isinstance(data, dict) else {}
        reply: dict[str, object] = {"kind": "reply", "n": request.get("n")}
        try:
            reply["ok"] = self._done(request)
        except JanError as error:
            reply["error"] = refused(error)
        except Exception as error:  # noqa: BLE001 - the door: the page would wait for ever
            said = f"{type(error).__name__} in the kernel"
            reply["error"] = {"said": said, "next": "Try the same as a magic: %chat help"}
        self.comm.send(reply)

    def _done(self, request: Request) -> Mapping[str, object]:
        action = self.actions.get(str(request.get("kind")))
        if action is None:
            raise SettingError(
                f"this kernel's jan-magics {VERSION} knows no {request.get('kind')!r}",
                "Upgrade jan-magics in the kernel's environment, and restart the kernel.",
            )
        return action(request)


def refused(error: JanError) -> dict[str, object]:
    """Return an error as a page shows it: what happened, and what to do."""
    return {"said": f"{type(error).__name__}: {error.message}", "next": error.next_step}


def text(request: Request, name: str) -> str:
    """Return a text of a request. Raises SettingError where it has none."""
    value = request.get(name)
    if not isinstance(value, str):
        raise SettingError(
            f"a page asked with {name} = {value!r}", "Upgrade jan-magics where JupyterLab runs."
        )
    return value


def number(request: Request, name: str, usual: int) -> int:
    """Return a number of a request that is at least 1, the usual one where it has none."""
    value = request.get(name)
    return value if isinstance(value, int) and value > 0 else usual
