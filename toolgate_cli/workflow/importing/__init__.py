"""Workflows of another format, brought into a home: read strictly, mapped whole, or refused with the file and the field."""
