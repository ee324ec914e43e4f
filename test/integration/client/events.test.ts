import { expect, onTestFinished, test, vi } from 'vitest';
import {
  type ClientEvent,
  type ConnectionState,
  type EventOptions,
  memoryCursor,
} from '../../../packages/client/src/main.ts';
import { startTcpBalancer } from '../../../scripts/parts/tcp-balancer.ts';
import { useSharedService } from '../../support/service.ts';
import { clientOf, range, sendNumbers, startConversation } from './setup.ts';

const service = useSharedService();

/** The numbers of the messages in an event. */
function numberOf(event: ClientEvent): number | undefined {
  return event.type === 'message.created' ? Number(event.data.content) : undefined;
}

/** Reads numbered messages until the last one. */
async function readNumbers(
  events: AsyncIterable<ClientEvent>,
  last: number,
  onNumber?: (number: number) => Promise<void>,
): Promise<number[]> {
  const numbers: number[] = [];
  for await (const event of events) {
    const number = numberOf(event);
    if (number === undefined) continue;
    numbers.push(number);
    await onNumber?.(number);
    if (number === last) break;
  }
  return numbers;
}

/** A way to the service that a test can interrupt. */
async function startBalancer() {
  const { hostname, port } = new URL(service.url);
  const balancer = await startTcpBalancer(() => [{ host: hostname, port: Number(port) }]);
  onTestFinished(() => balancer.close());
  return { ...balancer, url: `http://127.0.0.1:${balancer.port}` };
}

const transports = ['auto', 'websocket', 'poll'] as const;

test.each(transports)('over %s, events start at the oldest and continue live', async (transport) => {
  const { asAda, asBob, thread_id } = await startConversation(service);
  await sendNumbers(asAda, thread_id, 1, 3);
  const states: ConnectionState[] = [];
  const events = asBob.events({ transport, onState: (state) => states.push(state) });
  const numbers = await readNumbers(events, 6, async (number) => {
    if (number === 3) await sendNumbers(asAda, thread_id, 4, 6);
  });
  expect(numbers).toEqual(range(1, 6));
  const open = { status: 'open', transport: transport === 'poll' ? 'poll' : 'websocket' };
  expect(states).toContainEqual(open);
  expect(events.state).toEqual({ status: 'closed' });
  expect(() => events[Symbol.asyncIterator]()).toThrow('one loop only');
});

test('the position is stored after the loop body: break and errors repeat the last event', async () => {
  const { asAda, asBob, thread_id } = await startConversation(service);
  await sendNumbers(asAda, thread_id, 1, 4);
  const cursor = memoryCursor();
  const read = (last: number) => readNumbers(asBob.events({ cursor }), last);
  expect(await read(2)).toEqual([1, 2]);
  const failing = readNumbers(asBob.events({ cursor }), 4, async (number) => {
    if (number === 3) throw new Error('the body failed');
  });
  await expect(failing).rejects.toThrow('the body failed');
  expect(await read(3)).toEqual([3]);
  const events = asBob.events({ cursor });
  for await (const event of events) {
    await events.save(event);
    break;
  }
  expect(await read(4)).toEqual([4]);
});

test('"latest" starts at the end of the feed', async () => {
  const { asAda, asBob, thread_id } = await startConversation(service);
  await sendNumbers(asAda, thread_id, 1, 2);
  const onState: EventOptions['onState'] = ({ status }) => {
    if (status === 'open') void sendNumbers(asAda, thread_id, 3, 3);
  };
  expect(await readNumbers(asBob.events({ start: 'latest', onState }), 3)).toEqual([3]);
});

test('close and a signal end the loop without an error', async () => {
  const { asAda, asBob, thread_id } = await startConversation(service);
  await sendNumbers(asAda, thread_id, 1, 3);
  const events = asBob.events();
  const numbers: (number | undefined)[] = [];
  for await (const event of events) {
    numbers.push(numberOf(event));
    if (numbers.at(-1) === 2) events.close();
  }
  expect(numbers).toEqual([undefined, 1, 2]);
  const signal = AbortSignal.abort();
  expect(await readNumbers(asBob.events({ signal }), 3)).toEqual([]);
});

