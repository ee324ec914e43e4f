import { system } from '../../packages/core/src/domain/auth/audit.ts';
import type { WebhookPacing } from '../../packages/core/src/domain/webhooks.ts';
import type { Core } from '../../src/compose.ts';
import type { AcceptedMessage } from '../../src/repositories/remote/messages.ts';
import type { RemoteThreadRow, RemoteThreadState } from '../../src/repositories/remote/threads.ts';
import { noteAccepted, type RemoteThread } from '../../src/services/remote/deliveries.ts';
import { createBatchLoader } from '../../src/shared/batch-loader.ts';

/** What the turns of this process read and store together, one statement or one transaction for many threads. */
export type ThreadBatches = ReturnType<typeof createThreadBatches>;

/** A message that was accepted, and the state of its thread after it. */
export interface Acceptance extends RemoteThread {
  message: AcceptedMessage;
  state: RemoteThreadState;
}

/** One batch is prepared while the other one is in the database. */
const limits = { maxBatchSize: 64, maxConcurrent: 2 };

/**
 * Returns the row of a thread of each request; null without one. Two requests of one thread follow each other: a turn that has lost its
 * thread must not get the row of the turn that has it.
 */
function inBatches<Request extends { thread_id: string }, Row extends { thread_id: string }>(
  load: (requests: readonly Request[]) => Promise<readonly Row[]>,
): (request: Request) => Promise<Row | null> {
  let requests = 0;
  return createBatchLoader<Request, Row | null>({
    ...limits,
    key: () => String((requests += 1)),
    async load(batch) {
      const answers = new Map<Request, Row | null>();
      for (let rest = batch; rest.length > 0; rest = rest.filter((request) => !answers.has(request))) {
        const round = new Map(rest.map((request) => [request.thread_id, request]));
        const rows = new Map((await load([...round.values()])).map((row) => [row.thread_id, row]));
        for (const [id, request] of round) answers.set(request, rows.get(id) ?? null);
      }
      return batch.map((request) => answers.get(request) ?? null);
    },
  });
}

/** What became of a message: the stored state of its thread, or why it could not be stored. */
type Accepted =
  | Awaited<ReturnType<Core['db']['remoteThreads']['store']>>[number]
  | { thread_id: string; error: unknown };

/** Creates the batches of a process. */
export function createThreadBatches({ db, unitOfWork }: Core, pacing: Pick<WebhookPacing, 'leaseMs'>) {
  const { remoteAgents, remoteThreads } = db;
  const idsOf = (threads: readonly { thread_id: string }[]) => threads.map(({ thread_id }) => thread_id);

  const acceptAll = (accepted: readonly Acceptance[]): Promise<Accepted[]> =>
    unitOfWork.write(system, async (work) => {
      const states = accepted.map(({ state }) => state);
      const [, stored] = await Promise.all([
        noteAccepted(work, accepted),
        work.db.remoteThreads.store(states, work.now),
      ]);
      return stored;
    });

  /** If a transaction fails, each message gets one of its own, so that one does not fail the others. */
  const accept = inBatches(async (accepted: readonly Acceptance[]) => {
    if (accepted.length === 1) return acceptAll(accepted);
    return acceptAll(accepted).catch(async () => {
      const alone = accepted.map((each) =>
        acceptAll([each]).catch((error: unknown) => [{ thread_id: each.thread_id, error }]),
      );
      return (await Promise.all(alone)).flat();
    });
  });

  return {
    /** Claims a thread with something to do; null if another process has it. */
    claim: inBatches(async (threads: readonly { thread_id: string }[]) => {
      const claimed = await remoteThreads.claim(idsOf(threads), Date.now(), pacing.leaseMs);
      const agents = await remoteAgents.findAll([...new Set(claimed.map(({ agent_id }) => agent_id))]);
      const agentOf = new Map(agents.map((agent) => [agent.agent_id, agent]));
      return claimed.flatMap((thread) => {
        const agent = agentOf.get(thread.agent_id);
        return agent ? { thread_id: thread.thread_id, thread, agent: { ...agent } } : [];
      });
    }),
    isDue: inBatches(async (threads: readonly { thread_id: string }[]) =>
      (await remoteThreads.listDueAmong(idsOf(threads), Date.now())).map((thread_id) => ({ thread_id })),
    ),
    peek: inBatches((threads: readonly (RemoteThreadRow & { is_bound: boolean })[]) =>
      remoteThreads.peek(threads, Date.now()),
    ),
    store: inBatches((states: readonly RemoteThreadState[]) => remoteThreads.store(states, Date.now())),
    /** Stores an accepted message with the state of its thread. Returns false if another process has the thread now. */
    async accept(acceptance: Acceptance): Promise<boolean> {
      const accepted = await accept(acceptance);
      if (accepted && 'error' in accepted) throw accepted.error;
      return accepted !== null;
    },
  };
}
