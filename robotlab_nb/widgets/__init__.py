"""Pictures that move: the live view of a run, while it happens.

They show what :mod:`robotlab_nb.display` shows; nothing here is imported before the first view
is opened, and nothing here knows in which notebook it stands.
"""
