"""Events of an account, their endpoints, and their arrival."""
