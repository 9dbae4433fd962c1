"""What verbs say, and the line of a turn that was stopped, in Chinese."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

SAID: Final[Mapping[str, str]] = MappingProxyType({
    "no answer yet": "还没有回答",
    "nothing was begun": "还没有开始",
    "kept {a} character(s) of the answer": "保留了回答的 {a} 个字符",
    "kept {a} of {b} row(s)": "保留了 {b} 行中的 {a} 行",
    "it was waiting, and nothing was sent": "它在等待，什么也没有发送",
    "the model was not asked, and the thread is as it was": "没有问模型，话题保持原样",
    "{a} of {b} documents are in; the same line goes on":
        "{b} 个文档中的 {a} 个已收录；再运行同一行即可继续",
    "context cleared": "上下文已清空",
    "{a} message(s)": "{a} 条消息",
    "the context is as before it was cleared": "上下文恢复到清空之前",
    "the messages are sent word for word again": "消息又会逐字发送",
    "no tools yet": "还没有工具",
    "mark a function with @jan.tool, or add a server: {command}":
        "用 @jan.tool 标记函数，或添加服务器：{command}",
    "no threads yet": "还没有话题",
    "nothing to count yet": "还没有可计数的内容",
    "nothing to send yet": "还没有可发送的内容",
    "nothing was found: no chunk has these words, or passes the filter":
        "没有找到：没有片段包含这些词，或通过筛选",
    "{a} used": "使用 {a} 个",
    "{a} near misses (--all)": "{a} 个接近（--all）",
    "summary of {a} message(s)": "{a} 条消息的摘要",
    "in the summary": "在摘要中",
    "the messages themselves": "这些消息本身",
    "archived, not sent": "已归档，不发送",
    "dropped, not sent": "已隐藏，不发送",
    "{status}, not sent": "{status}，不发送",
    "nothing said yet": "还没有对话",
    "nothing said yet on this branch": "此分支上还没有对话",
    "You": "你",
    "System": "系统",
    "Assistant": "助手",
    "being answered": "正在回答",
    "hidden": "已隐藏",
    "interrupted": "已中断",
    "length": "被截断",
    "{a} message(s), {b} branch(es), a new one begins with the next turn":
        "{a} 条消息，{b} 个分支，下一轮将开始新分支",
    "{a} message(s), {b} branch(es)": "{a} 条消息，{b} 个分支",
    "taken back: {why}": "已撤销：{why}",
    "the change of branch; the path leads to {words} again": "分支切换；当前路径又经过{words}",
    "the change of branch": "分支切换",
    "the drop of {words}": "隐藏{words}",
    "the deletion of {title}": "删除 {title}",
    "the marks of messages": "消息的标记",
    "the edited plan": "编辑过的计划",
    "the clearing; what was said is sent again": "清空；之前的内容会再发送",
    "the restoring; it is cleared or compacted again": "恢复；又被清空或压缩",
    "the compaction; the messages are sent word for word again": "压缩；消息又会逐字发送",
    "the new name; it is {title} again": "新名称；又叫 {title}",
    "{title} is now {other}": "{title} 现名 {other}",
    "a new thread: {title}": "新话题：{title}",
    "{title} is in the bin": "{title} 已移入回收站",
    "nothing is being answered": "没有正在回答的内容",
    "nothing is being replayed": "没有正在重放的内容",
    "{a} message(s): {action}": "{a} 条消息：{action}",
    "the notebook's own collection is the default again": "笔记本自己的文档集又是默认的",
    "{name} is back": "{name} 已恢复",
    "{name} is forgotten: nothing of it is found any more": "{name} 已被遗忘：再也找不到其中的内容",
    "this would not be sent: {what}": "这不会发送：{what}",
    "model    {model} ({why})": "模型     {model}（{why}）",
    "thread   {why}": "话题     {why}",
    "folder   {path}": "文件夹   {path}",
    "settings {why}": "设置     {why}",
    "options  {options}": "选项     {options}",
    "tools    {tools}": "工具     {tools}",
    "as       {name} ({why})": "助手     {name}（{why}）",
    "system   {words}": "系统     {words}",
    "help     {command}": "帮助     {command}",
    "a new thread at the next prompt": "下一个提示词将开始新话题",
    "to go on instead: {command}": "要在原处继续：{command}",
    "collection  {name} ({owner})": "文档集    {name}（{owner}）",
    "holds       {a} document(s), {b} chunk(s), {c} tokens, {d} MB":
        "内容      {a} 个文档，{b} 个片段，{c} 个 token，{d} MB",
    "cut         not yet": "切分      尚未",
    "cut         {recipe}": "切分      {recipe}",
    "embedder    {name}": "嵌入      {name}",
    "this notebook has no collection yet": "此笔记本还没有文档集",
    "make it of files: {command}": "由文件建立：{command}",
    "Run {call}? [y]es, [n]o, [a]lways in this kernel: ":
        "运行 {call}？[y] 是，[n] 否，[a] 在此内核中总是：",
    "Start the MCP server {call}? [y]es, [n]o: ": "启动 MCP 服务器 {call}？[y] 是，[n] 否：",
    "a compaction of {a} message(s) comes before this is sent; shown is the plan without it":
        "发送之前会先压缩 {a} 条消息；显示的是未压缩的计划",
    "the column {name} of the table is {other} in --where":
        "表中的列 {name} 在 --where 中是 {other}",
    "lost at {stage}": "在 {stage} 落选",
    "let in by {change}": "{change} 即可入选",
    "{name}: {a} secret(s) removed, no copy is kept; e-mail and phone stay ({b})":
        "{name}：已移除 {a} 处密钥，不留副本；保留 {b} 处邮箱和电话",
    "{name}: {a} secret(s) removed, no copy is kept": "{name}：已移除 {a} 处密钥，不留副本",
    "{name}: no secret found, so it is as it was": "{name}：没有发现密钥，因此保持原样",
    "nothing found": "没有发现",
    "whoever has seen a key has it: revoke it where it was made":
        "见过密钥的人就拥有它：请到签发处吊销",
    "{name}: lines {lines} are skipped, nobody can read that":
        "{name}：跳过第 {lines} 行，无法读取",
    "window: {a} tokens ({why})": "窗口：{a} 个 token（{why}）",
    "window: no limit ({why})": "窗口：没有上限（{why}）",
    "nobody says it; set it with --window": "没有人告知；用 --window 设置",
    "the server": "服务器",
    "the catalogue": "目录",
    "the kind of text": "文字种类",
    "counted by {how}": "计数方式：{how}",
    "estimated by {why}": "估算方式：{why}",
    "overflow: {how}": "溢出处理：{how}",
})  # fmt: skip

PLACES: Final[Mapping[str, str]] = MappingProxyType({
    "{title}, {a} message(s); the next turn begins a new branch":
        "{title}，{a} 条消息；下一轮将开始新分支",
    "{title}, {a} message(s)": "{title}，{a} 条消息",
})  # fmt: skip
"""What nearly every line could be: they come last."""
