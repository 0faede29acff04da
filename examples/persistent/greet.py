#!/usr/bin/env python3
"""Serves a task as a persistent program of gw-run: reads one line of JSON for each job, writes one for its result."""
import json
import sys


def work(job):
    print("hello,", job["payload"]["name"], file=sys.stderr)  # stderr is logged; stdout is for answers only


for line in sys.stdin:
    job = json.loads(line)
    answer = {"id": job["id"]}
    try:
        work(job)
        answer["ok"] = True
    except KeyError as error:  # another attempt would fail as well
        answer |= {"error": f"the payload has no {error}", "permanent": True}
    except Exception as error:
        answer["error"] = repr(error)
    print(json.dumps(answer), flush=True)
