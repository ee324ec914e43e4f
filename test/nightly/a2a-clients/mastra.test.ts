import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startA2aCluster } from '../../acceptance/a2a/cluster.ts';
import { startTestAgent } from '../../support/a2a/test-agent.ts';
import { stopAfterTest, use } from '../../support/use.ts';
import { installWithNode, startProgram } from '../support/foreign-client.ts';

const cluster = use(startA2aCluster);

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
