"""Robots: a model with a system prompt, tools and a conversation, and the loop that runs them."""
