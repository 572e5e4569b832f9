"""The gate: tool calls, the people who decide them, and the trail of what happened."""
