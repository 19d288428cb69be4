"""Pages as they are found in the world, written for these tests, each with the card that it makes."""

from dataclasses import dataclass
from typing import Final

from pressroom.domains.previews.parsing import PageCard

URL: Final = "https://paper.example/a/page.html"


@dataclass(frozen=True)
class Page:
    """A page, its headers, and its metadata."""

    name: str
    html: bytes
    card: PageCard
    content_type: str = "text/html; charset=utf-8"
    url: str = URL


def page(name: str, html: str | bytes, content_type: str = "text/html; charset=utf-8", **card: str | bool) -> Page:
    """A page whose card holds only the given values; `declared` unless that is given."""
    said = {"declared": "title" in card, **card}
    made = html.encode() if isinstance(html, str) else html
    return Page(name, made, PageCard(**said), content_type)  # pyright: ignore[reportArgumentType]


def og(what: str, content: str) -> str:
    """A tag of Open Graph."""
    return f'<meta property="og:{what}" content="{content}">'


NEWS: Final = """<!DOCTYPE html>
<html lang="en" prefix="og: https://ogp.me/ns#">
<head>
<meta charset="utf-8">
<title>Harbour reopens after the storm | The Daily Quoin</title>
<link rel="canonical" href="https://other.example/stolen">
<meta name="description" content="For search engines.">
<meta property="og:type" content="article">
<meta property="og:site_name" content="The Daily Quoin">
<meta property="og:title" content="Harbour reopens after the storm">
<meta property="og:description" content="Ferries sail again from noon.">
<meta property="og:url" content="https://other.example/stolen">
<meta property="og:image" content="https://img.paper.example/harbour.jpg?w=1200&amp;h=630">
<meta property="og:image:width" content="1200">
<meta name="twitter:card" content="summary_large_image">
<meta name="twitter:title" content="Harbour!">
<meta name="twitter:image" content="https://img.paper.example/small.jpg">
<script type="application/ld+json">{"headline": "<title>No</title>"}</script>
</head>
<body><h1>Harbour reopens</h1></body></html>"""

SHOP: Final = """<!doctype html><html><head>
<meta content="Composing stick, 8 inch" property="og:title" />
<meta content='Steel. "Like new."' property='og:description' />
<meta property=og:image content=//cdn.shop.example/stick.png>
<meta property="og:image:secure_url" content="https://cdn.shop.example/other.png">
<meta property="product:price:amount" content="42">
</head><body></body></html>"""

VIDEO: Final = """<html><head><title>A press at work - Tube</title>
<link rel="alternate" type="application/json+oembed" href="/oembed?format=json&amp;url=https%3A%2F%2Fpaper.example%2Fv"
 title="A press at work">
<link rel="alternate" type="text/xml+oembed" href="/oembed?format=xml">
</head></html>"""

OLD: Final = """<HTML><HEAD><META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=windows-1252">
<TITLE>Joe's Page -- Welcome!!</TITLE><META NAME="Description" CONTENT="My hobby is letterpress">
<BODY BGCOLOR=#FFFFFF><CENTER><FONT SIZE=7>Hello</FONT></CENTER>"""

