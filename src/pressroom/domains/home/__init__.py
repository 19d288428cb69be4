"""Pages that show what several packages hold: the front page and the notifications (docs/web-app.md)."""
