"""One call to one language model: the protocol, the ways to reach a model, and what calls cost."""
