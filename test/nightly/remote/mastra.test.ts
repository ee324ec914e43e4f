import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { storyOf, useInstallation } from '../../integration/remote/setup.ts';
import { waitUntil } from '../../integration/webhooks/setup.ts';
import { installWithNode, startProgram } from '../support/foreign-client.ts';

const service = useInstallation();

const packages = {
  '@mastra/core': '1.71.0',
  '@mastra/hono': '1.7.9',
  '@mastra/server': '1.67.0',
  '@hono/node-server': '1.19.19',
  hono: '4.13.19',
  zod: '4.6.7',
};

test(
  'an agent of Mastra on Node 24 is a contact: it answers, and keeps the conversation',
  { timeout: 600_000 },
  async () => {
    const { folder, node } = await installWithNode(packages);
    const mastra = await startProgram(folder, join(import.meta.dirname, 'mastra-server.mjs'), {
      node,
      env: {},
    });
    const { card_url } = z.object({ card_url: z.string() }).parse(await mastra.read());
    const ann = await service.agent();
    const remote = await service.addRemote(ann, { card_url });
    const { thread_id, task_id } = await service.ask(ann, remote, 'Is anyone there?');
    const isDone = async (id: string) => {
      await service.pass(thread_id);
      return (await service.readTask(ann, id)).state;
    };
    await waitUntil(() => isDone(task_id)).toBe('completed');
    const second = await service.ask(ann, { thread_id }, 'And now?');
    await waitUntil(() => isDone(second.task_id)).toBe('completed');
    const story = storyOf(await service.messages(ann, thread_id), ann);
    // A task that is read while it works says so.
    expect(story.filter((line) => line !== 'there: Generating response...')).toEqual([
      'here: Is anyone there?',
      'there: You said: Is anyone there?',
      'here: And now?',
      'there: You said: And now?',
    ]);
    await waitUntil(async () => (await service.marks(ann, thread_id, remote)).handled).toBeGreaterThan(1);
    await mastra.close();
  },
);