XHTML_PAGE: Final = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">
<html xmlns="http://www.w3.org/1999/xhtml"><head>
<script type="text/javascript" src="a.js"/><style/><title>Formes &amp; furniture</title>
<script><![CDATA[ document.write("</script><title>no</title>") ]]></script>
<meta name="description" content="An XHTML page"/></head><body/></html>"""

PLAIN: Final = (
    page(
        "a newspaper, with a canonical address on another host",
        NEWS,
        title="Harbour reopens after the storm",
        description="Ferries sail again from noon.",
        site_name="The Daily Quoin",
        image="https://img.paper.example/harbour.jpg?w=1200&h=630",
    ),
    page(
        "a shop: attributes in any order and without quotes, an image without a scheme",
        SHOP,
        title="Composing stick, 8 inch",
        description='Steel. "Like new."',
        image="https://cdn.shop.example/stick.png",
    ),
    page(
        "a video with an oEmbed link",
        VIDEO,
        title="A press at work - Tube",
        declared=False,
        oembed="https://paper.example/oembed?format=json&url=https%3A%2F%2Fpaper.example%2Fv",
    ),
    page(
        "a home page of long ago, in capitals and without an end",
        OLD,
        "text/html",
        title="Joe's Page -- Welcome!!",
        description="My hobby is letterpress",
        declared=False,
    ),
    page(
        "XHTML, where tags close themselves and scripts stand in CDATA",
        XHTML_PAGE,
        "application/xhtml+xml",
        title="Formes & furniture",
        description="An XHTML page",
        declared=False,
    ),
    page(
        "Open Graph by name, Twitter by property",
        '<meta name="og:title" content="By name"><meta property="twitter:description" content="By property">',
        title="By name",
        description="By property",
    ),
    page(
        "a Twitter card alone",
        '<head><title>T</title><meta name="twitter:title" content="Bird">'
        '<meta name="twitter:image:src" content="/b.png">',
        title="Bird",
        image="https://paper.example/b.png",
    ),
    page(
        "Open Graph before Twitter, in whatever order they stand",
        '<meta name="twitter:title" content="Second"><meta name="description" content="Third">'
        '<meta name="twitter:description" content="Second">' + og("title", "First") + og("description", "First"),
        title="First",
        description="First",
    ),
    page(
        "several names in one property, and spaces around them",
        '<meta property=" og:title\n twitter:title " content="Both">',
        title="Both",
    ),
    page("names in capitals", '<META PROPERTY="OG:Title" CONTENT="Loud">', title="Loud"),
    page(
        "tags given twice",
        og("title", "One") + og("title", "Two") + og("image", "/1") + og("image", "/2"),
        title="One",
        image="https://paper.example/1",
    ),
    page("an attribute given twice", '<meta property="og:title" content="One" content="Two">', title="One"),
    page(
        "empty contents",
        og("title", "")
        + og("title", " \n")
        + og("title", "&#8203;")
        + '<meta property="og:title">'
        + og("title", "It"),
        title="It",
    ),
    page("Open Graph empty, the title not", og("title", "") + "<title>It</title>", title="It", declared=False),
    page(
        "no head at all, and Open Graph in the body",
        "<body><div><p>Hello<div>" + og("title", "In the body") + "</div></body>",
        title="In the body",
    ),
    page(
        "a second title, the first one empty", "<title> </title><title>Second</title>", title="Second", declared=False
    ),
    page("nothing but a title that is never closed", "<title>Unclosed<p>text", title="Unclosed", declared=False),
    page(
        "entities",
        "<title>Tom &amp; J&eacute;r&ocirc;me&#8217;s &lt;b&gt; &amp;amp; &notit; &#x1F4F0; &#150; &unknown;</title>"
        + og("description", "a&nbsp;&copy=b &copy; c &#0; &#99999999999;"),
        title="Tom & Jérôme\u2019s <b> &amp; ¬it; 📰 \u2013 &unknown;",
        description="a &copy=b © c \ufffd \ufffd",
        declared=False,
    ),
    page("white space", "<title>\n   One\t\ttwo\u00a0\u3000 three\r\n</title>", title="One two three", declared=False),
    page(
        "control, override and invisible characters",
        og("title", "pay\u202epal\u2066 \u200bin\u00advis\ufeffible\x07\x00 \u3164\U000e0041x\ue000"),
        title="paypal invisible x",
    ),
    page("joiners that words and emoji need", og("title", "\u200d می‌خواهم 👩‍🚀\u200d\u200d x"), title="می‌خواهم 👩‍🚀 x"),
    page("letters put together", og("title", "Cafe\u0301"), title="Café"),
    page("a long title", og("title", "x" * 301), title="x" * 299 + "…"),
    page("a title as long as may be", og("title", "\U0001d535" * 300), title="\U0001d535" * 300),
    page("a long description", og("description", "y" * 2_000), description="y" * 999 + "…"),
    page("a long name of the site", og("site_name", "ab " * 50), site_name=("ab " * 33).strip() + "…"),
    page("a megabyte of title", og("title", "ab " * 300_000), title=("ab " * 100)[:299] + "…"),
)

IMAGES: Final = (
    page("a relative image", og("image", "../pic one|2.jpg#x"), image="https://paper.example/pic%20one%7C2.jpg"),
    page(
        "an image below a base",
        '<base href="/static/">' + og("image", "p.png"),
        image="https://paper.example/static/p.png",
    ),
    page(
        "a base after the image, on another host, and a second base",
        og("image", "p.png") + "<base href='//cdn.example/x/'><base href='/no/'>",
        image="https://cdn.example/x/p.png",
    ),
    page(
        "a base that is none",
        '<base href="javascript:x">' + og("image", "p.png"),
        image="https://paper.example/a/p.png",
    ),
    page(
        "images that are no addresses",
        "".join(
            og("image", each)
            for each in (
                "data:image/png;base64,AAAA",
                "javascript:alert(1)",
                "ftp://x.example/",
                "http://[oops/",
                "https://user@x.example/",
                "https:///",
                "//",
            )
        )
        + '<meta name="twitter:image" content="https://ok.example/i.png">',
        image="https://ok.example/i.png",
    ),
    page("an address that is too long", og("image", "/" + "x" * 2_048) + og("title", "T"), title="T"),
    page(
        "an image by http that stands at a secure address too",
        og("image", "http://x.example/i.png") + og("image:secure_url", "https://x.example/i.png"),
        image="https://x.example/i.png",
    ),
    page("an image by http alone", og("image:url", "http://x.example:80/i.png"), image="http://x.example/i.png"),
    page(
        "an image in letters of many lands",
        og("image", "https://BÜCHER.example/ä.png?q=ö"),
        image="https://xn--bcher-kva.example/%C3%A4.png?q=%C3%B6",
    ),
    page(
        "ampersands that are no entities",
        og("image", "/i?a=1&copy=2&lt=3&amp;b"),
        image="https://paper.example/i?a=1&copy=2&lt=3&b",
    ),
    page(
        "an address broken over lines, with backslashes",
        og("image", "https:\\\\x.example\\a\n\t/b.png"),
        image="https://x.example/a/b.png",
    ),
)

ODD: Final = (
    page(
        "600 KB of script before the tags",
        f"<head><script>{'var a=1<b;' * 60_000}</script>" + og("title", "Late"),
        title="Late",
    ),
    page(
        "a tag cut in the middle",
        og("title", "Whole") + '<meta property="og:description" content="cut off',
        title="Whole",
    ),
    page("a title cut in the middle", "<title>Cut of", title="Cut of", declared=False),
    page("no HTML at all", '{"title": "no"} \x89PNG\r\n'),
    page("nothing", b""),
    page("words without a tag", "Just text, a < b > c, </>, <3."),
    page(
        "titles of drawings",
        "<svg><title>Icon</title><style/><g><title>More</title></g></svg><svg/><title>Page</title>",
        title="Page",
        declared=False,
    ),
    page(
        "titles in comments, scripts, templates and noscript",
        "<!-- <title>1</title> --><!--> <!---><script><title>2</title></script><style><title>3</title></style>"
        "<template><title>4</title>" + og("title", "5") + "<template></template></template>"
        "<noscript><title>6</title></noscript><textarea><title>7</title></textarea><iframe><title>8</title></iframe>"
        "<![CDATA[ <title>9</title><title>Page</title>",
        title="Page",
        declared=False,
    ),
    page(
        "a script that writes a script",
        '<script><!-- document.write("<script><\\/script></script><title>no</title>"); --></script><title>Yes</title>',
        title="Yes",
        declared=False,
    ),
    page(
        "tags in attributes",
        """<div data-html="<title>no</title><meta property='og:title' content='no'>" x='>'>"""
        """<iframe srcdoc="<title>no</title>"></iframe><p title=it's><title>Yes</title>""",
        title="Yes",
        declared=False,
    ),
    page("a comment that never ends", og("title", "Before") + "<!-- " + og("description", "no"), title="Before"),
    page("NUL within names", "<ti\0tle>Nu\0l</title>", title="Nul", declared=False),
    page("tags without spaces between attributes", '<meta property="og:title"content="Tight"/>', title="Tight"),
    page("a hundred thousand elements in each other", "<div>" * 100_000 + og("title", "Deep"), title="Deep"),
    page(
        "attributes by the thousand",
        "<meta " + "".join(f"a{i}=1 " for i in range(100_000)) + ">" + og("title", "Wide"),
        title="Wide",
    ),
    page(
        "a refresh",
        '<meta http-equiv="Refresh" content="0; URL=\'/next?a=1\'">',
        refresh="https://paper.example/next?a=1",
    ),
    page(
        "a refresh without quotes or name",
        "<meta http-equiv=refresh content='5,next'>",
        refresh="https://paper.example/a/next",
    ),
    page(
        "a refresh in double quotes",
        """<meta http-equiv=refresh content='1.5;url="x";'>""",
        refresh="https://paper.example/a/x",
    ),
    page("a refresh that waits", '<meta http-equiv="refresh" content="6;url=/next">'),
    page(
        "a refresh of the page itself",
        '<meta http-equiv="refresh" content="1;url=page.html#top"><meta http-equiv="refresh" content="3">',
    ),
    page("a refresh to a script", '<meta http-equiv="refresh" content="0;url=javascript:x">'),
    page("a refresh for those without scripts", '<noscript><meta http-equiv="refresh" content="0;url=/no"></noscript>'),
)


PAGES: Final = PLAIN + IMAGES + ODD
