import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startMcpCluster } from '../../acceptance/mcp/cluster.ts';
import { testToolStory } from '../../acceptance/mcp/tool-story.ts';
import type { ConnectTools } from '../../clients/mcp/drivers/driver.ts';
import { callToolRaw } from '../../clients/mcp/client.ts';
import { readResult, readText } from '../../clients/mcp/eliciting-client.ts';
import { use } from '../../support/use.ts';
import { install, installWithNode, startProgram } from '../support/foreign-client.ts';

const cluster = use(startMcpCluster);

interface Line {
  id: number;
  result?: unknown;
  error?: string;
}

/** Connects through a program that calls the tools of one client library. */
function connectThrough(folder: string, program: string, node = process.execPath): ConnectTools {
  return async ({ url, token }) => {
    const client = await startProgram(folder, join(import.meta.dirname, program), {
      node,
      env: { AMS_URL: url, AMS_TOKEN: token },
    });
    const { tools } = (await client.read()) as { tools: string[] };
    let id = 0;
    return {
      tools: async () => tools,
      async call(name, args = {}) {
        client.write({ id: (id += 1), name, args });
        const { result, error } = (await client.read()) as Line;
        if (error !== undefined) return readText(true, error.slice(error.indexOf('{')));
        const hasContent = Object.hasOwn(Object(result), 'content');
        return hasContent ? readResult(result) : readText(false, JSON.stringify(result));
      },
      close: client.close,
    };
  };
}

test('with Mastra on Node 24, which also learns of a changed resource', { timeout: 600_000 }, async () => {
  const { folder, node } = await installWithNode({ '@mastra/core': '1.71.0', '@mastra/mcp': '2.0.0' });
  await testToolStory(cluster, connectThrough(folder, 'mastra.mjs', node));

  const [reader, writer] = [
    await cluster.agent({ audience: 'mcp' }),
    await cluster.agent({ audience: 'mcp' }),
  ];
  const { value } = await callToolRaw(cluster.url, writer.token, 'create_thread', {
    with_handle: reader.handle,
  });
  const thread_id = String(value['id']);
  const resource = `service://threads/${thread_id}`;
  const program = join(import.meta.dirname, 'mastra-subscription.mjs');
  const env = { AMS_URL: cluster.url, AMS_TOKEN: reader.token, AMS_RESOURCE: resource };
  const client = await startProgram(folder, program, { node, env });
  expect(await client.read()).toEqual({ subscribed: resource });
  await callToolRaw(cluster.url, writer.token, 'send_message', { thread_id, content: 'News.' });
  expect(await client.read()).toEqual({ updated: resource });
  await client.close();
});

test('with version 2 of the AI SDK client on Node 24', { timeout: 600_000 }, async () => {
  const { folder, node } = await installWithNode({ '@ai-sdk/mcp': '2.0.99', zod: '4.4.3' });
  await testToolStory(cluster, connectThrough(folder, 'ai-sdk.mjs', node));
});

test('with the command line of version 2 of the inspector on Node 24', { timeout: 600_000 }, async () => {
  const { folder, node } = await installWithNode({ '@modelcontextprotocol/inspector': '2.12.0' });
  await testToolStory(cluster, connectThrough(folder, 'inspector.mjs', node));
});

// Version 2 needs a package that the registry does not have.
test('with mcp-use', { timeout: 600_000 }, async () => {
  const folder = await install({ 'mcp-use': '1.34.6' });
  await testToolStory(cluster, connectThrough(folder, 'mcp-use.mjs'));
});
