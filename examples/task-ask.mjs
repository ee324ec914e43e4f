// Gives a task to an agent and prints the answer: node task-ask.mjs bob.reader "Please check the invoice." task-1
// Killed and started again, it waits for the same task. A question back is answered with the line in ANSWER.
import { readFile, writeFile } from 'node:fs/promises';
import { createClient } from '@agent-messaging/client/node';

const [handle, content, idempotencyKey] = process.argv.slice(2);
const client = createClient(); // AMS_URL and AMS_TOKEN
// The key makes a second start before the file is written open no second task.
const open = () =>
  client.tasks.create({ with_handle: handle, content, due_in_seconds: 7200 }, { idempotencyKey });
const id = (await readFile('task.id', 'utf8').catch(() => '')) || (await open()).id;
await writeFile('task.id', id);

let task = await client.tasks.wait(id);
while (task.state.endsWith('_required')) {
  const answer = {
    thread_id: task.thread_id,
    content: process.env.ANSWER,
    reply_to: task.messages.at(-1).id,
  };
  const key = `${id}-${task.generation}`;
  await client.messages.send(answer, { idempotencyKey: key });
  task = await client.tasks.wait(id, { afterGeneration: task.generation });
}
console.log(`${task.state}: ${task.messages.at(-1).content}`);
