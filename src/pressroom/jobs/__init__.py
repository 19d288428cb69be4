"""Work done apart from requests: periodic work, the queue of jobs, and the loop of every worker."""
