import { test } from 'vitest';
import { connectAiSdk } from '../../clients/mcp/drivers/ai-sdk.ts';
import type { ConnectTools } from '../../clients/mcp/drivers/driver.ts';
import { connectLangChain } from '../../clients/mcp/drivers/langchain.ts';
import { connectMcpRemote } from '../../clients/mcp/drivers/mcp-remote.ts';
import { connectMcporter } from '../../clients/mcp/drivers/mcporter.ts';
import { connectOpenAiAgents } from '../../clients/mcp/drivers/openai-agents.ts';
import { connectRawHttp } from '../../clients/mcp/drivers/raw-http.ts';
import { connectNegotiatingSdk, connectPinnedSdk } from '../../clients/mcp/drivers/stateless-sdk.ts';
import { connectSdk } from '../../clients/mcp/drivers/sdk.ts';
import { startMcpCluster } from './cluster.ts';
import { testToolStory } from './tool-story.ts';
import { isNightly } from '../../support/extent.ts';
import { use } from '../../support/use.ts';

const cluster = use(startMcpCluster);

const testStory = (connect: ConnectTools) => testToolStory(cluster, connect);

test('with a client of 2024-11-05', () => testStory(connectRawHttp));
test('with the second MCP SDK, pinned to 2026-07-28', () => testStory(connectPinnedSdk));
test('with the second MCP SDK, which negotiates', () => testStory(connectNegotiatingSdk));

if (isNightly) {
  test('with LangChain', () => testStory(connectLangChain));

  test('with the OpenAI Agents SDK in strict mode', () => testStory(connectOpenAiAgents));

  test('with the command line of mcporter', () => testStory(connectMcporter));

  test('with the client of the MCP SDK', () => testStory(connectSdk));

  test('with the client of the AI SDK', () => testStory(connectAiSdk));

  test('through mcp-remote', () => testStory(connectMcpRemote));
}
