"""Work done apart from requests: what is due every so often, the queue of jobs, and the loop of every worker."""
