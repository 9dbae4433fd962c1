"""What a summariser is told, in English and Chinese."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

SUMMARISE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "en": (
            "Summarise the conversation below for somebody who has to go on with it and cannot see "
            "it. Say, each under a heading, and leave out a heading that has nothing:\n"
            "1. What the user wants, and why.\n"
            "2. What was decided, and what was tried and given up.\n"
            "3. Files and data that were read, made or changed, and how.\n"
            "4. Constraints and preferences that still hold.\n"
            "5. What is open.\n"
            "Copy names, numbers, paths and addresses exactly. Say nothing that is not in the "
            "conversation, answer none of its questions, and write nothing but the summary."
        ),
        "zh": (
            "请为接手下面这段对话、但看不到原文的人写一份摘要。按下列标题分项,没有内容的标题略去:\n"
            "1. 用户想要什么,为什么。\n"
            "2. 已经决定了什么,试过又放弃了什么。\n"
            "3. 读过、新建或修改过哪些文件和数据,怎么改的。\n"
            "4. 仍然有效的约束和偏好。\n"
            "5. 还没有解决的问题。\n"
            "名称、数字、路径和网址要原样照抄。不要写对话里没有的内容,不要回答其中的问题,只输出摘要。"
        ),
    }
)
BEFORE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "en": "What came before is summarised already; take it into the new summary:",
        "zh": "更早的内容已有摘要,请并入新的摘要:",
    }
)
CONVERSATION: Final[Mapping[str, str]] = MappingProxyType(
    {"en": "The conversation:", "zh": "对话:"}
)


def request_text(excerpt: str, before: str, language: str) -> str:
    """Return what a summariser is asked: an earlier summary, where there is one, and an excerpt."""
    blocks = [f"{BEFORE[language]}\n\n{before}"] if before else []
    return "\n\n".join((*blocks, f"{CONVERSATION[language]}\n\n{excerpt}"))
