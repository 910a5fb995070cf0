"""What this computer knows: clock, random ids, owner locks, process trees."""
