"""The use cases over ports: the gate, the engine, the verbs, recovery."""
