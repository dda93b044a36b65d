"""Texts that try to be more than text, and a session that has them wherever a text can stand."""

from __future__ import annotations

from pi_sessions import testing

_HIT = "window.hit=1"
_TAGS = [
    f"<script>{_HIT}</script>",
    f"</script><script>{_HIT}</script>",
    f"<img src=x onerror={_HIT}>",
    f'"><img src=x onerror="{_HIT}">',
    f"'><svg onload={_HIT}>",
    f"<svg><script>{_HIT}</script></svg>",
    f"<svg><animate onbegin={_HIT} attributeName=x dur=1s>",
    f"<body onload={_HIT}>",
    f"<iframe srcdoc='<script>parent.{_HIT}</script>'></iframe>",
    f"<iframe src=javascript:parent.{_HIT}></iframe>",
    f"<details open ontoggle={_HIT}>",
    f"<input autofocus onfocus={_HIT}>",
    f"<video><source onerror={_HIT}></video>",
    f"<math><mtext></table></math><img src onerror={_HIT}>",
    f"<style>@import 'http://outside.invalid/x'</style><x onclick={_HIT}>",
    "<link rel=stylesheet href=http://outside.invalid/x.css>",
    "<meta http-equiv=refresh content='0;url=http://outside.invalid/'>",
    "<base href=http://outside.invalid/>",
    "<form action=http://outside.invalid/><button>x</button></form>",
    "<object data=http://outside.invalid/x></object>",
    "<embed src=http://outside.invalid/x>",
    "<img src=http://outside.invalid/p.png>",
    f"<a href=javascript:{_HIT}>x</a>",
    f"<template><script>{_HIT}</script></template>",
    f"<noscript><p title='</noscript><img src=x onerror={_HIT}>'>",
    f"<!--><img src=x onerror={_HIT}>-->",
    f"<![CDATA[<img src=x onerror={_HIT}>]]>",
    f"<title></title><img src=x onerror={_HIT}>",
    f"<textarea></textarea><img src=x onerror={_HIT}>",
    f"&lt;script&gt;{_HIT}&lt;/script&gt;",
    f"<scr\x00ipt>{_HIT}</scr\x00ipt>",
    f"\u003cscript\u003e{_HIT}\u003c/script\u003e",
    f"+ADw-script+AD4-{_HIT}+ADw-/script+AD4-",
    f"<ſcript>{_HIT}</ſcript>",
    f"`<img src=x onerror={_HIT}>`",
]
_ATTRIBUTES = [
    f'" onmouseover="{_HIT}" autofocus onfocus="{_HIT}" x="',
    f"' onmouseover='{_HIT}' x='",
    f"x onfocus={_HIT} autofocus=",
    '" style="background:url(http://outside.invalid/b)" x="',
    '" srcset="http://outside.invalid/s 2x" x="',
    '" href="http://outside.invalid/" x="',
    "\"/></a><img src='http://outside.invalid/q'>",
    "--><b>",
    "]]>",
    "\r\nset-cookie: a=b\r\n\r\n<b>",
]
_SCHEMES = [
    f"javascript:{_HIT}",
    f"JaVaScRiPt:{_HIT}",
    f" javascript:{_HIT}",
    f"\x01javascript:{_HIT}",
    f"java\nscript:{_HIT}",
    f"java\tscript:{_HIT}",
    f"javascript&colon;{_HIT}",
    f"&#106;avascript:{_HIT}",
    f"vbscript:{_HIT}",
    f"data:text/html,<script>{_HIT}</script>",
    f"data:image/svg+xml,<svg onload={_HIT}>",
    "file:///etc/passwd",
    "//outside.invalid/x",
    "\\\\outside.invalid\\x",
    "http:outside.invalid",
    "blob:http://outside.invalid/x",
]
_MARKDOWN = [
    *(f"[a]({scheme})" for scheme in _SCHEMES),
    *(f"![a]({scheme})" for scheme in _SCHEMES),
    *(f"<{scheme}>" for scheme in _SCHEMES),
    f"[a]: javascript:{_HIT}\n\n[a]",
    f"[a](http://x.invalid 'title\" onmouseover={_HIT} x=\"')",
    f'```"><script>{_HIT}</script>\ncode\n```',
    f"```html\n<script>{_HIT}</script>\n```",
    f"| a |\n|---|\n| <img src=x onerror={_HIT}> |",
    f"# <img src=x onerror={_HIT}>",
    f"> <img src=x onerror={_HIT}>",
    f"1. <img src=x onerror={_HIT}>",
    f"<details><summary onclick={_HIT}>a</summary></details>",
    f"~~<s onclick={_HIT}>~~",
    "![pixel](http://outside.invalid/pixel.png)",
    "[![x](http://outside.invalid/i)](http://outside.invalid/l)",
]
_TEMPLATES = [
    "{{ 7*7 }}",
    "{% raw %}",
    "{{ self }}",
    "${7*7}",
    "<%= 7*7 %>",
    "#{7*7}",
    "{{config}}",
]
_TERMINAL = [
    f"\x1b]8;;javascript:{_HIT}\x07link\x1b]8;;\x07",
    "\x1b]8;;http://outside.invalid\x1b\\link\x1b]8;;\x1b\\",
    "\x1b]0;title\x07",
    "\x1b[31m<b>red</b>\x1b[0m",
    f'\x1b[38;2;1;2;3m"><script>{_HIT}</script>\x1b[0m',
    "\x1b[2J\x1b[H",
    "\x1b[99999999999999m x",
    "\x9b31m x",
    "\x1b_payload\x1b\\",
    "\x1bP+q\x1b\\",
    "\x07\x08\x0b\x0c\x0e",
    "a\rb",
]
_LETTERS = [
    "\u202etxt.exe\u202c",
    "\u2066\u2067\u2068\u2069",
    "a\u200bb\u200cc\u200dd",
    "\ufeff<b>",
    "\u2028\u2029",
    "\u00ad\u115f\u3164",
    "\U000e0041\U000e007f",
    "\ud800 lone",
    "\udfff\ud800",
    "\x00",
    "e" + "\u0301" * 300,
    "<" * 3000,
    "a" * 20000,
    "&" * 500,
    "'" * 300 + '"' * 300,
    "\\" * 300,
    "../../../../etc/passwd",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "CON",
    "🙂" * 40,
]
_WRITTEN = [
    f"<img/src=x/onerror={_HIT}>",
    f"<img src=x onerror={_HIT}//",
    f"<img\nsrc=x\nonerror={_HIT}>",
    f"<img\tsrc=x\tonerror={_HIT}>",
    f"<IMG SRC=x OnErRoR={_HIT}>",
    f"<<img src=x onerror={_HIT}>>",
    "<img src=x onerror=&#119;indow.hit=1>",
    f"<img src='x' onerror ='{_HIT}'>",
    f"<img src=`x` onerror=`{_HIT}`>",
    f"&#60;script&#62;{_HIT}&#60;/script&#62;",
    f"&amp;lt;script&amp;gt;{_HIT}&amp;lt;/script&amp;gt;",
    f"%3Cscript%3E{_HIT}%3C/script%3E",
    f"＜script＞{_HIT}＜/script＞",
    f"<sc<script>ript>{_HIT}</sc</script>ript>",
    f"<script/x>{_HIT}</script/x>",
    f"<script\x0b>{_HIT}</script>",
    f"<svg/onload={_HIT}>",
    f"<?xml version='1.0'?><x:script xmlns:x='http://www.w3.org/1999/xhtml'>{_HIT}</x:script>",
    f"<!DOCTYPE x [<!ENTITY y '<script>{_HIT}</script>'>]>&y;",
    f"<plaintext><script>{_HIT}</script>",
    f"<xmp><script>{_HIT}</script></xmp>",
    f"<marquee onstart={_HIT}>x</marquee>",
    f"<dialog open onclose={_HIT}>x</dialog>",
    f"<button popovertarget=x>x</button><div popover id=x onbeforetoggle={_HIT}>",
    f"<custom-element onclick={_HIT}>",
    f"<slot onslotchange={_HIT}>",
    "<frameset><frame src=http://outside.invalid/></frameset>",
    "<portal src=http://outside.invalid/>",
    "<track src=http://outside.invalid/t.vtt>",
    "<input type=image src=http://outside.invalid/i.png>",
    "<image href=http://outside.invalid/i.png>",
    "<svg><use href=http://outside.invalid/i.svg#x></svg>",
    "<svg><foreignObject><iframe src=http://outside.invalid/></iframe></foreignObject></svg>",
    "<link rel=prefetch href=http://outside.invalid/p>",
    "<link rel=dns-prefetch href=//outside.invalid>",
    "<a ping=http://outside.invalid/ href=/>x</a>",
    "<table background=http://outside.invalid/b.png>",
    "<html manifest=http://outside.invalid/m>",
    "<script type=importmap>{}</script>",
    "<script type=speculationrules>{}</script>",
    "<p id=view><p id=rows><p id=say>",
    "<form name=body><input name=attributes>",
]
INPUTS = tuple(
    dict.fromkeys(
        [
            *(*_TAGS, *_WRITTEN, *_ATTRIBUTES, *_SCHEMES),
            *(*_MARKDOWN, *_TEMPLATES, *_TERMINAL, *_LETTERS),
        ]
    )
)
"""Two hundred of them."""
IN_ATTRIBUTES = tuple(
    f"{kind};base64,{data}"
    for kind in ("image/svg+xml", "text/html", 'image/png" onerror="window.hit=1', "image/png")
    for data in ("PHN2ZyBvbmxvYWQ9d2luZG93LmhpdD0xPg==", "iVBORw0KGgo=", "<b>", "javascript:1")
)


