"""What the ledger looks for. Every pattern reads a text once: runs of letters are bounded.

Letters of other scripts may stand directly beside ASCII ones: "变量user_id的值". A name or number
therefore ends where ASCII letters end, and not at a border of words.
"""

import re
from typing import Final

from jan_magics.context.ledger_units import AMOUNT, CJK_UNIT, FIGURE

CODE: Final = re.compile(
    r"(?:^|(?<=\n))[ \t]*(?:```|~~~)[^\n]*\n(.*?)(?:\n[ \t]*(?:```|~~~)|\Z)", re.S
)
"""The inside of a fenced block; one that was never closed reaches to the end."""
RUN: Final = re.compile(r"[^\s<>\"'`，。；、）]{400,}")
"""Too long for an address or a path: data written as text."""
SENTENCE: Final = re.compile(r"[^.!?。！？\n]+(?:\.(?=[A-Za-z\d/])[^.!?。！？\n]+)*[.!?。！？]*")
QUESTION: Final = re.compile(r"[?？]\W*$|吗\W*$|^(?:为什么|怎么|如何|why|how come)", re.I)

_PRONE: Final = (
    r"(?!\s+(?:know|understand|think|see|remember|recall|mind|care|worry|seem|work|believe|get it"
    r"|have|like to))"
)
PROHIBITION: Final = re.compile(
    rf"\b(?:never|(?:do not|don['’]?t){_PRONE}|must not|mustn['’]?t|may not|shall not"
    r"|should(?: not|n['’]?t)|cannot be (?:changed|used|touched)|avoid|refrain from|forbidden"
    r"|prohibited|not allowed|not permitted|off[- ]limits|under no circumstances"
    r"|no longer (?:use|touch)"
    r"|(?:is|are|was|were) not to be|leave [^.]{1,40} alone"
    r"|must (?:always|only|stay|remain|keep|be kept)"
    r"|stop (?:using|changing|editing)|without (?:changing|touching|deleting|modifying))\b"
    r"|不要|不得|(?<!能)不能|不许|不准|不可(?!能|思议)|不应|禁止|禁用|切勿|请勿|严禁|绝不|避免|必须|务必|只能"
    r"|(?:^|[，,：:])\s*别(?!的|人|名)|してはいけない|しないで|禁じ",
    re.I,
)
DECISION: Final = re.compile(
    r"\b(?:decid(?:ed?|ing) (?:to|on|that|against|for)|decision|agreed (?:to|on|that)"
    r"|(?:we|i)(?:['’]ll| will| are going to| am going to) (?:use|go|take|keep|stick|call|name)"
    r"|let['’]?s (?:use|go|take|keep|stick|call)|settled? on|chose|chosen|going with|opt(?:ed)? for"
    r"|(?:we|i) picked|stick(?:ing)? (?:with|to)|go ahead with"
    r"|the plan is to|switch(?:ed|ing)? (?:to|from)|from now on"
    r"|(?:use|using) [^,;]{1,60} instead|rather than)\b"
    r"|决定|确定用|采用|改用|选用|选定|选择了|定为|敲定|商定|统一用|统一使用|从现在起|就用|最终(?:选|用|定)"
    r"|に決め|を採用",
    re.I,
)
URL: Final = re.compile(
    r"\b(?:https?|ftp|sftp|s3|gs|hdfs|file|postgres(?:ql)?|mysql|redis|mongodb|ssh|git)://"
    r"[^\s<>\"'`，。；、）)\]}|]{1,500}"
    # An address of mail, or of a repository as ssh writes it.
    r"|(?<![\w.+-])(?:mailto:)?[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,4}"
    r"\.[A-Za-z]{1,24}(?![A-Za-z0-9@-])(?::[\w./~-]{1,200})?",
    re.A,
)