test('auto polls while WebSockets fail, and returns to them without a gap', async () => {
  const { asAda, bob, thread_id } = await startConversation(service);
  const { default: ws } = await import('ws');
  let refusing = true;
  class FailingSocket extends ws {
    constructor(url: string, protocols: string[]) {
      super(refusing ? 'ws://127.0.0.1:1' : url, protocols);
    }
  }
  const asBob = clientOf(service, bob, { webSocket: FailingSocket });
  const used: (string | undefined)[] = [];
  const events = asBob.events({
    webSocketRetryMs: 50,
    onState: ({ transport }) => transport && used.push(transport),
  });
  await sendNumbers(asAda, thread_id, 1, 1);
  const numbers = await readNumbers(events, 20, async (number) => {
    if (number < 6) await sendNumbers(asAda, thread_id, number + 1, number + 1);
    if (number === 5) refusing = false;
    if (number !== 6) return;
    await vi.waitFor(() => expect(events.state.transport).toBe('websocket'), { timeout: 10_000 });
    await sendNumbers(asAda, thread_id, 7, 20);
  });
  expect(numbers).toEqual(range(1, 20));
  expect(used).toContain('poll');
  expect(used.at(-1)).toBe('websocket');
});

test('a dead connection is detected, and the next one continues', async () => {
  const { asAda, bob, thread_id } = await startConversation(service);
  const balancer = await startBalancer();
  const asBob = clientOf(balancer, bob);
  const events = asBob.events({ pingMs: 200, transport: 'websocket' });
  await sendNumbers(asAda, thread_id, 1, 1);
  const numbers = await readNumbers(events, 3, async (number) => {
    if (number !== 1) return;
    await vi.waitFor(() => expect(events.state.status).toBe('open'), { timeout: 20_000 });
    balancer.freeze();
    await sendNumbers(asAda, thread_id, 2, 3);
    await vi.waitFor(() => expect(events.state.status).not.toBe('open'), { timeout: 20_000 });
    await balancer.disconnect();
    await balancer.restore();
  });
  expect(numbers).toEqual([1, 2, 3]);
});

test('a slow loop reads ahead no further than its buffer', async () => {
  const { asAda, asBob, bob, thread_id } = await startConversation(service);
  await sendNumbers(asAda, thread_id, 1, 60);
  const { default: ws } = await import('ws');
  /** As in browsers, which cannot stop reading. */
  class PlainSocket extends ws {
    override pause = undefined as never;
  }
  for (const client of [asBob, clientOf(service, bob, { webSocket: PlainSocket })]) {
    const events = client.events({ bufferSize: 5, transport: 'websocket' });
    expect(await readNumbers(events, 60)).toEqual(range(1, 60));
  }
});

test('a permanent error ends the loop', async () => {
  const agent = await service.agent();
  const cases = [
    { auth: 'wrong', code: 'UNAUTHORIZED' },
    { auth: agent.token, cursor: memoryCursor('foreign'), code: 'INVALID_CURSOR' },
  ];
  for (const { auth, cursor, code } of cases) {
    for (const transport of transports) {
      const events = clientOf(service, { token: auth }).events({ transport, ...(cursor && { cursor }) });
      await expect(readNumbers(events, 1)).rejects.toMatchObject({ code });
    }
  }
});

test('a browser page with a ticket receives events and cannot make calls', async () => {
  const { asAda, asBob, thread_id } = await startConversation(service);
  const getTicket = async () => (await asBob.createTicket()).ticket;
  const page = clientOf(service, { token: '' }, { auth: { getTicket } });
  await sendNumbers(asAda, thread_id, 1, 2);
  expect(await readNumbers(page.events({ start: 'earliest' }), 2)).toEqual([1, 2]);
  await expect(page.agents.getMe()).rejects.toMatchObject({ name: 'AuthenticationError' });
});

test('types choose the events of the loop, and the position passes the others', async () => {
  const { asAda, asBob, thread_id } = await startConversation(service);
  const cursor = memoryCursor();
  await sendNumbers(asAda, thread_id, 1, 2);
  await asAda.threads.update({ thread_id, subject: 'other' });
  await sendNumbers(asAda, thread_id, 3, 3);
  const events = asBob.events({ cursor, types: ['thread.updated'], start: 'earliest' });
  for await (const event of events) {
    expect(event.type).toBe('thread.updated');
    await events.save(event);
    break;
  }
  const rest = asBob.events({ cursor, types: ['message.created'] });
  expect(await readNumbers(rest, 3)).toEqual([3]);
  const position = String(await cursor.load());
  expect(await readNumbers(asBob.events({ start: position, types: ['message.created'] }), 3)).toEqual([3]);
});
