"""What stands under answers, and what is told while they come, in Chinese."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

FLAGS: Final[Mapping[str, str]] = MappingProxyType({
    "error": "出错",
    "stopped": "已停止",
    "replayed": "重放",
    "cut at the token limit": "达到 token 上限，被截断",
    "cut by a filter": "被过滤器截断",
    "no final answer": "没有最终回答",
    "offline (no model)": "离线（无模型）",
    "stored answer": "已存回答",
    "model changed": "模型已更换",
    "not in the thread": "不进入话题",
    "edited, nothing sent": "已编辑，未发送",
})  # fmt: skip

FOOTER: Final[Mapping[str, str]] = MappingProxyType({
    "{a}→{b} tok (cached {c})": "{a}→{b} token（缓存 {c}）",
    "{a}→{b} tok": "{a}→{b} token",
    "{a} tok/s": "{a} token/秒",
    "{a} s": "{a} 秒",
    "{a} tool call(s)": "{a} 次工具调用",
    " (new)": "（新）",
    " (continued)": "（继续）",
    " (continued, {a} message(s))": "（继续，{a} 条消息）",
    "answer ‹{a}/{b}›": "回答 ‹{a}/{b}›",
    "question ‹{a}/{b}›": "提问 ‹{a}/{b}›",
    "sees {a} of {b} message(s) ({why})": "发送 {b} 条消息中的 {a} 条（{why}）",
    "sees {a} of {b} message(s)": "发送 {b} 条消息中的 {a} 条",
    "{a} trimmed, {b} in a summary, {c} cleared": "裁剪 {a}，摘要 {b}，清空 {c}",
    "{a} trimmed, {b} in a summary": "裁剪 {a}，摘要 {b}",
    "{a} trimmed, {b} cleared": "裁剪 {a}，清空 {b}",
    "{a} in a summary, {b} cleared": "摘要 {a}，清空 {b}",
    "{a} trimmed": "裁剪 {a}",
    "{a} in a summary": "摘要 {a}",
    "{a} cleared": "清空 {a}",
    "sources: {a} of {b} from {name} ({scores})":
        "来源：{name} 的 {b} 个片段中的 {a} 个（{scores}）",
    "sources: {a}": "来源：{a}",
    "Reasoning": "推理",
    "Answer": "回答",
    "▸ called {call} → no result": "▸ 调用 {call} → 没有结果",
    "▸ called {call} → error: ": "▸ 调用 {call} → 出错：",
    "▸ called {call} → denied: ": "▸ 调用 {call} → 已拒绝：",
    "▸ called {call} → ": "▸ 调用 {call} → ",
})  # fmt: skip

LINES: Final[Mapping[str, str]] = MappingProxyType({
    "why {model}: {why}": "选用 {model} 的原因：{why}",
    "environment {name}": "环境变量 {name}",
    "no setting names a model, and it runs on this machine": "没有设置模型，而它在本机运行",
    "no setting names a model, and the cassette has it": "没有设置模型，而录音带里有它",
    "no setting names a model, none runs here, and this one can be started":
        "没有设置模型，本机也没有运行的，而它可以启动",
    "no model is named, none runs here, and none can be started":
        "没有指定模型，本机没有运行的，也没有可启动的",
    "there is no JSON in the answer: all of it is shown": "回答中没有 JSON：显示全文",
    "there is no code in the answer: all of it is shown": "回答中没有代码：显示全文",
    "the oldest messages are left out": "最早的消息没有发送",
    "history fills {a} of its room": "历史已占其空间的 {a}",
    "built on a branch that is no longer shown": "建立在不再显示的分支上",
    "{a} later message stays on {why}": "后面的 {a} 条消息留在{why}",
    "{a} later messages stay on {why}": "后面的 {a} 条消息留在{why}",
    "question {a}": "提问 {a}",
    "answer {a}": "回答 {a}",
    "a background turn in {title} finished": "“{title}”中的后台轮次已完成",
    "a background turn in {title} stopped": "“{title}”中的后台轮次已停止",
    "a background turn in {title} failed": "“{title}”中的后台轮次失败",
    "a background turn finished": "一个后台轮次已完成",
    "a background turn stopped": "一个后台轮次已停止",
    "a background turn failed": "一个后台轮次失败",
    "the question before is being answered in another kernel, and this one stands beside it":
        "前一个提问正在另一个内核中回答，这个提问与它并列",
    "the question is being answered in another kernel too, and this answer stands beside that one":
        "这个提问也正在另一个内核中回答，这个回答与那个并列",
    "the question before got no answer and is not sent": "前一个提问没有得到回答，不会发送",
    "{a} message(s) compacted into a summary: {b} → {c} tokens":
        "{a} 条消息已压缩为摘要：{b} → {c} 个 token",
    "the model said nothing: the answer has no text": "模型什么也没说：回答没有文字",
    "the model only thought: the answer has no text": "模型只有推理：回答没有文字",
    "not recorded, so it was asked of the model itself": "没有录制，因此改问模型本身",
    "not recorded, so it was asked of {model}": "没有录制，因此改问 {model}",
    "{name} was not run: nobody can be asked here": "没有运行 {name}：这里没有人可以确认",
    "the first answer was not of the form that was asked for, so it was asked once more":
        "第一个回答不符合要求的格式，因此又问了一次",
    "{name} in the instructions is no template and was sent as text, closest: {other}":
        "指令中的 {name} 不是模板，已按文字发送，最接近的是 {other}",
    "not attached: {name}: {why}": "没有附上 {name}：{why}",
    "{name} is too long to be sent whole and can be searched in this thread ({a} chunk(s))":
        "{name} 太长，不能整篇发送，可在此话题中检索（{a} 个片段）",
    "{name} can be searched in this thread ({a} chunk(s))": "{name} 可在此话题中检索（{a} 个片段）",
    "{name} is kept and not sent: {model} takes no images":
        "{name} 已保存但没有发送：{model} 不接受图片",
    "{name} was left out: this provider has no switch for it":
        "没有发送 {name}：此服务商没有这个开关",
    "{name} was left out: {host} refuses it": "没有发送 {name}：{host} 不接受",
    "{a} of {b} tools are offered, by words of the prompt: {names}":
        "按提示词的词语提供 {b} 个工具中的 {a} 个：{names}",
    "{a} of {b} tools are offered, by words and vectors of the prompt: {names}":
        "按提示词的词语和向量提供 {b} 个工具中的 {a} 个：{names}",
    "{a} of {b} tools are offered, as {model} chose: {names}":
        "按 {model} 的选择提供 {b} 个工具中的 {a} 个：{names}",
    "left out: {names}": "其余：{names}",
    "not offered: {names}": "没有提供：{names}",
    "there is no function {name} any more: it is not offered": "函数 {name} 已不存在：不再提供",
    "the server {name} has no tool {tool}": "服务器 {name} 没有工具 {tool}",
    "ended after {a} step(s), as --max-steps says": "按 --max-steps，{a} 步后结束",
    "sent to {host} with what looks like {what} in the prompt":
        "已发送到 {host}，提示词中有疑似 {what}",
    "{name} names no source: {a} source was sent": "{name} 没有对应的来源：发送了 {a} 个来源",
    "{name} names no source: {a} sources were sent": "{name} 没有对应的来源：发送了 {a} 个来源",
    "{name} name no source: {a} source was sent": "{name} 没有对应的来源：发送了 {a} 个来源",
    "{name} name no source: {a} sources were sent": "{name} 没有对应的来源：发送了 {a} 个来源",
    "retrieval is off (rag.enabled), and nothing was looked up":
        "检索已关闭（rag.enabled），没有查找",
    "retrieval found nothing ({a} candidate(s), best {b} under threshold {c})":
        "没有检索到内容（{a} 个候选，最高 {b}，低于阈值 {c}）",
    "retrieval found nothing ({a} candidate(s))": "没有检索到内容（{a} 个候选）",
    "{a} source(s) had no room in the context window": "{a} 个来源在上下文窗口中放不下",
    "searched by words only: the collection has no vectors, as it was told (--embedder none)."
    " Give it some: {command}":
        "只按词语检索：此文档集按要求没有向量（--embedder none）。添加向量：{command}",
    "the files were looked up with the prompt: {model} calls no tools":
        "已用提示词查找文件：{model} 不调用工具",
    "{model} holds no answer to a schema: it was told the form in words":
        "{model} 不支持按 schema 回答：已用文字告诉它格式",
    "compacting failed, the oldest messages are left out instead ({why})":
        "压缩失败，改为不发送最早的消息（{why}）",
    "no summary in {a} s": "{a} 秒内没有得到摘要",
    "version {a} of {b} is shown": "显示第 {a} 个版本，共 {b} 个",
    "this is the first of {a}": "这是 {a} 个中的第一个",
    "this is the last of {a}": "这是 {a} 个中的最后一个",
})  # fmt: skip

NOTES: Final[Mapping[str, str]] = MappingProxyType({
    "thinking": "正在推理",
    "asking in the background": "正在后台提问",
    "asking once more: {why}": "正在再问一次：{why}",
    "asking {model} for its window": "正在询问 {model} 的窗口大小",
    "asking {model}": "正在询问 {model}",
    "calling {name}": "正在调用 {name}",
    "starting {name}": "正在启动 {name}",
    "waiting for a yes to {name}": "等待允许 {name}",
    "waiting for the turn before": "等待前一轮结束",
    "waiting {a} s: {why}": "等待 {a} 秒：{why}",
    "too many requests": "请求过多",
    "{a} too many requests": "{a} 请求过多",
    "nothing listens there": "那里没有服务",
    "reading prompt {a}/{b}": "正在读取提示词 {a}/{b}",
    "reading {name}": "正在读取 {name}",
    "choosing among {a} tools": "正在从 {a} 个工具中选择",
    "compacting {a} message(s), part {b} of {c}": "正在压缩 {a} 条消息，第 {b} 部分，共 {c} 部分",
    "compacting {a} message(s)": "正在压缩 {a} 条消息",
    "{name}: {a} of {b} documents": "{name}：{b} 个文档中的 {a} 个",
    "{name}: {a} documents": "{name}：{a} 个文档",
    "{name}: {a} document": "{name}：{a} 个文档",
    "{name}: {a} of {b} documents sent": "{name}：已发送 {b} 个文档中的 {a} 个",
    "{name}: {a} documents sent": "{name}：已发送 {a} 个文档",
    "{name}: {a} of {b} documents cut again": "{name}：已重新切分 {b} 个文档中的 {a} 个",
    "{name}: {a} of {b} texts embedded": "{name}：已嵌入 {b} 段文本中的 {a} 段",
    "{name}: {a} texts embedded": "{name}：已嵌入 {a} 段文本",
    "{name}: {a} of {b} texts re-embedded": "{name}：已重新嵌入 {b} 段文本中的 {a} 段",
    "{name}: not finished": "{name}：没有完成",
    "combination {a} of {b} ({how}): {why}": "第 {a} 种组合，共 {b} 种（{how}）：{why}",
    "question {a} of {b}": "第 {a} 个问题，共 {b} 个",
    "measured: {a} of {b} combination(s)": "已测量 {b} 种组合中的 {a} 种",
    "{a} of {b} row(s)": "{b} 行中的 {a} 行",
    "{a} failed": "{a} 行失败",
    "{a} stored": "{a} 行已有",
    "{a} spent": "已花费 {a}",
    "{time} left": "还需 {time}",
    "no answer": "没有回答",
})  # fmt: skip