def session(texts: tuple[str, ...]) -> bytes:
    """Put each text wherever one can stand: contents, names, ids, types, labels, paths."""
    made = testing.SessionBuilder(id="hostile", cwd=texts[0])
    made.system(
        "\n".join(texts[:20]),
        sections={text[:200]: text for text in texts[20:40]},
        tools_added=[testing.tool(text[:100] or "t", text) for text in texts[:12]],
    )
    for number, text in enumerate(texts):
        user = made.user(text, id=f"{text[:60]}-{number}" if number % 3 else f"u{number}")
        call_id = f"c{number}{text[:9]}"
        call = testing.tool_call(text[:80], {text[:50]: text, "path": text}, id=call_id)
        made.assistant(
            [testing.thinking_block(text), testing.text_block(text), call],
            message={"model": text[:60] or "m", "provider": text[:60] or "p"},
        )
        made.tool_result(call_id, text, name=text[:80])
        if number % 4 == 0:
            made.label(user, text)
            made.bash(text, text)
            made.custom_message(text, custom_type=text[:60])
            made.custom({text[:60]: text}, custom_type=text[:60])
        if number % 9 == 0:
            made.branch_summary(text)
            made.add(text[:60] or "odd", {text[:30] or "k": text})
            made.message({"role": text[:60] or "r", "content": text})
            made.edit(user, {"content": text})
        if number % 50 == 49:
            made.compaction(text)
    for each in IN_ATTRIBUTES:
        kind, _, data = each.partition(";base64,")
        made.user([testing.image_block(data, kind)])
    made.name(texts[1])
    made.raw_line(texts[2].encode("utf-8", "surrogatepass"))
    return made.data


PLAIN = tuple(dict.fromkeys([*_TAGS, *_WRITTEN, *_ATTRIBUTES, *_TEMPLATES, *_TERMINAL]))
"""Those that say nothing in Markdown."""
_SIGNS = str.maketrans({"<": "‹", ">": "›", '"': "”", "'": "’", "&": "+", "{": "₍", "}": "₎"})


def twin(text: str) -> str:
    """Give a text of the same length and words without a sign that means something in HTML."""
    return text.translate(_SIGNS)
