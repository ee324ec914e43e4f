import { expect, onTestFinished, test } from 'vitest';
import { startTcpBalancer } from '../../../scripts/parts/tcp-balancer.ts';
import { readFeed, type ReaderTransport, startRestartingReader } from '../../clients/restarting-reader.ts';
import { useSharedService } from '../../support/service.ts';
import { range, sendNumbers, startConversation } from '../../integration/client/setup.ts';

const service = useSharedService();

const cuts = 40;
const messages = 270;

/** Sends messages in three threads at once. */
async function send({ asAda, bob }: Awaited<ReturnType<typeof startConversation>>): Promise<void> {
  await Promise.all(
    range(1, 3).map(async (part) => {
      const { id } = await asAda.threads.create({ with_handle: bob.handle });
      await sendNumbers(asAda, id, 1, messages / 3 - part);
    }),
  );
}

/** The whole test, with the processes of the service killed as well, is in test/nightly. */
test.each<ReaderTransport>(['websocket', 'poll', 'switching'])(
  'over %s, cut connections and failing bodies lose no event and double none after its position',
  async (transport) => {
    const talk = await startConversation(service);
    const { hostname, port } = new URL(service.url);
    const balancer = await startTcpBalancer(() => [{ host: hostname, port: Number(port) }]);
    onTestFinished(() => balancer.close());
    const reader = startRestartingReader({
      url: `http://127.0.0.1:${balancer.port}`,
      token: talk.bob.token,
      transport,
      failureRate: 0.01,
    });
    const sent = send(talk);
    for (let cut = 1; cut <= cuts; cut += 1) {
      await reader.waitFor(cut * 6);
      if (cut % 10 === 0) {
        await balancer.disconnect();
        await balancer.restore();
      } else {
        balancer.dropConnections(() => true);
      }
    }
    await sent;
    const feed = await readFeed(service.api, talk.bob.token);
    await reader.waitFor(feed.length);
    const report = await reader.stop();
    expect([...new Set(report.handled)]).toEqual(feed);
    expect(report.doubled).toEqual([]);
    expect(report.restarts).toBe(report.handled.length - feed.length);
    if (transport !== 'poll') expect(report.connections.websocket).toBeGreaterThan(0);
    if (transport !== 'websocket') expect(report.connections.poll).toBeGreaterThan(0);
  },
);
