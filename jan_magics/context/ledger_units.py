"""Numbers as the ledger reads them: a figure with its whole unit, or nothing.

A wrong unit is worse than none: what goes on after a unit that is known, by a letter, a "per" or
a slash, makes another unit of it. The groups are atomic, so that no shorter one is tried then.
"""

from typing import Final

_C: Final = r"[\u4e00-\u9fff]"

_SYMBOL: Final = (
    r"%|‰|°\s?[CFK]?|℃|℉|[kKMGTPE]i?[Bb](?:ps)?|[kMG]?bps|[kKMGT]?bits?|mmHg|dBm?|Nm"
    r"|[munpkKMGcdhµμ]?(?:mol|bar|eV|Hz|Pa|Wh|Ah|VA|Bq|Sv|Gy|cal|lm|lx|m|g|s|A|V|W|L|l|J|N|Ω|M)"
    r"|[munpµμ][FHT]|rpm|fps|dpi|px|pt|em|rem|vh|vw|ppm|ppb|psi|atm|ha|mph|mi|ft|in"
    r"|lbs?|oz|min|h|t|k|x"
)
_WORD: Final = (
    r"(?:square |cubic )?(?:kilo|mega|giga|tera|milli|micro|nano|centi|deci|hecto)?(?:met(?:er"
    r"|re)s?|grams?|gramm|lit(?:er|re)s?|watts?(?:[- ]hours?)?|volts?|amp(?:ere)?s?|hertz"
    r"|pascals?|joules?|newtons?|bytes?|bits?|ohms?|calories?|seconds?)|inch(?:es)?|foot|feet"
    r"|yards?|miles?|gallons?|pounds?|ounces?|tons?|tonnes?|kelvin|celsius|fahrenheit"
    r"|degrees?(?: (?:Celsius|Fahrenheit|[CFK]))?|hrs?|hours?|days?|weeks?|months?|years?|secs?"
    r"|mins?|minutes?|rows?|columns?|records?|samples?|tokens?|epochs?|steps?|layers?|chars"
    r"|characters|words|lines|pages|files|items|requests?|users|workers|threads|cores|GPUs?"
    r"|CPUs?|people|patients|participants|times|per ?cent|(?:percentage )?points|USD|EUR|GBP|CHF"
    r"|CNY|RMB|JPY|euros?|dollars?|million|billion|thousand|Prozent|Stück|Stunden?|Tagen?"
    r"|Minuten?|Sekunden?|Jahren?|Monaten?|Wochen?|Grad|Kilo|Zeilen?|Seiten?|pour ?cent"
    r"|por ?ciento"
)
_POWER: Final = r"(?:\^?-?[23](?!\d)|[²³])?"
_PER: Final = (
    r"(?:\s?/\s?(?:\([A-Za-zµμΩ°²³^·⋅*]{1,20}\)|\d{0,4}[A-Za-zµμΩ°]{1,12}"
    rf"{_POWER}))?(?:\sper\s(?:\d{{1,4}}\s)?[A-Za-z]{{1,12}})?"
)
UNIT: Final = (
    rf"(?>(?:{_WORD}|{_SYMBOL})(?![A-Za-z]){_POWER}(?:[·⋅*](?:{_SYMBOL})(?![A-Za-z]){_POWER})*{_PER})"
    r"(?![A-Za-z\d_²³])(?!\s?[/·⋅×^]\s?[A-Za-zµμΩ(])(?![/·⋅^]\d)(?!\sper\s)"
)
"""A unit in Latin letters: kg, kWh/m2, W/(m²·K), miles per hour."""

_SI: Final = (
    r"(?:平方|立方)?(?:[千百十万亿兆吉太拍毫微纳皮飞厘分]{0,2}(?:瓦特|瓦小时|瓦时|瓦|伏特|伏安|伏|安培|安时|欧姆"
    r"|赫兹|帕斯卡|焦耳|字节|比特|牛顿|牛米|牛[·•]米|法拉|摩尔|卡路里|电子伏特?|西弗|特斯拉|流明|勒克斯|米汞柱"
    r"|克拉|克朗|米|克|升|秒)|[千百兆吉太毫微纳皮分](?:安|欧|赫|帕|焦|法|亨|卡|牛|贝|巴)"
    r"|大卡|开尔文|公里|公斤|公顷|公尺|公分|英里|英尺|英寸|英亩|海里|光年|马力|加仑|盎司)"
)
_MONEY: Final = (
    r"[万亿千百]*(?:人民币|日元|日圆|港元|港币|美元|欧元|加元|澳元|韩元|卢布|英镑|法郎|美分|块钱"
    r"|元|円)"
)
_COUNT: Final = (
    r"百分点|[万亿千百]*(?:斤|磅|吨|里|亩|微秒|分钟|小时|工作日|季度|世纪|星期|周岁|天|周|岁|年|月|日|号|点"
    r"|人次|人月|人天|人|个(?:小时|月|星期|工作日|百分点|字节|字|人)?|百分点|次|行|列|条|页|张|台|辆|套|份|箱"
    r"|瓶|篇|项|帧|转|像素|名|位|倍|轮|步|层|字符|字|摄氏度|华氏度|度电|度|時間|個|回|件|枚|分|本)"
)
_EACH: Final = rf"(?:每(?:{_SI}|{_COUNT})|/(?:{_SI}|{_COUNT}|[A-Za-z]{{1,6}}))?"
CJK_UNIT: Final = (
    rf"(?>(?:{_SI}|{_MONEY}|{_COUNT}){_EACH})(?!每|/[A-Za-z\u4e00-\u9fff]|[特培姆兹耳顿汞]|分?之一)"
    rf"|[万亿兆](?!{_C})|[万亿](?=左右|以[上下内]|多|余|到|至|和|与|或)"
)
"""A unit in Chinese or Japanese: 公斤, 兆帕, 公里每小时, 个小时."""

FIGURE: Final = (
    r"(?>(?:\d{1,3}[ -])?\d{1,4}/\d{1,4}(?![\d/])|\d{0,3}\s?[½¼¾⅓⅔⅛⅜⅝⅞]"
    r"|\d{1,3}(?:\.\d{3}){1,4},\d{1,4}|\d{1,3}(?:[ \u00a0\u202f']\d{3}){1,4}(?:[.,]\d{1,15})?(?!\d)"
    r"|\d{1,15}(?:,\d{3}){0,5}(?:[.,]\d{1,15})?(?:[eE][+-]?\d{1,3})?)"
)
RANGE: Final = rf"(?:\s?(?:-|–|—|~|to|至|到|x|×)\s?{FIGURE})?"
AMOUNT: Final = (
    rf"(?<![A-Za-z0-9_./])(?<!\d[,' ])[-+±≈~<>≤≥]?{FIGURE}{RANGE}\s?(?:{CJK_UNIT}|{UNIT})"
)
"""A figure or a range of them, with its unit."""
