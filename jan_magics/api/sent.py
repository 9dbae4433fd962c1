"""What a turn sent, to be read: exactly the request, each message with where it came from."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from jan_magics.api.host import Host
from jan_magics.domain.errors import ThreadError
from jan_magics.notebook.hazards import defused
from jan_magics.notebook.markdown import neutralise
from jan_magics.notebook.render import plain


@dataclass(frozen=True, slots=True)
class Sent:
    """A request that was sent. `str()` is its text form, `.request` the request as JSON."""

    request: Mapping[str, Any]

    def __str__(self) -> str:
        blocks = [f"{who}\n{plain(text)}" for who, text in self._messages()]
        return "\n\n".join((self._head(), *blocks))

    def __repr__(self) -> str:
        return str(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        markdown = [f"*{neutralise(plain(self._head()))}*"]
        html = [f"<p><em>{escape(defused(plain(self._head())))}</em></p>"]
        for who, text in self._messages():
            words = plain(text)
            markdown.append(f"**{neutralise(who)}**\n\n{neutralise(words)}")
            style = "white-space: pre-wrap; overflow-wrap: anywhere"
            html.append(
                f"<section><p><strong>{escape(defused(who))}</strong></p>"
                f'<div dir="auto" style="{style}">{escape(defused(words))}</div></section>'
            )
        return {
            "text/plain": str(self),
            "text/markdown": "\n\n".join(markdown),
            "text/html": f'<article class="jan-sent">{"".join(html)}</article>',
        }

    def _head(self) -> str:
        options = self.request.get("options") or {}
        named = ", ".join(f"{k}={json.dumps(v, default=str)}" for k, v in options.items())
        count = len(self.request.get("messages", ()))
        said = f"{count} message{'' if count == 1 else 's'}"
        return " · ".join(filter(None, (f"sent to {self.request['model']}", said, named)))

    def _messages(self) -> list[tuple[str, str]]:
        system = self.request.get("system")
        blocks = [("system", str(system))] if system else []
        for message in self.request.get("messages", ()):
            source = str(message.get("from") or "not stored")
            short = source if " " in source else source[:8]
            blocks.append((f"{message['role']} ({short})", str(message["text"])))
        return blocks


def newest_sent(host: Host) -> Sent:
    """Return what the newest turn of this kernel sent. Raises ThreadError where there is none."""
    answer = host.last_answer()
    if answer is None:
        raise ThreadError("nothing was sent since this kernel began", "Ask: %chat ask …")
    return Sent(answer.sent)
