"""What a file must hold to be accepted, one idea a module; all of it is skipped for bytes that were accepted before."""
