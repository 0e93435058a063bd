"""Pictures that stand still: engine objects as HTML, plain text and Markdown.

Everything here is a pure function of data: no clocks, no random ids, no network, no screen.
An object becomes neutral parts (:mod:`.parts`) once, and three writers turn those into HTML,
text and Markdown, so that all three say the same in the same order.
"""
