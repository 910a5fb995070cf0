"""What every answer looks like: a function to JSON and one to a sheet or to fields, side by side; none of them writes."""
