"""The scenario harness in the site's words: rows of scenario files as suites, rows of results as cases, and back."""
