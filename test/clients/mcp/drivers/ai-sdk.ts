import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { createMCPClient, ElicitationRequestSchema } from '@ai-sdk/mcp';
import { expect } from 'vitest';
import { readResult } from '../eliciting-client.ts';
import { type Access, acceptedElicitation, type Driver } from './driver.ts';

/** It has no handler for notifications of servers, and takes the event without data that tells where a stream begins for a message. */
const isKnownMethod = /Unsupported message type|Failed to parse message/;

/** The client of the AI SDK, which shares no code with the one of the MCP SDK. */
export async function connectAiSdk({ url, token, onElicitation }: Access): Promise<Driver> {
  const methods: string[] = [];
  const complaints: string[] = [];
  const client = await createMCPClient({
    transport: {
      type: 'http',
      url: `${url}/mcp`,
      headers: { Authorization: `Bearer ${token}` },
      fetch: recordMethods(methods),
    },
    capabilities: { elicitation: {} },
    onUncaughtError: (error) => void complaints.push(String(error)),
  });
  client.onElicitationRequest(ElicitationRequestSchema, ({ params }) => {
    onElicitation(params.message);
    return acceptedElicitation;
  });
  const tools = await client.tools();
  return {
    tools: async () => Object.keys(tools),
    async call(name, args = {}) {
      const { execute } = tools[name] ?? expect.fail(`there is no tool ${name}`);
      return readResult(await execute(args, { toolCallId: name, messages: [] }));
    },
    async read(uri) {
      const { contents } = await client.readResource({ uri });
      return JSON.parse(Object(contents[0]).text);
    },
    notified: () => methods,
    async close() {
      await client.close();
      expect(complaints.filter((text) => !isKnownMethod.test(text))).toEqual([]);
    },
  };
}

/** Notes the methods of what comes over the stream that the client opens by itself; the client gets every byte. */
function recordMethods(methods: string[]): typeof fetch {
  return async (address, init) => {
    const response = await fetch(address, init);
    if (init?.method !== 'GET' || !response.ok || !response.body) return response;
    const [theirs, ours] = response.body.tee();
    recordStream(ours, methods).catch(() => undefined); // it ends with the client
    return new Response(theirs, response);
  };
}

async function recordStream(stream: ReadableStream<Uint8Array>, methods: string[]): Promise<void> {
  for await (const line of createInterface(Readable.from(stream))) {
    const [, data] = /^data: (.+)$/.exec(line) ?? [];
    if (data !== undefined) methods.push(JSON.parse(data).method);
  }
}
