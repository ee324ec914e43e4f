import { waitUntil } from '../../src/shared/wait-until.ts';
import { createMembers, type Member } from '../../scripts/parts/population.ts';
import { combineCpuTimes, readCpuTime } from '../load/cpu-time.ts';
import { type HttpPool, newKey, openHttpPool } from '../load/http-client.ts';
import { compareCost, compareRates, measureInTurn, type Meter } from '../load/in-turn.ts';
import { openLightSocket } from '../load/light-socket.ts';
import { mapConcurrently, runLoad } from '../load/run-load.ts';
import { waitForQueues } from '../load/senders.ts';
import {
  buildNumberedContent,
  createCounter,
  createTally,
  giveUpAfter,
  readNumber,
  type Tally,
} from '../load/tally.ts';
import { hasOwnProcessors, separate, share } from '../start/own-processor.ts';
import { type Bench, type Service, startService } from '../start/service.ts';

/** One agent that writes to another one, in one thread. */
interface Line {
  thread_id: string;
  sender: Member;
}

const loopback = '127.0.0.0/8';
const settings = {
  REMOTE_AGENTS: 'true',
  REMOTE_NETWORKS: loopback,
  REMOTE_CONFIRM: 'none',
  WEBHOOK_NETWORKS: loopback,
};
const readyMs = 60_000;

/**
 * Messages from their send until the frame at the WebSocket of their receiver, two in flight for each thread: to agents of another
 * installation, compared in turn with agents of the same one. First each installation has one processor, as on a machine of its own; then
 * both share all of them, so that a message to another installation, which both of them store, can use no more than a local one.
 */
export async function measureRemote(bench: Bench) {
  const { seconds, threads: count } = bench.options.sending;
  const here = await startService(bench, { settings });
  const there = await startService(bench, { settings });
  const pool = openHttpPool(here.base);
  bench.onEnd(pool.close);
  const tally = createTally();
  const scopes = ['agents:read', 'agents:write', 'threads:read', 'threads:write'] as const;
  const senders = await createMembers(here.core, 'sender', count, { scopes });
  const principals = await createMembers(there.core, 'principal', count);

  /** Opens the socket of each receiver, and a thread with it. */
  async function openLines(service: Service, isRemote: boolean): Promise<Line[]> {
    const receivers = await createMembers(service.core, 'receiver', count);
    for (const receiver of receivers) await countFrames(bench, service, receiver, tally);
    return mapConcurrently(senders, 4, bench.signal, async (sender, at) => {
      const [receiver, principal] = [receivers[at], principals[at]];
      if (!receiver || !principal) throw new Error('there are as many receivers as senders');
      const pairing = { sender, receiver, principal, base: service.base };
      const with_handle = isRemote ? await addRemote(bench, pool, pairing) : receiver.handle;
      const { token } = sender;
      const answer = await pool.request({
        path: '/v1/threads',
        token,
        headers: newKey(),
        body: { with_handle },
      });
      return { sender, thread_id: (JSON.parse(answer) as { id: string }).id };
    });
  }

  const send = createSend(pool, tally);
  const meter = (name: string, lines: readonly Line[]): Meter => ({
    name,
    warmUp_s: 4,
    // The generator is one process.
    readCpu: () =>
      combineCpuTimes(readCpuTime(here), readCpuTime(there), (one, other, part) =>
        part === 'generator' ? one : one + other,
      ),
    async run(duration) {
      const load = { lanes: 2 * count, seconds: duration, signal: bench.signal };
      const result = await giveUpAfter(tally, duration, () =>
        runLoad(load, (_, lane) => send(lines[lane % count])),
      );
      await Promise.all([waitForQueues(here, bench.signal), waitForQueues(there, bench.signal)]);
      return result;
    },
  });
  const meters = [
    meter('to agents here', await openLines(here, false)),
    meter('to agents there', await openLines(there, true)),
  ];
  async function compare() {
    const [local, remote] = await measureInTurn(meters, { seconds, rounds: 3, log: bench.log });
    const ratios = { remote_ratio: compareRates(remote, local), cost_ratio: compareCost(local, remote) };
    return { ...ratios, loads: [local, remote] };
  }
  let separated = null;
  if (hasOwnProcessors()) {
    separate(here, there);
    separated = await compare();
    share(here, there);
  }
  const shared = await compare();
  return { threads: count, in_flight: 2 * count, separated, shared, ...tally.readFaults() };
}

/** Sends a message, and waits until its receiver has it. */
function createSend(pool: HttpPool, tally: Tally) {
  const nextNumber = createCounter();
  return async (line: Line | undefined): Promise<void> => {
    if (!line) throw new Error('there are no threads');
    const number = nextNumber();
    tally.expect(number, { receivers: 1 });
    const path = `/v1/threads/${line.thread_id}/messages`;
    const body = { content: buildNumberedContent(number), metadata: { no_reply_expected: true } };
    const arrival = tally.arrival(number);
    await pool.request({ path, token: line.sender.token, headers: newKey(), body });
    await arrival;
  };
}

async function countFrames(
  { fail, onEnd }: Bench,
  { base }: Service,
  { token }: Member,
  tally: Tally,
): Promise<void> {
  const onFrame = (frame: Buffer) => {
    const number = readNumber(frame);
    if (number !== null) tally.receive(0, number);
  };
  const socket = await openLightSocket({ base, path: '/ws', token, awaitReady: true, onLost: fail, onFrame });
  onEnd(socket.close);
}

/** Adds an agent of another installation as a contact; returns its handle here. */
async function addRemote(
  { signal }: Bench,
  pool: HttpPool,
  { sender: { token }, receiver, principal, base }: Pairing,
): Promise<string> {
  const card_url = `${base}/a2a/${receiver.handle.replace('.', '/')}/.well-known/agent-card.json`;
  const credential = { kind: 'bearer', token: principal.token };
  const path = '/v1/remote-agents';
  const added = await pool.request({ path, token, headers: newKey(), body: { card_url, credential } });
  const { id, canonical_handle } = JSON.parse(added) as { id: string; canonical_handle: string };
  const isReady = async () =>
    (await pool.request({ path: `${path}/${id}`, token })).includes('"state":"ready"');
  if (!(await waitUntil(isReady, { timeoutMs: readyMs, intervalMs: 100, signal })))
    throw new Error(`${card_url} was not read`);
  return canonical_handle;
}

/** The agents of one thread. */
interface Pairing {
  sender: Member;
  receiver: Member;
  /** The agent there for which messages arrive. */
  principal: Member;
  /** The address of the installation of the receiver. */
  base: string;
}
