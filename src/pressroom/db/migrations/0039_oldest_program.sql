-- While servers are replaced one after the other, those of the version before may be started again on the newer schema
-- (docs/development.md#a-migration). One row: what schema a program must know at least.
CREATE TABLE oldest_program (schema_version INTEGER PRIMARY KEY);

INSERT INTO oldest_program VALUES (36);
