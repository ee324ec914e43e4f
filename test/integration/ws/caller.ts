import { randomUUID } from 'node:crypto';
import { expect, vi } from 'vitest';
import { requestRest } from '../../clients/rest.ts';
import { connectWebSocket, type Frame, type WsClient } from '../../clients/websocket.ts';
import type { TestAgent, TestService } from '../../support/service.ts';

export interface Caller extends TestAgent {
  socket: WsClient;
}

export async function connectCaller(agent: TestAgent, of: TestService): Promise<Caller> {
  return { ...agent, socket: await connectWebSocket(of.url, { token: agent.token }) };
}

/** Two agents with open connections, and a thread of both. */
export async function openConversation(of: TestService) {
  const [ann, bob] = await Promise.all([
    connectCaller(await of.agent(), of),
    connectCaller(await of.agent(), of),
  ]);
  const opened = await call(ann, 'create_thread', { with_handle: bob.handle });
  const thread_id = String(opened.output.id);
  await bob.socket.next(({ type }) => type === 'thread.created');
  return { ann, bob, thread_id };
}

/** The fields of a result that tests look at. */
export type Result = Frame & {
  status: number;
  // oxlint-disable-next-line typescript/no-explicit-any
  output: any;
  // oxlint-disable-next-line typescript/no-explicit-any
  error: any;
  replayed?: true;
  retry_after?: number;
};

export const resultOf = async ({ socket }: Caller, id: string): Promise<Result> =>
  (await socket.next((frame) => frame.type === 'result' && frame.id === id)) as Result;

/** Sends a call and waits for its result. */
export async function call(
  caller: Caller,
  operation: string,
  input: object = {},
  key: string | null = randomUUID(),
) {
  const id = randomUUID();
  caller.socket.send({ type: 'call', id, operation, input, ...(key !== null && { idempotency_key: key }) });
  return resultOf(caller, id);
}

export const rest = (
  of: TestService,
  agent: TestAgent,
  method: string,
  path: string,
  body?: object,
  key?: string,
) =>
  requestRest(method, `${of.api}${path}`, {
    token: agent.token,
    ...(body && { body }),
    ...(key !== undefined && { key }),
  });

/** Resolves when that many calls wait for events. */
export const waiting = (count: number, of: TestService) =>
  vi.waitFor(() => expect(of.parts.live.realtime.stats().get('poll') ?? 0).toBe(count), {
    timeout: 20_000,
    interval: 5,
  });
