"""How fast is it? `make bench` starts the production processes here and measures them beside floors of the same run."""
