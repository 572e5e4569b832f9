"""A deployment to try the gate with: harmless tools of every kind, people, an agent, some calls, and stories."""
