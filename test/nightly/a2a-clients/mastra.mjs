// Asks an agent through A2AAgent of @mastra/core: one JSON line per question on standard input, one per answer on standard output.
import { createInterface } from 'node:readline';
import { A2AAgent } from '@mastra/core/a2a';

const { AMS_CARD, AMS_TOKEN } = process.env;
const headers = { Authorization: `Bearer ${AMS_TOKEN}` };
const agent = new A2AAgent({ url: AMS_CARD, protocolVersion: '1.0', headers });

const calls = {
  generate: ({ text, runId }) => agent.generate(text, { runId }),
  resume: ({ text, runId }) => agent.resumeGenerate(text, { runId }),
  async stream({ text, runId }) {
    const { getResult } = await agent.stream(text, { runId });
    return getResult();
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { call, ...question } = JSON.parse(line);
  const { text, finishReason, task } = await calls[call](question);
  process.stdout.write(`${JSON.stringify({ text, finishReason, state: task?.status.state })}\n`);
}
