import { expect } from 'vitest';
import { followMessages } from '../../clients/message-follower.ts';
import { startConversation, type startServiceCluster } from '../../support/cluster/cluster.ts';
import { expectExactlyOnce } from '../../support/cluster/delivery-check.ts';
import { startMessageLoad } from '../../support/cluster/message-load.ts';

type Cluster = Awaited<ReturnType<typeof startServiceCluster>>;

/** Starts messages of a conversation at one API process, and a follower of them. */
export async function startWatchedLoad({ core }: Cluster, { url }: { url: string }) {
  const talk = await startConversation(core, url);
  const follower = await followMessages(talk.members[1], () => [url]);
  const load = startMessageLoad(talk, () => [url]);
  await load.waitForMore(50);
  return {
    load,
    /** Waits until the follower has all messages that were acknowledged. */
    waitForFollower: () => follower.waitUntil(load.acknowledged.length),
    health: async () => (await fetch(`${url}/readyz`)).json(),
    /** Ends the load. Every acknowledged message is stored once, and arrived once on one connection. */
    async expectEverything() {
      await load.waitForMore(50);
      await load.finish();
      expect(load.unanswered()).toBe(0);
      await follower.waitUntil(load.acknowledged.length);
      expect([follower.repeated(), follower.connections()]).toEqual([0, 1]);
      await expectExactlyOnce({ core, url }, talk, load.acknowledged);
    },
  };
}
