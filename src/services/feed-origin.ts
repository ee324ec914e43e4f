import { stretchLength } from '../domain/feed-numbers.ts';
import type { Administration, UnitOfWork } from '../unit-of-work.ts';

type Doors = Pick<UnitOfWork, 'consult' | 'administer'>;

/** Feeds in one statement: it must stay far below the limit of a statement's time. */
const feedsAtOnce = 5_000;

/**
 * Sees whether the database is a restored one, and then has every feed go on in a new stretch of numbers: what clients hold as
 * cursors is never given out a second time. To be called before a process writes anything. Several at once agree; on a database
 * that only looks like another one (after an upgrade, say) it costs nobody anything.
 * @returns how many feeds began a new stretch; null when the database is the one that it was.
 */
export async function recogniseRestore({ consult, administer }: Doors): Promise<number | null> {
  const known = await consult(async ({ feedOrigin }) => {
    const [found, present] = [await feedOrigin.find(), await feedOrigin.fingerprint()];
    return found?.fingerprint === present;
  });
  if (known) return null;
  return administer(async (work) => {
    await work.feedOrigin.lock();
    const found = await work.feedOrigin.find();
    const present = await work.feedOrigin.fingerprint();
    if (found?.fingerprint === present) return null;
    // Right after the migration that brought it in nothing is known yet, and the numbers are this database's own.
    const feeds = found ? await beginStretch(work) : 0;
    if (found) work.note({ act: 'feeds.restored', detail: { feeds } });
    await work.feedOrigin.update(present, work.now);
    return feeds;
  });
}

/**
 * The same for what no process can see: a snapshot of the server's files was put back. Harmless when it was not.
 * @returns how many feeds began a new stretch.
 */
export async function declareRestore(work: Administration): Promise<number> {
  await work.feedOrigin.lock();
  const feeds = await beginStretch(work);
  work.note({ act: 'feeds.restored', detail: { feeds } });
  await work.feedOrigin.update(await work.feedOrigin.fingerprint(), work.now);
  return feeds;
}

/**
 * Whose numbers the feeds hold: those of this database since a time (ms), those of another one that it was restored from, or nobody
 * has started on it yet.
 */
export async function originOfFeeds({ feedOrigin }: Pick<Administration, 'feedOrigin'>) {
  const found = await feedOrigin.find();
  if (!found) return { whose: 'nobody' } as const;
  const own = found.fingerprint === (await feedOrigin.fingerprint());
  return own ? ({ whose: 'own', since: found.since } as const) : ({ whose: 'another' } as const);
}

async function beginStretch({ feedOrigin }: Administration): Promise<number> {
  let feeds = 0;
  let after = '';
  for (;;) {
    const done = await feedOrigin.beginStretch(after, feedsAtOnce, stretchLength);
    feeds += done.length;
    after = done.at(-1) ?? after;
    if (done.length < feedsAtOnce) return feeds;
  }
}
