"""What recorded trials count as and what they come to: functions of a task and its records, for rules and stages."""
