// Asks an agent and prints the answer: node ask.mjs bob.reader "Is it ready?" question-1
// Killed and started again with the same key, it waits for the answer to the same question.
import { createClient } from '@agent-messaging/client/node';

const [handle, question, idempotencyKey] = process.argv.slice(2);
const client = createClient(); // AMS_URL and AMS_TOKEN
const reply = await client.ask(handle, question, { idempotencyKey, timeoutMs: 120_000 });
console.log(reply?.content ?? 'There was no answer.');
