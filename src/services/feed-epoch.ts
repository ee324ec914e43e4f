import { system } from '../../packages/core/src/domain/auth/audit.ts';
import { rangeLength } from '../../packages/core/src/domain/feed/position-ranges.ts';
import type { ReadWork, SystemWork, UnitOfWork } from '../work/unit-of-work.ts';

type SystemAccess = Pick<UnitOfWork, 'read' | 'write'>;

/** Feeds per statement, so that each statement stays far below the statement timeout. */
const feedsPerStatement = 5_000;

/**
 * Detects whether the database was restored from a backup, and then begins a new range of positions in every feed, so that positions
 * in clients' cursors are never issued twice. Call it before a process writes anything. Concurrent calls are safe. A false positive,
 * for example after an upgrade of the database server, is harmless.
 * @returns the number of feeds that began a new range; null if the database was not restored.
 */
export async function detectRestore(unitOfWork: SystemAccess): Promise<number | null> {
  const isUnchanged = await unitOfWork.read(system, async ({ db: { feedEpoch } }) => {
    const [stored, current] = [await feedEpoch.find(), await feedEpoch.fingerprint()];
    return stored?.fingerprint === current;
  });
  if (isUnchanged) return null;
  return unitOfWork.write(system, async (work) => {
    await work.db.feedEpoch.lock();
    const stored = await work.db.feedEpoch.find();
    const current = await work.db.feedEpoch.fingerprint();
    if (stored?.fingerprint === current) return null;
    // A new database has no fingerprint yet, and its positions are its own.
    const feeds = stored ? await beginRanges(work) : 0;
    if (stored) work.changes.audit({ act: 'feeds.restored', detail: { feeds } });
    await work.db.feedEpoch.update(current, work.now);
    return feeds;
  });
}

/**
 * Begins a new range in every feed, for a restore that cannot be detected: of a snapshot of the server's files. Harmless otherwise.
 * @returns the number of feeds that began a new range.
 */
export async function declareRestore(work: SystemWork): Promise<number> {
  await work.db.feedEpoch.lock();
  const feeds = await beginRanges(work);
  work.changes.audit({ act: 'feeds.restored', detail: { feeds } });
  await work.db.feedEpoch.update(await work.db.feedEpoch.fingerprint(), work.now);
  return feeds;
}

/** Returns the number of feeds, which is how many declareRestore would change. */
export function countFeeds({ db: { feedEpoch } }: ReadWork): Promise<number> {
  return feedEpoch.countFeeds();
}

/**
 * Returns whether the feed positions belong to this database (`current`, since a time in ms), to another one that it was restored
 * from (`foreign`), or no process has started on it yet (`none`).
 */
export async function readFeedEpoch({ db: { feedEpoch } }: ReadWork) {
  const stored = await feedEpoch.find();
  if (!stored) return { status: 'none' } as const;
  const isCurrent = stored.fingerprint === (await feedEpoch.fingerprint());
  return isCurrent ? ({ status: 'current', since: stored.since } as const) : ({ status: 'foreign' } as const);
}

async function beginRanges({ db: { feedEpoch } }: SystemWork): Promise<number> {
  let feeds = 0;
  let after = '';
  for (;;) {
    const done = await feedEpoch.beginRange(after, feedsPerStatement, rangeLength);
    feeds += done.length;
    after = done.at(-1) ?? after;
    if (done.length < feedsPerStatement) return feeds;
  }
}
