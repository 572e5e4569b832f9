"""The tool contract in plain Python: declare a function, parse its arguments, execute it, answer the model."""
