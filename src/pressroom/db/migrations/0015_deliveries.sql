-- Deliveries are found by how they went, and by the id that a receiver was sent.

-- How the latest attempt was answered: 2xx, 3xx, 4xx, 5xx, none (no answer, or no complete one); empty: no attempt yet.
-- The default spares rewriting the rows that were delivered; new rows are inserted with a value.
ALTER TABLE deliveries ADD COLUMN code TEXT NOT NULL DEFAULT '2xx';
UPDATE deliveries SET code = '' WHERE state <> 'delivered' AND attempts = '[]';
-- The latest attempt stands last. In a text inside it a quote has a backslash before it, so the name of the field is
-- found nowhere else.
UPDATE deliveries SET code = (
    WITH RECURSIVE latest(place, rest) AS (
        SELECT 0, deliveries.attempts
        UNION ALL
        SELECT place + 1, substr(rest, instr(rest, '"httpCode":') + 11) FROM latest
            WHERE instr(rest, '"httpCode":') > 0)
    SELECT CASE WHEN substr(rest, 1, 3) BETWEEN '200' AND '599' THEN substr(rest, 1, 1) || 'xx' ELSE 'none' END
        FROM latest ORDER BY place DESC LIMIT 1)
    WHERE state <> 'delivered' AND attempts <> '[]';

-- All that a filter can ask for is compared for equality, so a filter that matches nothing reads nothing.
CREATE INDEX deliveries_found ON deliveries (account_id, webhook_id, state, event_type, code, event_id);
CREATE INDEX deliveries_envelope ON deliveries (envelope_id);
