"""What the kernel says, in Chinese: by the English phrase, the first that fits counts.

Slots of one letter are numbers; `(s)` may be missing; `{why}` is a phrase of its own. Words for
things are those of the extension's catalogue.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from jan_magics.notebook.chinese_turns import FLAGS, FOOTER, LINES, NOTES
from jan_magics.notebook.chinese_verbs import CARDS, PLACES, SAID

NEXT: Final[Mapping[str, str]] = MappingProxyType({
    "back: {command}   then: {after}": "返回：{command}   然后：{after}",
    "back: {command}": "返回：{command}",
    "go on: {command}   then: {after}": "继续：{command}   然后：{after}",
    "go on: run it again, only the others are asked": "继续：再运行一次，只会问其余的",
    "go on: {command}": "继续：{command}",
    "see: {command}": "查看：{command}",
    "once more: {command}": "重试：{command}",
    "ask again: {command}": "再问一次：{command}",
    "ask something: {command}": "先提问：{command}",
    "look: {command}, make room: {after}": "查看：{command}，腾出空间：{after}",
    "make room: {command}": "腾出空间：{command}",
    "keep them as a summary: {command}": "把它们留作摘要：{command}",
    "run its cell again": "请重新运行它的单元格",
    "run the cell again": "请重新运行单元格",
    "allow all calls: {command}": "允许所有调用：{command}",
    "allow it: {command}": "允许：{command}",
    "why: {command}": "原因：{command}",
    "all: {command}": "全部使用：{command}",
})  # fmt: skip

PHRASES: Final[Mapping[str, str]] = MappingProxyType({
    **FLAGS, **FOOTER, **NEXT, **LINES, **NOTES, **SAID, **CARDS, **PLACES,
})  # fmt: skip
