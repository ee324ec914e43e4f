import { DomainError } from '../domain/errors.ts';
import type { Administration, UnitOfWork } from '../unit-of-work.ts';
import { retire } from './retirement.ts';

type Doors = Pick<UnitOfWork, 'administer' | 'record' | 'consult'>;

export interface Erasure {
  unitOfWork: Doors;
  /** Removes stored bytes; harmless when there are none. */
  removeBytes(key: string): Promise<void>;
  /** Told how far it is: messages of everybody that were looked through. */
  progress(examined: number): void;
}

/** How many rows of what an erasure took out, or emptied. A second run finds nothing. */
export type ErasureReport = Record<string, number>;

const messagesAtOnce = 5_000;
const linesAtOnce = 2_000;
const filesAtOnce = 100;

/**
 * Erases an agent: retires it first, so that nothing new comes; then its card, whom it trusted and blocked, what it could sign in by, its approvals,
 * webhooks, feed, files with their bytes, and what it said. Its messages stay in their places as empty ones that say so, its handle
 * stays with them and is never given away again: the order of others holds. It may be killed at any point, and begins anew.
 */
export async function eraseAgent(
  { unitOfWork, removeBytes, progress }: Erasure,
  agent: { id: string; retired_at: number | null; canonical_handle: string },
): Promise<ErasureReport> {
  const { id } = agent;
  if (agent.retired_at === null) await unitOfWork.record((work) => retire(work, agent));
  const report: ErasureReport = await unitOfWork.administer(async (work) => {
    const counts = await work.erasure.owned(id);
    await work.erasure.card(id, work.now);
    work.note({ act: 'agent.erased', agent_id: id });
    return counts;
  });
  report['feed_lines'] = await repeated(
    (limit) => step(unitOfWork, (work) => work.erasure.feed(id, limit)),
    linesAtOnce,
  );
  report['messages'] = await eraseMessages(unitOfWork, id, progress);
  report['files'] = await eraseFiles({ unitOfWork, removeBytes }, id);
  return report;
}

async function eraseMessages(unitOfWork: Doors, id: string, progress: Erasure['progress']): Promise<number> {
  let [erased, examined, after] = [0, 0, ''];
  for (;;) {
    const found = await unitOfWork.consult((all) => all.erasure.look(id, after, messagesAtOnce));
    if (found.mine.length > 0) erased += await step(unitOfWork, (work) => work.erasure.messages(found.mine));
    ({ after } = found);
    examined += found.examined;
    progress(examined);
    if (found.examined < messagesAtOnce) return erased;
  }
}

/** First the row, then the bytes: what a run that was killed leaves in between, the sweep of the store finds. */
async function eraseFiles(
  { unitOfWork, removeBytes }: Pick<Erasure, 'unitOfWork' | 'removeBytes'>,
  id: string,
): Promise<number> {
  const remove = async (keys: readonly string[]) => {
    for (const key of keys) await removeBytes(key);
    return keys.length;
  };
  const unfinished = await remove(await step(unitOfWork, (work) => work.erasure.uploads(id)));
  const files = await repeated(
    async (limit) => remove(await step(unitOfWork, (work) => work.erasure.files(id, limit))),
    filesAtOnce,
  );
  return unfinished + files;
}

function step<T>({ administer }: Doors, run: (work: Administration) => Promise<T>): Promise<T> {
  return administer(run);
}

async function repeated(next: (limit: number) => Promise<number>, limit: number): Promise<number> {
  let all = 0;
  for (;;) {
    const done = await next(limit);
    all += done;
    if (done < limit) return all;
  }
}

/** @throws {DomainError} INVALID_TRANSITION unless the operator repeats the handle: what is erased does not come back. */
export function requireConfirmed(handle: string, repeated_handle: string): void {
  if (handle === repeated_handle) return;
  throw new DomainError('INVALID_TRANSITION', `To erase it for good, repeat its handle: --confirm ${handle}`);
}
