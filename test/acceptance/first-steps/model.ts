import { onTestFinished } from 'vitest';
import { connectSdkClient } from '../../clients/mcp/client.ts';
import { requestRest } from '../../clients/rest.ts';
import { connectWebSocket } from '../../clients/websocket.ts';
import type { TestAgent, TestService } from '../../support/service.ts';

export interface ModelCall {
  isError: boolean;
  /** What the model sees: the JSON text of the result. */
  value: Record<string, unknown>;
  /** The error in it; empty without one. */
  error: Record<string, unknown>;
  /** What several clients hide from the model. */
  meta: Record<string, unknown>;
}

/** A model in one MCP session, with a client that validates structured results. */
export async function connectModel({ url }: Pick<TestService, 'url'>, token: string) {
  const { client, transport, close } = await connectSdkClient(url, token);
  await client.listTools(); // From here on the client validates.
  let isClosed = false;
  const model = {
    instructions: client.getInstructions() ?? '',
    async call(name: string, args: Record<string, unknown> = {}): Promise<ModelCall> {
      const { isError, content, _meta } = await client.callTool({ name, arguments: args });
      const value: Record<string, unknown> = JSON.parse(Object(content)[0].text);
      return { isError: isError === true, value, error: Object(value['error']), meta: Object(_meta) };
    },
    /** Calls a tool that must succeed; returns what the model sees. */
    async use(name: string, args: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
      const { isError, value } = await model.call(name, args);
      if (isError) throw new Error(`${name}: ${JSON.stringify(value)}`);
      return value;
    },
    /** Ends the session. */
    async leave() {
      if (isClosed) return;
      isClosed = true;
      await transport.terminateSession();
      await close();
    },
  };
  onTestFinished(() => model.leave());
  return model;
}

export type Model = Awaited<ReturnType<typeof connectModel>>;

/** The contents of the new messages in a result of `wait_for_events`. */
export function contentsOf({ events }: Record<string, unknown>): unknown[] {
  const list = Object(events) as { type: string; data: { content?: string } }[];
  return list.filter(({ type }) => type === 'message.created').map(({ data }) => data.content);
}

/** Waits without a cursor until the feed is read to its end; returns the contents of the new messages. */
export async function readToEnd(model: Model): Promise<unknown[]> {
  const contents: unknown[] = [];
  for (;;) {
    const page = await model.use('wait_for_events', { wait_seconds: 0 });
    contents.push(...contentsOf(page));
    if (page['complete']) return contents;
  }
}

/** An agent that answers every message at once with these texts, over WebSocket and REST. */
export async function startAnswerer(
  { url, api }: Pick<TestService, 'url' | 'api'>,
  agent: TestAgent,
  answers: (content: string) => readonly string[],
) {
  const socket = await connectWebSocket(url, { token: agent.token });
  const answered: string[] = [];
  async function answer(): Promise<void> {
    for (;;) {
      const { data } = await socket.next(
        ({ type, data: message }) =>
          type === 'message.created' && Object(message).sender.canonical_handle !== agent.handle,
      );
      const { thread_id, content: question } = Object(data);
      for (const content of answers(question)) {
        const path = `${api}/threads/${thread_id}/messages`;
        const { status, text } = await requestRest('POST', path, { token: agent.token, body: { content } });
        if (status !== 201) throw new Error(text);
      }
      answered.push(question);
    }
  }
  let fault: unknown;
  let isOver = false;
  const running = answer().catch((error: unknown) => {
    if (!isOver) fault = error;
  });
  onTestFinished(async () => {
    isOver = true;
    await socket.close();
    await running;
    if (fault !== undefined) throw fault;
  });
  return {
    /** The messages that it has answered. */
    answered: (): readonly string[] => answered,
  };
}
