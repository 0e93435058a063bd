"""The one stylesheet of all static pictures. Every selector starts with ``.rlnb-``.

It never asks for the theme: colours are mixed with the host's own ink, which is black or white,
whichever its text is nearer to. Classes are doubled where a host's rules are stronger.
"""

from __future__ import annotations

__all__ = ["STYLE"]

_RULES = (
    # ink, muted, line, fill; three sizes
    ".rlnb-c{"
    "--rlnb-ink:oklch(from var(--jp-content-font-color0,"
    "var(--vscode-editor-foreground,currentColor)) clamp(0,(l - .5)*99,1) 0 0/1);"
    "--rlnb-mut:color-mix(in srgb,var(--rlnb-ink) 64%,transparent);"
    "--rlnb-line:color-mix(in srgb,var(--rlnb-ink) 15%,transparent);"
    "--rlnb-fill:color-mix(in srgb,var(--rlnb-ink) 4%,transparent);"
    "--rlnb-m:var(--jp-content-font-size1,14px);"
    "--rlnb-s:calc(var(--rlnb-m)*6/7);"
    "--rlnb-l:calc(var(--rlnb-m)*8/7);"
    'font:var(--rlnb-m)/1.5 var(--jp-ui-font-family,system-ui,"Segoe UI",Helvetica,Arial,'
    "sans-serif);max-width:1000px;overflow-wrap:anywhere}",
    # hues: robots, running, waiting, failed, interrupted
    ".rlnb-kr{--rlnb-k:#4a86ff}",
    ".rlnb-k0{--rlnb-k:#3c9cec}",
    ".rlnb-k1{--rlnb-k:#977537}",
    ".rlnb-k2{--rlnb-k:#bb4cad}",
    ".rlnb-k3{--rlnb-k:#75a319}",
    ".rlnb-k4{--rlnb-k:#6b6bf4}",
    ".rlnb-k5{--rlnb-k:#3f9981}",
    ".rlnb-k6{--rlnb-k:#f85383}",
    ".rlnb-k7{--rlnb-k:#9f8eb9}",
    ".rlnb-kw{--rlnb-k:#d88a00}",
    ".rlnb-kf{--rlnb-k:#ff5263}",
    ".rlnb-ki{--rlnb-k:#888}",
    ".rlnb-i,.rlnb-r{--rlnb-x:color-mix(in oklab,var(--rlnb-k) 78%,var(--rlnb-ink))}",
    ".rlnb-i{color:var(--rlnb-x)}",
    ".rlnb-i,.rlnb-c strong{font-weight:600}",
    # rhythm
    ".rlnb-c :is(p,dl,dd,blockquote){margin:0}",
    ".rlnb-c.rlnb-c>*+*,.rlnb-c blockquote+blockquote{margin-top:8px}",
    ".rlnb-c.rlnb-c>details+details{margin-top:0}",
    ".rlnb-box{border:1px solid var(--rlnb-line);border-radius:6px;padding:8px 12px}",
    # head, quiet text, badge
    ".rlnb-h{display:flex;flex-wrap:wrap;gap:0 8px;align-items:baseline}",
    ".rlnb-h>b{font-size:var(--rlnb-l);font-weight:600}",
    ".rlnb-h>*{min-width:0}",
    ".rlnb-e{margin-left:auto}",
    ".rlnb-q,.rlnb-b,.rlnb-c :is(summary,dt){font-size:var(--rlnb-s);color:var(--rlnb-mut);"
    "font-weight:400;font-variant-numeric:tabular-nums}",
    ".rlnb-b{line-height:1.3;border:1px solid var(--rlnb-line);border-radius:4px;padding:0 4px}",
    ".rlnb-b,.rlnb-e,.rlnb-s{white-space:nowrap}",
    ".rlnb-z{display:none}",
    # messages, notices, answers
    ".rlnb-c blockquote{padding:0 12px;border-left:2px solid var(--rlnb-x,var(--rlnb-line))}",
    ".rlnb-c .rlnb-u,.rlnb-c.rlnb-c pre{background:var(--rlnb-fill);border:0;border-radius:4px;"
    "padding:4px 12px}",
    ".rlnb-a,.rlnb-c :is(.rlnb-u,.rlnb-r){max-width:52em}",
    ".rlnb-u>p{white-space:pre-wrap}",
    ".rlnb-a.rlnb-a>*{margin:0 0 8px}",
    ".rlnb-a.rlnb-a>:last-child{margin:0}",
    ".rlnb-a.rlnb-a>:is(h3,h4,h5,h6){font-size:var(--rlnb-l);font-weight:600;margin:12px 0 4px}",
    # fields, code, folds
    ".rlnb-c dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 12px;"
    "align-items:baseline}",
    ".rlnb-c :is(dt,dd){width:auto}",
    ".rlnb-c.rlnb-c pre{font-size:var(--rlnb-s);line-height:1.4;padding:8px 12px;margin:4px 0;"
    "max-height:20em;overflow:auto;white-space:pre-wrap;word-break:normal}",
    ".rlnb-c.rlnb-c :not(pre)>code{font-size:.92em;background:none;padding:0;white-space:inherit}",
    ".rlnb-c summary{display:flex;gap:4px;cursor:pointer;line-height:1.9}",
    ".rlnb-c summary::-webkit-details-marker{display:none}",
    '.rlnb-c summary:before{content:"▸";width:1em;flex:none}',
    '.rlnb-c [open]>summary:before{content:"▾"}',
    ".rlnb-c summary:hover{color:inherit}",
    ".rlnb-c [open]{padding-bottom:4px}",
    ".rlnb-c summary>span{flex:none}",
    ".rlnb-c summary>span:first-of-type{flex:0 1 auto;overflow:hidden;text-overflow:ellipsis;"
    "white-space:nowrap}",
    # tables
    ".rlnb-w{overflow-x:auto;overflow-wrap:normal}",
    ".rlnb-w table{width:100%;margin:0;font-size:var(--rlnb-s);font-variant-numeric:tabular-nums;"
    "table-layout:auto;border-collapse:collapse;color:inherit}",
    ".rlnb-w.rlnb-w :is(td,th){text-align:left;padding:4px 12px 4px 0;vertical-align:baseline;"
    "font-weight:400}",
    ".rlnb-w td{min-width:5em}",
    ".rlnb-w thead th{color:var(--rlnb-mut)}",
    ".rlnb-w.rlnb-w tbody th{font-weight:600}",
    ".rlnb-w.rlnb-w tbody tr{background:none;border-top:1px solid var(--rlnb-line)}",
    ".rlnb-w.rlnb-w .rlnb-0{text-align:right;white-space:nowrap}",
    # meters: a browser's own track is loud in one theme or the other
    ".rlnb-c progress{appearance:none;border:0;border-radius:4px;overflow:hidden;width:6em;"
    "height:8px;background:var(--rlnb-line)}",
    ".rlnb-c ::-webkit-progress-bar{background:none}",
    ".rlnb-c ::-webkit-progress-value{background:#4a86ff}",
    ".rlnb-c ::-moz-progress-bar{background:#4a86ff}",
    # drawings: what is dark inside them follows their own color-scheme, and that the host's theme
    ".rlnb-w img{max-width:max(100%,800px)}",
    ".rlnb-w .rlnb-y{max-width:none}",
    ".rlnb-w img:is([data-jp-theme-light=true] *,.vscode-light *,[theme=light] *,"
    "[data-theme=light] *){color-scheme:light}",
    ".rlnb-w img:is([data-jp-theme-light=false] *,.vscode-dark *,[theme=dark] *,"
    "[data-theme=dark] *){color-scheme:dark}",
)

#: The sheet, in a ``<style>``, for the start of every static output.
STYLE = f"<style>{''.join(_RULES)}</style>"
