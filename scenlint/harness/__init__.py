"""The harness: runs trials of RunPlans in sandboxes and records what happened; it knows no task format."""
