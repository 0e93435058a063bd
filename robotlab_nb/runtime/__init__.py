"""The engine: its loop, runs, the events they emit, and stopping.

It knows no model, no tool, no screen and no database.
"""
