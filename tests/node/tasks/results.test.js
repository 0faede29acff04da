// Not a task, for its name has a further dot before the extension.
