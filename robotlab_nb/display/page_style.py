"""The rules of a page that stands alone, beside those of all pictures: paper, measure, print."""

from __future__ import annotations

__all__ = ["PAGE_STYLE"]

_RULES = (
    # No host says which theme it has: the reader's own is taken.
    ":root{color-scheme:light dark;--rlnb-m:15px}",
    "html{background:#fff;color:#1c1c1c;-webkit-text-size-adjust:100%;text-size-adjust:100%}",
    "body{margin:0 auto;max-width:1000px;padding:32px 20px 48px;"
    'font:15px/1.55 system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif}',
    "header,footer{overflow-wrap:anywhere}",
    "header{margin-bottom:20px}",
    "header h1{font-size:24px;line-height:1.25;font-weight:600;margin:0}",
    "header .rlnb-c{--rlnb-m:15px;max-width:none}",
    "footer{font-size:13px;color:#5e5e5e}",
    "header blockquote{margin:12px 0 0;padding:6px 12px;background:#f6f6f6;border-radius:4px;"
    "max-width:52em}",
    "header blockquote b{font-weight:400;color:#5e5e5e;margin-right:4px}",
    "main .rlnb-c{--rlnb-m:15px}",
    "main .rlnb-c.rlnb-c>details{margin-top:12px}",
    "main .rlnb-c.rlnb-c>details>summary{font-size:15px;font-weight:600;color:inherit}",
    "main .rlnb-c.rlnb-c>details>summary>span+span{font-weight:400;font-size:13px;"
    "color:var(--rlnb-mut)}",
    "main .rlnb-c summary{flex-wrap:wrap;align-items:baseline}",
    "main .rlnb-c summary>span:first-of-type{white-space:normal;flex:none;max-width:100%}",
    "main .rlnb-c a{color:#325eb7}",
    "main .rlnb-c.rlnb-c pre{max-height:40em}",
    "footer{margin-top:32px;padding-top:12px;border-top:1px solid #d9d9d9}",
    "footer span+span:before{content:'· '}",
    "@media(prefers-color-scheme:dark){"
    "html{background:#111;color:#eee}"
    "footer,header blockquote b{color:#a9a9a9}"
    "header blockquote{background:#1e1e1e}"
    "main .rlnb-c.rlnb-c>details>summary>span+span{font-weight:400;font-size:13px;"
    "color:var(--rlnb-mut)}",
    "main .rlnb-c summary{flex-wrap:wrap;align-items:baseline}",
    "main .rlnb-c summary>span:first-of-type{white-space:normal;flex:none;max-width:100%}",
    "main .rlnb-c a{color:#71a3ff}footer{border-color:#3b3b3b}}",
    # On paper there is nothing to open or to scroll.
    "@media print{"
    ":root{color-scheme:light}"
    "html{background:#fff;color:#000}"
    "body{max-width:none;padding:0;font-size:10.5pt}"
    "footer,header blockquote b{color:#444}"
    "header blockquote{background:none;border:1px solid #bbb}"
    "main .rlnb-c{--rlnb-m:10.5pt;max-width:none}"
    "main .rlnb-c.rlnb-c pre{max-height:none;overflow:visible}"
    "main .rlnb-w{overflow:visible}"
    "main .rlnb-w .rlnb-y,main .rlnb-w img{max-width:100%;height:auto}"
    "main .rlnb-w:has(.rlnb-y)+.rlnb-q{display:none}"
    "details::details-content{content-visibility:visible;display:block;height:auto}"
    "tr,img,blockquote,summary{break-inside:avoid}"
    "summary,header{break-after:avoid}"
    "@page{margin:18mm 16mm}}",
)

#: For the head of a page, after the stylesheet of all pictures.
PAGE_STYLE = f"<style>{''.join(_RULES)}</style>"
