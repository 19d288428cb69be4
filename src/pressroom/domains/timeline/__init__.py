"""The home timeline: posts, bounces and clips of followed accounts and joined hubs (docs/timeline.md)."""
