"""The scenario harness: rows of a JSONL file, run against an agent, judged, added up and compared."""
