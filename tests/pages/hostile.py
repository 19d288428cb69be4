"""What somebody hostile would write wherever people may write. Each would set the page's title to MARKER."""

import re
from typing import Final

from pressroom.text import CONTROLS

RUNS: Final = "document.title=9**9"
MARKER: Final = "387420489"
"""The title of a page on which one of these has run: it stands in none of them."""

_ELEMENTS = (
    "<script>§</script>",
    "<ScRiPt>§</sCrIpT>",
    "<script>§",
    "<script src=data:,§></script>",
    "<scr<script>ipt>§</scr</script>ipt>",
    "<img src=x onerror=§>",
    '<img src=x onerror="§"//',
    "<IMG\tSRC=x\nOnErRoR=§>",
    "<svg onload=§>",
    "<svg/onload=§>",
    "<svg><script>§</script></svg>",
    "<svg><animate onbegin=§ attributeName=x dur=1s>",
    '<svg><a xlink:href="javascript:§"><text>x</text></a></svg>',
    '<math href="javascript:§">x</math>',
    "<body onload=§>",
    "<video><source onerror=§></video>",
    "<details open ontoggle=§>",
    "<input autofocus onfocus=§>",
    '<iframe srcdoc="<script>parent.§</script>"></iframe>',
    '<iframe src="javascript:parent.§"></iframe>',
    '<object data="javascript:§"></object>',
    '<embed src="javascript:§">',
    '<meta http-equiv=refresh content="0;url=javascript:§">',
    '<base href="javascript:/§//">',
    '<form action="javascript:§"><button>x</button></form>',
    '<button formaction="javascript:§" form=x>x',
    "<style>@import'javascript:§';</style>",
    '<div style="background:url(javascript:§)">',
    '<p style="width:expression(§)">',
    '<link rel=stylesheet href="javascript:§">',
    '<table><td background="javascript:§">',
)
_ADDRESSES = (
    '<a href="javascript:§">x</a>',
    '<a href="java\tscript\n:§">x</a>',
    '<a href="jav&#x09;ascript&colon;§">x</a>',
    '<a href=" \x01javascript:§">x</a>',
    '<a href="data:text/html,<script>§</script>">x</a>',
    "<a href='vbscript:§'>x</a>",
    "javascript:§//https://x.org/",
    "http://javascript:§",
    'https://x.org/"onmouseover="§',
    "https://x.org/'onmouseover='§",
    "https://x.org/`onmouseover=`§",
    'https://x.org/"><script>§</script>',
    "https://x.org/<img/src=x/onerror=§>",
    "https://[<script>§</script>]/",
    "https://x.org\\\"onfocus=§/autofocus='",
)
_ATTRIBUTES = (
    '"><script>§</script>',
    "'><script>§</script>",
    "`><script>§</script>",
    '" onmouseover="§',
    "' onmouseover='§",
    "` onmouseover=`§",
    '" autofocus onfocus=§ x="',
    "x onmouseover=§ y",
    '"/onmouseover=§//',
    '"' + "a" * 440 + '" onmouseover="§',
    "<img " + "x" * 4_800 + " onerror=§>",
)
_ENDS = (
    "</title><script>§</script>",
    "</textarea><script>§</script>",
    "</style><script>§</script>",
    "</bdi></a></p></div></main><script>§</script>",
    "--><script>§</script>",
    "]]><script>§</script>",
    '<!--<img src="--><img src=x onerror=§>',
    "<!-- never closed §",
    "<![CDATA[<script>§</script>]]>",
    "<?xml <script>§</script>?>",
    '<noscript><p title="</noscript><img src=x onerror=§>">',
    '<svg></p><style><a id="</style><img src=1 onerror=§>">',
    "<math><mtext><table><mglyph><style><img src onerror=§>",
    "<select><template><script>§</script>",
    "<plaintext>§",
    "<xmp><script>§</script>",
)
_CODES = (
    "{{7*7}}{{constructor.constructor('§')()}}",
    "{% raw %}{{7*7}}{% endraw %}${§}#{§}<%=§%>",
    "&lt;script&gt;§&lt;/script&gt;",
    "&#60;img src=x onerror=§&#62;",
    "&quot;&gt;&lt;svg onload=§&gt;&amp;&amp;lt;",
    "%3Cscript%3E§%3C/script%3E",
    r"\u003cscript\u003e§\x3c/script\x3e",
    "<scr\u2400ipt>§</scr&#0;ipt>%00\\0",
    "<script\x01>§</script\x7f>",
    "<svg\x0bonload=§><svg\x0conload=§>",
    "\x1b$B<script>§</script>\x1b(B",
    "\u202e<script>§</script>\u202c\u2066",
    "\ufeff<script>§</script>\u200b\u2028",
    "+ADw-script+AD4-§+ADw-/script+AD4-",
    "\uff1cscript\uff1e§\uff1c/script\uff1e",
)
_SIGNS = (
    '#"><img src=x onerror=§>',
    '#tag"onmouseover="§',
    "#<script>§</script>",
    '@"><img src=x onerror=§>',
    '@ann"onmouseover="§',
    "@ann<script>§</script>",
)

HOSTILE: Final = tuple(
    each.replace("§", RUNS) for each in (*_ELEMENTS, *_ADDRESSES, *_ATTRIBUTES, *_ENDS, *_CODES, *_SIGNS)
)


def as_name(words: str, longest: int) -> str:
    """As much of it as a name of so many characters takes: in one line, a dot for what a name may not hold."""
    return re.sub(f"[{CONTROLS}]", "\u00b7", words[:longest])
