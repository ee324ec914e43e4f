import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Core } from '../../src/compose.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { ofService } from '../cost.ts';
import { readCpuTime } from '../cpu-time.ts';
import type { Environment } from '../environment.ts';
import { buildMessageRequest, openKeepAliveConnection } from '../http-client.ts';
import { buildNumberedContent } from '../messages/receivers.ts';
import { createThreads, type Member, type Thread } from '../population.ts';
import { createMembers, createThread } from '../streams/agents.ts';
import { type LightSocket, openLightSocket } from '../streams/light-socket.ts';
import { waitForStableMemory } from '../streams/resident-memory.ts';
import { type Connection, type Listener, type Peer, type PeerParts, readNumber, type Role } from './peer.ts';

/** How senders reach the service. */
export type SendingTransport = 'WebSocket calls' | 'POST';

interface Population {
  pairs: readonly Thread[];
  group: { id: string; members: readonly Member[] };
  idle: readonly Member[];
}

export interface PopulationSize {
  pairs: number;
  members: number;
  idle: number;
}

const marker = Buffer.from('"content":"#');
const resultPrefix = Buffer.from('{"type":"result","id":"');
const resultStatus = Buffer.from('"status":201');

/** Creates the agents and threads of all measurements. */
export async function createPopulation(
  core: Core,
  { pairs, members, idle }: PopulationSize,
): Promise<Population> {
  const threads = await createThreads(core, 'peers-pair', pairs);
  const group = await createMembers(core, 'peers-group', members);
  const id = await createThread(core, group);
  return {
    pairs: threads,
    group: { id, members: group },
    idle: await createMembers(core, 'peers-idle', idle),
  };
}

/** This service, with senders that use their open connection or POST. */
export function createServicePeer(
  environment: Environment,
  database: Database,
  population: Population,
  { transport, signal, fail }: PeerParts & { transport: SendingTransport },
): Peer {
  const { base } = environment;
  return {
    name: transport,
    async connect(agent, role, listener) {
      const { member, thread_id } = findMember(population, agent, role);
      const byPost = transport === 'POST' && (role === 'sender' || role === 'member');
      const needsSocket = !(byPost && role === 'sender');
      const order = createOrder();
      const ordered = {
        ...listener,
        onAcknowledged(number: number) {
          listener.onAcknowledged(number);
          order.sendNext();
        },
      };
      const socket = needsSocket ? await openSocket(base, member, ordered, fail) : null;
      const sender = byPost
        ? createPostSender(base, member, thread_id, ordered, fail)
        : createCallSender(socket, thread_id);
      order.start((number) => sender.send(number));
      return {
        send: (number) => order.add(number),
        close() {
          sender.close();
          socket?.close();
        },
      };
    },
    async countStored(first, last) {
      const text = `select count(*)::int as rows from messages where substring(content from '^#([0-9]+)')::int between $1 and $2`;
      const [row] = await database.query<{ rows: number }>({ text }, [first, last]);
      return row?.rows ?? 0;
    },
    readCpuMs() {
      const time = readCpuTime(environment);
      return time && ofService(time);
    },
    readMemory: () => waitForStableMemory(environment.pids.api, signal),
  };
}

function findMember(
  { pairs, group, idle }: Population,
  agent: number,
  role: Role,
): { member: Member; thread_id: string } {
  const pair = pairs[Math.floor(agent / 2)];
  const found = {
    sender: pair?.members[0],
    receiver: pair?.members[1],
    member: group.members[agent],
    idle: idle[agent],
  }[role];
  if (!found) throw new Error(`there is no ${role} with the number ${agent}`);
  return { member: found, thread_id: role === 'member' ? group.id : (pair?.id ?? '') };
}

/** Resolves with the first frame: from then on the service delivers events. */
async function openSocket(
  base: string,
  { token }: Member,
  listener: Listener,
  fail: (reason: Error) => void,
): Promise<LightSocket> {
  const ready = new EventTarget();
  const isReady = once(ready, 'ready');
  const socket = await openLightSocket({
    base,
    path: '/ws',
    token,
    onLost: fail,
    onFrame(frame) {
      if (frame.indexOf('{"type":"ready"') === 0) {
        ready.dispatchEvent(new Event('ready'));
      } else if (frame.indexOf(resultPrefix) === 0) {
        if (frame.indexOf(resultStatus) < 0)
          fail(new Error(`a call answered ${frame.toString().slice(0, 300)}`));
        const id = frame.toString('latin1', resultPrefix.length, frame.indexOf(0x22, resultPrefix.length));
        listener.onAcknowledged(Number(id));
      } else {
        const number = readNumber(frame, marker);
        if (number !== null) listener.onMessage(number);
      }
    },
  });
  await isReady;
  return socket;
}

function createCallSender(socket: LightSocket | null, thread_id: string): Connection {
  return {
    send(number) {
      const input = { thread_id, content: buildNumberedContent(number) };
      const call = {
        type: 'call',
        id: String(number),
        operation: 'send_message',
        input,
        idempotency_key: randomUUID(),
      };
      socket?.send(JSON.stringify(call));
    },
    close: () => undefined,
  };
}

/** Posts over one connection, which takes one request at a time. */
function createPostSender(
  base: string,
  { token }: Member,
  thread_id: string,
  listener: Listener,
  fail: (reason: Error) => void,
): Connection {
  const connection = openKeepAliveConnection(base);
  let isClosed = false;

  async function post(number: number): Promise<void> {
    const content = buildNumberedContent(number);
    const request = buildMessageRequest({ base, thread_id, token, key: randomUUID(), content });
    const { status, body } = await connection.send(request);
    if (status !== 201) throw new Error(`POST answered ${status}: ${body.slice(0, 300)}`);
    listener.onAcknowledged(number);
  }

  return {
    send(number) {
      post(number).catch((error: unknown) => {
        if (!isClosed) fail(error instanceof Error ? error : new Error(String(error)));
      });
    },
    close() {
      isClosed = true;
      connection.close();
    },
  };
}

/**
 * Sends the messages of one agent one after the other. The service runs concurrent calls of one agent in any order, so a client that needs
 * an order waits for each answer. The time that a message waits here counts.
 */
function createOrder() {
  const waiting: number[] = [];
  let isBusy = false;
  let send: (number: number) => void = () => undefined;

  function sendNext(): void {
    const number = waiting.shift();
    isBusy = number !== undefined;
    if (number !== undefined) send(number);
  }

  return {
    start(sendOne: (number: number) => void): void {
      send = sendOne;
    },
    add(number: number): void {
      waiting.push(number);
      if (!isBusy) sendNext();
    },
    sendNext,
  };
}
