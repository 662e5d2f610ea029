"""The built-in tools, all rooted at the workspace, and what they are made of."""
