import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startA2aCluster } from '../../acceptance/a2a/cluster.ts';
import { startTestAgent } from '../../support/a2a/test-agent.ts';
import { stopAfterTest, use } from '../../support/use.ts';
import { install, startProgram, installWithNode } from '../support/foreign-client.ts';

const cluster = use(startA2aCluster);

test('a provider of the AI SDK asks and streams over A2A 0.3', { timeout: 600_000 }, async () => {
  const folder = await install({ 'a2a-ai-provider': '0.5.0-alpha.1', ai: '6.0.326', zod: '4.4.3' });
  const [askedAgent, client] = [await cluster.agent(), await cluster.agent()];
  stopAfterTest(startTestAgent({ url: cluster.url, auth: askedAgent.token }));
  const address = cluster.addressOf(askedAgent).replace('/a2a/', '/a2a/v0.3/');
  const env = { AMS_CARD: `${address}/.well-known/agent-card.json`, AMS_TOKEN: client.token };
  const node = process.execPath;
  const provider = await startProgram(folder, join(import.meta.dirname, 'ai-provider.mjs'), { node, env });
  async function call(name: 'generate' | 'stream', text: string) {
    provider.write({ call: name, text });
    return provider.read();
  }
  expect(await call('generate', 'tck-complete-task')).toEqual({ text: 'Done.' });
  expect(await call('stream', 'tck-stream-basic')).toEqual({ text: 'The result.' });
  await provider.close();
});

test(
  'the A2A agent of Mastra on Node 24 asks, answers a question, and streams',
  { timeout: 600_000 },
  async () => {
    const { folder, node } = await installWithNode({ '@mastra/core': '1.71.0' });
    const [askedAgent, client] = [await cluster.agent(), await cluster.agent()];
    stopAfterTest(startTestAgent({ url: cluster.url, auth: askedAgent.token }));
    const env = {
      AMS_CARD: `${cluster.addressOf(askedAgent)}/.well-known/agent-card.json`,
      AMS_TOKEN: client.token,
    };
    const mastra = await startProgram(folder, join(import.meta.dirname, 'mastra.mjs'), { node, env });
    async function call(name: 'generate' | 'resume' | 'stream', text: string, runId: string) {
      mastra.write({ call: name, text, runId });
      return mastra.read();
    }
    const answered = { finishReason: 'stop', state: 'completed' };
    expect(await call('generate', 'tck-complete-task', 'one')).toEqual({ ...answered, text: 'Done.' });
    expect(await call('generate', 'tck-long-running', 'two')).toEqual({
      ...answered,
      text: 'It took a while.',
    });
    expect(await call('generate', 'tck-input-required', 'three')).toEqual({
      text: 'Which one?',
      finishReason: 'suspended',
      state: 'input-required',
    });
    expect(await call('resume', 'The first one.', 'three')).toEqual({ ...answered, text: 'Done.' });
    expect(await call('stream', 'tck-stream-basic', 'four')).toEqual({ ...answered, text: 'The result.' });
    await mastra.close();
  },
);
