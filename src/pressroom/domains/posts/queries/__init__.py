"""The posts room's SQL, by what it is for."""
