"""The text that stands for messages that were compacted: the model's summary and the ledger."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from jan_magics.domain.overlays import Summary

LABELS: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "en": {
            "head": "Summary of the conversation so far",
            "ledger": "Copied from it word for word",
        },
        "zh": {
            "head": "此前对话的摘要",
            "ledger": "原文摘录",
            "prohibitions": "禁止",
            "decisions": "决定",
            "urls": "网址",
            "paths": "路径",
            "numbers": "数值",
            "identifiers": "名称",
        },
    }
)


def summary_text(summary: Summary) -> str:
    """Return the text that is sent for a summary: a head line, the summary, then the ledger."""
    labels = LABELS["zh" if is_chinese(summary.text) else "en"]
    blocks = [f"## {labels['head']}", summary.text.strip()]
    lines = [
        f"- {labels.get(kind, kind)}: {'; '.join(entries)}"
        for kind, entries in summary.ledger.items()
        if entries
    ]
    if lines:
        blocks.append("\n".join((f"### {labels['ledger']}", *lines)))
    return "\n\n".join(blocks)


def is_chinese(text: str) -> bool:
    """Tell whether a text is written in Chinese: a tenth of its characters, and no kana."""
    hanzi = sum("\u4e00" <= letter <= "\u9fff" for letter in text)
    kana = sum("\u3040" <= letter <= "\u30ff" for letter in text)
    return hanzi * 10 > len(text) and kana * 10 < hanzi
