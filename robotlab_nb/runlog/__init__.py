"""The log: every run's events kept in a database, and read back as what they were.

SQLite in a file, or PostgreSQL by URL. The engine knows nothing of it: the log reads the stream of
events like any other reader. sqlalchemy is imported when a log is first opened.
"""
