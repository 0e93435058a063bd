"""The notebook's side: the painter, and the command line."""