_EXTENSION: Final = (
    r"(?:py|ipynb|csv|tsv|jsonl?|parquet|feather|arrow|txt|md|rst|pdf|docx?|xlsx?|pptx?|html?|css|xml"
    r"|ya?ml|toml|ini|cfg|conf|env|lock|sql|sqlite|db|sh|bat|ps1|jsx?|tsx?|vue|c|h|cpp|hpp|cs|rs|go|java"
    r"|kt|swift|rb|php|jl|lua|m|mat|r|R|Rmd|log|zip|gz|tar|tgz|7z|png|jpe?g|gif|svg|webp|mp[34]|wav|npz?"
    r"|npy|pkl|pt|pth|h5|hdf5|gguf|onnx|safetensors|bin|whl)(?![A-Za-z0-9_])(?!\.[A-Za-z0-9])"
)
_ROOT: Final = (
    r"(?:bin|boot|data|dev|etc|home|lib|media|mnt|opt|proc|root|run|srv|sys|tmp|usr|var|Users"
    r"|Volumes)"
)
BESIDE: Final = re.compile(rf"(?<=[\u4e00-\u9fff])(?=[A-Za-z]:[\\/]|~/|\.{{1,2}}/|/{_ROOT}/)")
"""Where a Chinese word ends and a path begins, which have no space between them."""
ENDED: Final = re.compile(rf"(\.{_EXTENSION})(?=[\u4e00-\u9fff])")
"""Where a path ends and a Chinese word begins."""
_STEP: Final = r"[\w.@+~-]{1,80}"
PATH: Final = re.compile(
    # With a drive, as Windows writes it, or a server's share.
    rf"(?<![A-Za-z0-9])(?:[A-Za-z]:[\\/]|\\\\[\w.-]{{1,60}}\\)(?:{_STEP}(?: {_STEP})?[\\/])*{_STEP}"
    # From a root, from home, or from here.
    rf"|(?<![A-Za-z0-9_<./~:\\-])(?:~?/|\.{{1,2}}/)(?:{_STEP}/)+(?:{_STEP}(?<![.])|(?=[\s,;)\"'`]|$))"
    rf"|(?<![A-Za-z0-9_<./~:\\-])(?:~/|\.{{1,2}}/){_STEP}(?<![.])"
    # Steps of which the last has an ending, a slash after it, or a name that no prose has.
    rf"|(?<![\w.@+~/\\-])(?:{_STEP}[/\\])*[\w.@+~-]{{0,80}}[\w~-]\.{_EXTENSION}"
    rf"|(?<![\w.@+~/\\-])(?:{_STEP}/){{1,12}}(?=[\s,;)\"'`。，]|$)"
    rf"|(?<![\w.@+~/\\-])(?=[^\s/]*/[^\s/]*/)(?![\d/.]+(?![\w/])){_STEP}(?:/{_STEP}){{2,12}}(?<![.])"
    rf"|(?<![\w.@+~/\\-])(?=[\w./-]{{0,80}}(?:_|[A-Za-z]\d))(?:{_STEP}/){{1,12}}{_STEP}(?<![.])",
)

