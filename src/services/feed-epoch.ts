import { rangeLength } from '../domain/feed/position-ranges.ts';
import type { SystemWork, UnitOfWork } from '../work/unit-of-work.ts';

type SystemAccess = Pick<UnitOfWork, 'readAsSystem' | 'writeAsSystem'>;

/** Feeds in one statement: it must stay far below the limit of a statement's time. */
const feedsPerStatement = 5_000;

/**
 * Sees whether the database is a restored one, and then has every feed go on in a new stretch of numbers: what clients hold as
 * cursors is never given out a second time. To be called before a process writes anything. Several at once agree; on a database
 * that only looks like another one (after an upgrade, say) it costs nobody anything.
 * @returns how many feeds began a new stretch; null when the database is the one that it was.
 */
export async function detectRestore({ readAsSystem, writeAsSystem }: SystemAccess): Promise<number | null> {
  const known = await readAsSystem(async ({ feedEpoch }) => {
    const [found, present] = [await feedEpoch.find(), await feedEpoch.fingerprint()];
    return found?.fingerprint === present;
  });
  if (known) return null;
  return writeAsSystem(async (work) => {
    await work.feedEpoch.lock();
    const found = await work.feedEpoch.find();
    const present = await work.feedEpoch.fingerprint();
    if (found?.fingerprint === present) return null;
    // Right after the migration that brought it in nothing is known yet, and the numbers are this database's own.
    const feeds = found ? await beginRanges(work) : 0;
    if (found) work.audit({ act: 'feeds.restored', detail: { feeds } });
    await work.feedEpoch.update(present, work.now);
    return feeds;
  });
}

/**
 * The same for what no process can see: a snapshot of the server's files was put back. Harmless when it was not.
 * @returns how many feeds began a new stretch.
 */
export async function declareRestore(work: SystemWork): Promise<number> {
  await work.feedEpoch.lock();
  const feeds = await beginRanges(work);
  work.audit({ act: 'feeds.restored', detail: { feeds } });
  await work.feedEpoch.update(await work.feedEpoch.fingerprint(), work.now);
  return feeds;
}

/**
 * Whose numbers the feeds hold: those of this database since a time (ms), those of another one that it was restored from, or nobody
 * has started on it yet.
 */
export async function readFeedEpoch({ feedEpoch }: Pick<SystemWork, 'feedEpoch'>) {
  const found = await feedEpoch.find();
  if (!found) return { whose: 'nobody' } as const;
  const own = found.fingerprint === (await feedEpoch.fingerprint());
  return own ? ({ whose: 'own', since: found.since } as const) : ({ whose: 'another' } as const);
}

async function beginRanges({ feedEpoch }: SystemWork): Promise<number> {
  let feeds = 0;
  let after = '';
  for (;;) {
    const done = await feedEpoch.beginRange(after, feedsPerStatement, rangeLength);
    feeds += done.length;
    after = done.at(-1) ?? after;
    if (done.length < feedsPerStatement) return feeds;
  }
}
