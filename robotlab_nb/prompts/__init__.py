"""What a robot is told: rendering prompts."""
