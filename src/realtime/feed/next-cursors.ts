import type { Cursors } from '../../domain/feed/cursors.ts';

type FeedCursors = Pick<Cursors, 'encodeFeed'>;

/** How long nobody must have asked before cursors are made ahead, in milliseconds: what has just come goes to its readers first. */
const idleMs = 5;
/** Cursors made in one turn of the event loop. */
const maxPerTurn = 50;

/**
 * Signs the cursors of live readers, the next one of each while nothing else goes on. An event for 200 readers takes 200 signatures, a
 * quarter of the time between its first frame and its last one; but the numbers of a feed follow one another, so that the next cursor is
 * known before there is anything to go with it. Under load nothing is made ahead, and each is made when it is asked for.
 * @param agents whose next cursor is kept, at most.
 */
export function createNextCursors(cursors: FeedCursors, agents: number): FeedCursors {
  const known = new Map<string, { number: number; cursor: string }>();
  /** The numbers whose cursors are to be made. */
  const wanted = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  /** Whether somebody has asked since the timer was set. */
  let busy = false;

  function wait(): void {
    busy = false;
    timer = setTimeout(makeSome, idleMs).unref();
  }

  function makeSome(): void {
    if (busy) {
      wait();
      return;
    }
    let room = maxPerTurn;
    for (const [agentId, number] of wanted) {
      if (room-- === 0) break;
      wanted.delete(agentId);
      if (known.size >= agents && !known.has(agentId)) known.clear();
      known.set(agentId, { number, cursor: cursors.encodeFeed(agentId, number) });
    }
    if (wanted.size > 0) setImmediate(makeSome);
    else timer = undefined;
  }

  return {
    encodeFeed(agentId, number) {
      const next = known.get(agentId);
      busy = true;
      if (wanted.size < agents) wanted.set(agentId, number + 1);
      if (!timer) wait();
      return next?.number === number ? next.cursor : cursors.encodeFeed(agentId, number);
    },
  };
}
