"""What robots share: reactive memory and the places where it is kept.

A value written by one is read, awaited and subscribed to by others, in threads, on any event loop
and, kept in Redis, in other processes. Knows runs only by who writes; knows no robot.
"""
