"""What `tare lower --partial` makes of a program, for the scripts beside this one."""
import glob
import json
import os
import subprocess


def lowered(tare, program, target, folder):
    """(report, files, complaint): the report of --json, None when there is none; one file, or one for each region."""
    path = os.path.join(folder, "net.tosa")
    done = subprocess.run([tare, "lower", program, "--target", target, "-o", path, "--json", "--partial"],
                          capture_output=True, text=True)
    report = json.loads(done.stdout) if done.stdout else None
    files = [path] if os.path.exists(path) else sorted(glob.glob(os.path.join(folder, "net.[0-9]*.tosa")))
    return report, files, done.stderr.strip()


def wanted(path, only):
    """Whether a path has one of the parts that --only names, separated by commas."""
    return any(part in path for part in only.split(","))
