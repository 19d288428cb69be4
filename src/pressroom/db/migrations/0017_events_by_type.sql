-- A redelivery reads the events of each kind that it asks for, however many others happened in between.

CREATE INDEX events_type ON events (account_id, type, id);
