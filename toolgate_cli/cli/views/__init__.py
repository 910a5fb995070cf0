"""What a command shows: human and machine form side by side."""
