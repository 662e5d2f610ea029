"""What answers a scenario: the protocol of a runtime, and the local one."""
