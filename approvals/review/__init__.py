"""The door for people: pages to read, decide and look back."""