_CJK: Final = r"[\u4e00-\u9fff]"
_LABEL: Final = (
    rf"(?:(?:{_CJK}{{1,8}}+[ \t]?)?(?<![A-Za-z0-9_-])[A-Za-z_][A-Za-z0-9_.-]{{0,30}}[ \t]?"
    rf"{_CJK}{{1,8}}[ \t=:：]{{0,2}}"
    r"|(?:(?<![\w-])(?:[A-Za-z_][\w-]{0,30}[ \t=:]{1,3}){1,3}"
    rf"|{_CJK}{{1,8}}+[ \t=:：]{{0,2}})?)"
)
"""What a number is of: up to three words before it, or a name in a Chinese clause."""
SIZED: Final = re.compile(rf"{_LABEL}({AMOUNT})", re.I)
"""A number with a unit; one of something per something looks like a path."""
_NAMED: Final = (
    r"(?:port|seed|version|build|line|page|step|epoch|layer|batch|rate|size|threshold|limit|budget|count"
    r"|depth|width|height|index|level|ticket|issue|room|alpha|beta|gamma|lambda|dropout|momentum"
    r"|top[- ]k"
    r"|端口|种子|版本|阈值|学习率|批大小|数量|上限|下限|编号)"
)
NUMBER: Final = re.compile(
    # Dates and times of day.
    rf"{_LABEL}(?<!\d)(?:19|20)\d\d(?:-\d{{1,2}}-\d{{1,2}}|/\d{{1,2}}/\d{{1,2}}|年\d{{1,2}}月(?:\d{{1,2}}日)?)(?!\d)"
    r"(?:[T ]\d{1,2}:\d\d(?::\d\d)?)?"
    rf"|(?<!\d)\d{{1,2}}月\d{{1,2}}日|{_LABEL}(?<![\d.:])\d{{1,2}}:\d\d(?![\d:])"
    # With a unit, with a currency before it, or with a name that gives it its meaning.
    rf"|{_LABEL}(?:[$€£¥]\s?{FIGURE}\s?(?:{CJK_UNIT}|[kKMB](?![A-Za-z])|million|billion)?"
    rf"(?:\s?/\s?[A-Za-z]{{1,12}}|\sper\s[A-Za-z]{{1,12}})?|{AMOUNT})"
    rf"|(?<![\w-])[A-Za-z_][\w-]{{0,40}}\s?[=:]\s?[-+]?{FIGURE}(?![\w:/])"
    rf"|(?<![A-Za-z])(?:[a-z]{{1,20}} )?{_NAMED}(?: (?:of|is|to|at|=|number))?[ 为是：:]{{0,2}}"
    rf"[-+]?{FIGURE}(?:\.\d{{1,9}})*(?![\d_])"
    r"|(?<![A-Za-z0-9_.])v?\d{1,9}\.\d{1,9}\.\d{1,9}(?:[-+.][A-Za-z0-9]{1,30}){0,4}(?![A-Za-z0-9_])",
    re.I,
)
_UUID: Final = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
IDENTIFIER: Final = re.compile(
    # Whatever somebody has put between backticks.
    r"(?<=`)[^`\s]{2,60}(?=`)"
    # Numbers of telephones, whole.
    r"|(?<![\w+])(?:\+\d{1,3}(?:[ ./-]?\(?\d{1,5}\)?){2,6}|\(?0\d{2,4}\)?[ /-]\d{5,9})(?![\w-])"
    rf"|(?<![A-Za-z0-9_])(?:{_UUID}"
    r"|--[a-z][a-z0-9-]{1,40}"
    # Keys of tickets, models, parts: letters, a hyphen, and a digit somewhere.
    r"|(?=[A-Za-z-]{0,40}\d|[A-Za-z][A-Za-z0-9]*\d)[A-Za-z][A-Za-z0-9]{0,30}(?:-[A-Za-z0-9]{1,30}){1,6}"
    r"|[A-Za-z_][A-Za-z0-9]{0,40}(?:_[A-Za-z0-9]{1,40}){1,8}"
    r"|[a-z]{1,30}(?:[A-Z][a-z0-9]{1,30}){1,6}|[A-Z][a-z0-9]{1,30}(?:[A-Z][a-z0-9]{1,30}){1,6}"
    r"|[a-z_]\w{0,40}(?:\.[a-z_]\w{0,40}){1,6}(?=\()"
    r"|(?=[0-9a-f]{0,39}\d)(?<!\d[ ./+-])(?<!\+)[0-9a-f]{7,40})(?![A-Za-z0-9_])",
    re.A,
)
DEFINED: Final = re.compile(
    r"(?:(?<=def )|(?<=class )|(?<=function )|(?<=fn )|(?<=struct )|(?<=interface ))"
    r"[A-Za-z]\w{2,60}"
    r"|(?:(?<=\A)|(?<=\n))[A-Z][A-Z0-9_]{2,40}(?=\s*=[^=])"
    r"|(?i:(?:(?<=create table )|(?<=insert into )))[A-Za-z_][\w.]{2,60}",
    re.A,
)
"""The names that code gives: of functions, classes, constants and tables."""
