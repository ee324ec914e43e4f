import { randomUUID } from 'node:crypto';
import type { Member } from '../../scripts/parts/population.ts';
import type { Bench, Service } from '../start/service.ts';
import { newKey, openHttpPool } from './http-client.ts';
import { openLightSocket } from './light-socket.ts';
import { buildNumberedContent, readNumber } from './tally.ts';

export interface Pair {
  client: Member;
  agent: Member;
}

interface Sent {
  task_id: string;
  thread_id: string;
}

type Address = Pick<Service, 'base'>;

const version = 'A2A-Version: 1.0';

/** Calls of A2A (JSON-RPC), and of REST for the same. Each question opens a thread and a task. */
export function openA2aCalls({ onEnd }: Bench, { base }: Address) {
  const pool = openHttpPool(base);
  onEnd(pool.close);

  async function callAgent({ client, agent }: Pair, method: string, params: object): Promise<string> {
    const path = `/a2a/${agent.handle.replace('.', '/')}`;
    const body = { jsonrpc: '2.0', id: 1, method, params };
    const answer = await pool.request({ path, token: client.token, headers: [version], body });
    if (answer.includes('"result":')) return answer;
    throw new Error(`${method} answered ${answer.slice(0, 300)}`);
  }
  return {
    async ask({ client, agent }: Pair, number: number, wait_seconds: number): Promise<void> {
      const body = { with_handle: agent.handle, content: buildNumberedContent(number), wait_seconds };
      const path = '/v1/threads/ask';
      const answer = await pool.request({ path, token: client.token, headers: newKey(), body });
      if (wait_seconds > 0 && answer.includes('"reply":null')) throw new Error('there was no answer in time');
    },
    /** Returns the ids of its task and its thread. */
    async sendMessage(pair: Pair, number: number, returnImmediately: boolean): Promise<Sent> {
      const parts = [{ text: buildNumberedContent(number) }];
      const message = { messageId: randomUUID(), role: 'ROLE_USER', parts };
      const answer = await callAgent(pair, 'SendMessage', { message, configuration: { returnImmediately } });
      if (!returnImmediately && !answer.includes('TASK_STATE_COMPLETED'))
        throw new Error('there was no answer in time');
      const { result } = JSON.parse(answer) as { result: { task: { id: string; contextId: string } } };
      return { task_id: result.task.id, thread_id: result.task.contextId };
    },
    getTask: ({ task_id, ...pair }: Pair & Sent) => callAgent(pair, 'GetTask', { id: task_id }),
    getThread: ({ client, thread_id }: Pair & Sent) =>
      pool.request({ path: `/v1/threads/${thread_id}`, token: client.token }),
    getTaskOfRest: ({ client, task_id }: Pair & Sent) =>
      pool.request({ path: `/v1/tasks/${task_id}`, token: client.token }),
  };
}

/** Connects an agent over the WebSocket that answers each question with a call. */
export async function answerQuestions(
  { fail, onEnd }: Bench,
  { base }: Address,
  { token }: Member,
): Promise<void> {
  const socket = await openLightSocket({
    base,
    path: '/ws',
    token,
    awaitReady: true,
    onLost: fail,
    onFrame(frame) {
      if (frame.includes('"type":"result"') && !frame.includes('"status":201'))
        fail(new Error(`an answer was refused: ${frame.toString().slice(0, 300)}`));
      if (readNumber(frame) === null) return;
      const { data } = JSON.parse(frame.toString()) as { data: { thread_id: string } };
      const input = { thread_id: data.thread_id, content: 'Tomorrow at nine.' };
      const call = { type: 'call', id: randomUUID(), operation: 'send_message', input };
      socket.send(JSON.stringify({ ...call, idempotency_key: randomUUID() }));
    },
  });
  onEnd(socket.close);
}
