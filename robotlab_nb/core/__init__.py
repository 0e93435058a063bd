"""Plain data that every room shares: errors, messages, events, keys, configuration.

Nothing here knows of a loop, a model, a screen or a database.
"""
