"""Examples that run: the catalogue tutorial, and agents to connect by HTTP or as a command."""
