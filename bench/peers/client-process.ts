import { once } from 'node:events';
import { kinds } from './kinds.ts';

/** What a client is to do; sent by its parent. */
export interface ClientOrder {
  kind: string;
  address: string;
  /** The pairs of agents of its lanes. */
  pairs: readonly number[];
  /** The number of its first message. */
  first: number;
  /** The messages of each lane to send before it ends; without it, the client sends until it or the server is killed. */
  repeat?: readonly (readonly number[])[];
}

/** Before a send, and after the server has confirmed it. */
export type ClientReport = { sent: number; lane: number } | { confirmed: number };

/**
 * Sends in pairs, one message at a time in each lane, in a process of its own, so that it can be killed. It reports each message, and ends
 * when it has lost a connection.
 */
const report = (text: ClientReport) => process.send?.(text);
// Reports are written in their order, so all earlier ones arrive.
const end = () => void process.send?.({ confirmed: -1 } satisfies ClientReport, () => process.exit(0));

async function run({ kind, address, pairs, first, repeat }: ClientOrder): Promise<void> {
  const { signal } = new AbortController();
  const parts = { signal, fail: end, log: () => undefined, onEnd: () => undefined };
  const connect = kinds.find(({ name }) => name === kind)?.openClient(address, parts);
  if (!connect) throw new Error(`${kind} is unknown`);
  const senders = [];
  for (const pair of pairs) {
    await connect(2 * pair + 1, 'receiver', () => undefined);
    senders.push(await connect(2 * pair, 'sender', () => undefined));
  }
  let next = first;
  await Promise.all(
    senders.map(async ({ send }, lane) => {
      for (let turn = 0; ; turn += 1) {
        const number = repeat ? repeat[lane]?.[turn] : next++;
        if (number === undefined) return;
        report({ sent: number, lane });
        await send(number);
        report({ confirmed: number });
      }
    }),
  );
}

process.once('disconnect', () => process.exit(0));
const [order] = (await once(process, 'message')) as [ClientOrder];
run(order).then(end, end);
