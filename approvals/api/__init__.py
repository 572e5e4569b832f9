"""The door for agents and for reviewers' programs: REST under /api/v1."""
