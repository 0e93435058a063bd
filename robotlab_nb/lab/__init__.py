"""The lab: prompts, models and inputs side by side, judged, kept and repeatable."""
