import { beforeAll, expect, test } from 'vitest';
import { signInWithCredential } from '../../clients/credentials.ts';
import { requestRest } from '../../clients/rest.ts';
import { connectWebSocket, refused } from '../../clients/websocket.ts';
import { startServiceCluster } from '../../support/cluster/cluster.ts';
import { shiftedClock } from '../../support/shifted-clock.ts';
import { buildAgent } from '../../support/service.ts';
import { use } from '../../support/use.ts';

const hourMs = 3_600_000;

const cluster = use(() => startServiceCluster('postgres'), 60_000);
/** Three processes: two whose clocks are an hour ahead and an hour late. */
let urls: Record<'right' | 'ahead' | 'late', string>;
const processes = ['right', 'ahead', 'late'] as const;
beforeAll(async () => {
  const [right, ahead, late] = await Promise.all([
    cluster.startApi(),
    cluster.startApi(shiftedClock(hourMs)),
    cluster.startApi(shiftedClock(-hourMs)),
  ]);
  urls = { right: right?.url ?? '', ahead: ahead?.url ?? '', late: late?.url ?? '' };
}, 60_000);

/** A token of a new agent, with the lifetime that its process states. */
async function signIn(url: string) {
  const { core } = cluster;
  const { token, expires_in } = await signInWithCredential({ core, url }, await buildAgent(core));
  expect(expires_in).toBe(900);
  return token;
}

/** Has every token end that many milliseconds from now. */
async function setExpiry(milliseconds: number): Promise<void> {
  const text =
    'update access_tokens set expires_at = (extract(epoch from now()) * 1000)::bigint + $1::bigint';
  await cluster.core.database.query({ text }, [milliseconds]);
}

const statusAt = async (url: string, token: string) =>
  (await requestRest('GET', `${url}/v1/threads`, { token })).status;

test('a token counts at every process for as long as it says, wherever it was issued', async () => {
  for (const issuer of processes) {
    const token = await signIn(urls[issuer]);
    const statuses = await Promise.all(processes.map((process) => statusAt(urls[process], token)));
    expect([issuer, ...statuses]).toEqual([issuer, 200, 200, 200]);
    const [row] = await cluster.core.database.query<{ left: number }>(
      {
        text: 'select expires_at - (extract(epoch from now()) * 1000)::bigint as left from access_tokens order by created_at desc limit 1',
      },
      [],
    );
    expect(row?.left).toBeGreaterThan(800_000);
    expect(row?.left).toBeLessThan(902_000);
  }
});

test('a token that has ended is refused at every process', async () => {
  const tokens = await Promise.all(processes.map((issuer) => signIn(urls[issuer])));
  await setExpiry(-1_000);
  for (const process of processes)
    for (const token of tokens) expect(await statusAt(urls[process], token)).toBe(401);
});

test('a ticket of any process opens a connection at any other one, until it ends', async () => {
  for (const issuer of processes)
    for (const opener of processes) {
      const token = await signIn(urls[issuer]);
      const request = { token, key: null, body: {} };
      const { body } = await requestRest('POST', `${urls[issuer]}/v1/realtime/tickets`, request);
      const client = await connectWebSocket(urls[opener], { ticket: body.ticket });
      await client.close();
      const { body: second } = await requestRest('POST', `${urls[issuer]}/v1/realtime/tickets`, request);
      await cluster.core.database.query(
        { text: 'update stream_tickets set expires_at = expires_at - 61000' },
        [],
      );
      expect(await refused(urls[opener], { ticket: second.ticket })).toMatchObject({ status: 401 });
    }
});
