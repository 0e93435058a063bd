"""Tables of what happened: runs, model calls, tool calls, messages, events.

The columns are declared once in :mod:`robotlab_nb.frames.columns`; the tables are made from
run states by :mod:`robotlab_nb.frames.tables`. Nothing here knows of a loop, a screen or a
database, and pandas is imported when a table is asked for.
"""
