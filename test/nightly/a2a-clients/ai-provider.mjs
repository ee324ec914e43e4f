// Asks an agent through a2a-ai-provider, which speaks A2A 0.3: one JSON line per question on standard input, one per answer on standard output.
import { createInterface } from 'node:readline';
import { a2a } from 'a2a-ai-provider';
import { generateText, streamText } from 'ai';

const { AMS_CARD, AMS_TOKEN } = process.env;
// Both libraries log to standard output.
globalThis.AI_SDK_LOG_WARNINGS = false;
console.log = () => undefined;

// The provider has no setting for headers.
const { fetch } = globalThis;
globalThis.fetch = (url, init = {}) => {
  const headers = new Headers(init.headers);
  headers.set('Authorization', `Bearer ${AMS_TOKEN}`);
  return fetch(url, { ...init, headers });
};

const model = a2a(AMS_CARD);
const calls = {
  generate: async (prompt) => (await generateText({ model, prompt })).text,
  stream: (prompt) => streamText({ model, prompt }).text,
};

for await (const line of createInterface({ input: process.stdin })) {
  const { call, text } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify({ text: await calls[call](text) })}\n`);
}
