"""The page of notifications, with what each of them is about (docs/web-app.md#notifications)."""
