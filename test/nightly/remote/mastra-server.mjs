// Serves an agent of @mastra/core over A2A, without a language model. Writes the address of its card as a line of JSON, and ends with standard input.
import { serve } from '@hono/node-server';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { MastraServer } from '@mastra/hono';
import { InMemoryTaskStore } from '@mastra/server/a2a/store';
import { Hono } from 'hono';

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

/** Answers with the last text of the user. */
function toText({ prompt }) {
  const { content } = prompt.findLast(({ role }) => role === 'user');
  return `You said: ${content.map(({ text = '' }) => text).join('')}`;
}

const model = {
  specificationVersion: 'v2',
  provider: 'test',
  modelId: 'echo',
  supportedUrls: {},
  doGenerate: async (call) => ({
    content: [{ type: 'text', text: toText(call) }],
    finishReason: 'stop',
    usage,
    warnings: [],
  }),
  doStream: async (call) => ({
    stream: ReadableStream.from([
      { type: 'stream-start', warnings: [] },
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: toText(call) },
      { type: 'text-end', id: '1' },
      { type: 'finish', finishReason: 'stop', usage },
    ]),
  }),
};

const agent = new Agent({ id: 'echo', name: 'echo', instructions: 'Repeat.', model });
const app = new Hono();
const mastra = new Mastra({ agents: { echo: agent } });
await new MastraServer({ app, mastra, taskStore: new InMemoryTaskStore() }).init();

const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => {
  process.stdout.write(
    `${JSON.stringify({ card_url: `http://127.0.0.1:${port}/api/.well-known/echo/agent-card.json` })}\n`,
  );
});
process.stdin.resume().on('end', () => {
  server.closeAllConnections?.();
  server.close();
  process.exit(0);
});
