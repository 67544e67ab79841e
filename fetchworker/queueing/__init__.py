"""What the commands for the queue do: look at it, its dead letters, and seeds for it."""
