#!/usr/bin/env python3
"""Serves a task to gw-run as a persistent program: a line of JSON for each job comes in, one for its result goes out."""
import json
import sys


def work(job):
    print("hello,", job["payload"]["name"], file=sys.stderr)  # stderr is logged, stdout is for answers alone


for line in sys.stdin:
    job = json.loads(line)
    answer = {"id": job["id"]}
    try:
        work(job)
        answer["ok"] = True
    except KeyError as error:  # to try again would not help
        answer |= {"error": f"the payload has no {error}", "permanent": True}
    except Exception as error:
        answer["error"] = repr(error)
    print(json.dumps(answer), flush=True)
