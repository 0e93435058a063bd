"""Networks: graphs of tasks, each starting when its own dependencies are done."""
