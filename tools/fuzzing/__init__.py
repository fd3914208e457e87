"""Random programs x random schedules, and random text: what comes out is right, a clear refusal, or a fault."""
