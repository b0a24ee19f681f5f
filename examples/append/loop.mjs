// A loop in JavaScript that keeps its conversation with one process of Reprise.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const reprise = spawn("reprise", ["append", "--json", "-"], { stdio: ["pipe", "pipe", "inherit"] });
const lines = createInterface({ input: reprise.stdout })[Symbol.asyncIterator]();

async function request(members) {
  reprise.stdin.write(JSON.stringify(members) + "\n");
  const line = JSON.parse((await lines.next()).value);
  if (line.error) throw new Error(line.error.message);
  return line.result;
}

const message = (role, text) => ({ role, blocks: [{ type: "text", text }] });

const { id: session } = await request({ do: "create", title: "Sums" });
for (const [number, question] of ["2 + 2", "3 + 3"].entries()) {
  const answer = { "2 + 2": "4", "3 + 3": "6" }[question]; // your model
  await request({ do: "append", session, op: `${session}-${number}`,
                  messages: [message("user", question), message("assistant", answer)] });
}
for (const { seq, role, blocks } of (await request({ do: "read", session })).messages) {
  console.log(seq, role, blocks[0].text);
}
reprise.stdin.end();
