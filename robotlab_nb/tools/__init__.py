"""What a robot may call: tools, their schemas, how they are chosen, and how one call is made.

It knows no model, no conversation and no screen; robots and servers bring the tools here.
"""
