import { ofService, readCpuTime } from '../load/cpu-time.ts';
import { openHttpPool } from '../load/http-client.ts';
import { openLightSocket } from '../load/light-socket.ts';
import { waitForQueues } from '../load/senders.ts';
import { buildNumberedContent, readNumber } from '../load/tally.ts';
import {
  createMembers,
  createPairs,
  createThreads,
  type Member,
  type Thread,
} from '../../scripts/parts/population.ts';
import { garbageCollectionArguments, waitForStableMemory } from '../start/resident-memory.ts';
import { type Bench, type Service, startService } from '../start/service.ts';
import type { ClientParts, Connect, Peer, PeerKind, PeerSize, Role } from './peer.ts';

/** How senders reach the service. */
const transports = ['WebSocket calls', 'POST'] as const;
export type SendingTransport = (typeof transports)[number];

export const serviceKind: PeerKind = {
  name: 'the service',
  findMissing: () => null,
  async start(bench, size) {
    const started = await startService(bench, { nodeArguments: garbageCollectionArguments });
    const population = await createPopulation(started, size);
    return transports.map((transport) => createServicePeer(bench, started, population, transport));
  },
  openClient(address, parts) {
    const { base, pairs } = JSON.parse(address) as { base: string; pairs: Thread[] };
    return openServiceClient(base, { pairs, group: noThread, idle: [] }, 'WebSocket calls', parts);
  },
};

interface Population {
  pairs: readonly Thread[];
  group: Thread;
  idle: readonly Member[];
}

const noThread: Thread = { id: '', members: [] };
const resultPrefix = Buffer.from('{"type":"result","id":"');
const resultStatus = Buffer.from('"status":201');
const quote = 0x22;
const perOwner = 100;

/** Creates the agents and threads of all measurements. */
async function createPopulation(
  { core }: Service,
  { pairs = 0, members = 0, idle = 0 }: Partial<PeerSize>,
): Promise<Population> {
  const grouped = await createMembers(core, 'group', members, { perOwner });
  const [group] = members === 0 ? [] : await createThreads(core, [grouped]);
  return {
    pairs: await createPairs(core, 'pair', pairs),
    group: group ?? noThread,
    idle: await createMembers(core, 'idle', idle, { perOwner }),
  };
}

/** This service, with senders that use their open connection or POST. */
function createServicePeer(
  bench: Bench,
  service: Service,
  population: Population,
  transport: SendingTransport,
): Peer {
  const { signal } = bench;
  const { base } = service;
  return {
    name: transport,
    address: JSON.stringify({ base, pairs: population.pairs }),
    connect: openServiceClient(base, population, transport, bench),
    waitUntilIdle: () => waitForQueues(service, signal),
    async countStored(first, last) {
      const text = `select count(*)::int as rows from messages where substring(content from '^#([0-9]+)')::int between $1 and $2`;
      const [row] = await service.database.query<{ rows: number }>({ text }, [first, last]);
      return row?.rows ?? 0;
    },
    readCpuMs() {
      const time = readCpuTime(service);
      return time && ofService(time);
    },
    readMemory: () => waitForStableMemory(service.pid, signal),
    crash: {
      kill9: service.kill9,
      restart: service.restart,
      readAll: (receiver) => readAll(base, findMember(population, receiver, 'receiver')),
    },
  };
}

/** Numbers of the messages of a thread, as a member reads them with GET. */
async function readAll(
  base: string,
  { member, thread_id }: ReturnType<typeof findMember>,
): Promise<number[]> {
  const pool = openHttpPool(base);
  const numbers: number[] = [];
  for (let after = 0; ;) {
    const path = `/v1/threads/${thread_id}/messages?order=asc&limit=100&after_sequence=${after}`;
    const body = await pool.request({ path, token: member.token });
    const { messages } = JSON.parse(body) as { messages: { sequence: number; content: string }[] };
    for (const { content } of messages) numbers.push(readNumber(Buffer.from(content), Buffer.from('#')) ?? 0);
    if (messages.length === 0) break;
    after = messages.at(-1)?.sequence ?? after;
  }
  pool.close();
  return numbers;
}

function openServiceClient(
  base: string,
  population: Population,
  transport: SendingTransport,
  { fail, onEnd }: ClientParts,
): Connect {
  const pool = openHttpPool(base);
  onEnd(pool.close);
  return async (agent, role, onMessage) => {
    const { member, thread_id } = findMember(population, agent, role);
    const { token } = member;
    const post = async (number: number) => {
      await pool.sendMessage(thread_id, token, buildNumberedContent(number));
    };
    if (transport === 'POST' && role === 'sender') return { send: post, close: () => undefined };
    const taken = new Map<string, () => void>();
    const socket = await openLightSocket({
      base,
      path: '/ws',
      token,
      awaitReady: true,
      onLost: fail,
      onFrame(frame) {
        if (frame.indexOf(resultPrefix) !== 0) {
          const number = readNumber(frame);
          if (number !== null) onMessage(number);
          return;
        }
        if (frame.indexOf(resultStatus) < 0)
          fail(new Error(`a call answered ${frame.toString().slice(0, 300)}`));
        const end = frame.indexOf(quote, resultPrefix.length);
        const id = frame.toString('latin1', resultPrefix.length, end);
        taken.get(id)?.();
        taken.delete(id);
      },
    });
    function call(number: number): Promise<void> {
      const id = String(number);
      const input = { thread_id, content: buildNumberedContent(number) };
      const idempotency_key = `bench-${number}`;
      socket.send(JSON.stringify({ type: 'call', id, operation: 'send_message', input, idempotency_key }));
      return new Promise((resolve) => taken.set(id, resolve));
    }
    return { send: transport === 'POST' ? post : call, close: socket.close };
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
