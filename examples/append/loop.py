# A loop in Python that keeps its conversation with one process of Reprise.
import json
import subprocess

reprise = subprocess.Popen(["reprise", "append", "--json", "-"], encoding="utf-8",
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def request(do, **members):
    print(json.dumps({"do": do, **members}), file=reprise.stdin, flush=True)
    line = json.loads(reprise.stdout.readline())
    if "error" in line:
        raise RuntimeError(line["error"]["message"])
    return line["result"]


def message(role, text):
    return {"role": role, "blocks": [{"type": "text", "text": text}]}


session = request("create", title="Sums")["id"]
for number, question in enumerate(["2 + 2", "3 + 3"]):
    answer = {"2 + 2": "4", "3 + 3": "6"}[question]  # your model
    request("append", session=session, op=f"{session}-{number}",
            messages=[message("user", question), message("assistant", answer)])
for stored in request("read", session=session)["messages"]:
    print(stored["seq"], stored["role"], stored["blocks"][0]["text"])
reprise.stdin.close()
reprise.wait()
