"""``python -m robotlab_nb``: the demo, the notebooks."""

from .notebook.commands import main

if __name__ == "__main__":
    raise SystemExit(main())
