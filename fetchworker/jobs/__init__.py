"""Jobs: crawls in processes of their own, each under a supervisor, each with a folder that tells all about it.

Nothing here knows of runs or of nodes: whoever starts processes on a machine may use it. See docs/jobs.md.
"""

from fetchworker.jobs.model import Chunk, JobOptions, JobSpec, JobState, JobStatus

__all__ = ["Chunk", "JobOptions", "JobSpec", "JobState", "JobStatus"]
