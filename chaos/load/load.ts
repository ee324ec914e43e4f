import { setTimeout as pause } from 'node:timers/promises';
import type { LoadHistory } from '../history.ts';
import { type Random, seededRandom } from '../random.ts';
import type { WebhookReceiver } from '../../scripts/parts/webhook-receiver.ts';
import { createA2aActions } from './a2a-actions.ts';
import { createAgentActions } from './agent-actions.ts';
import { createLoadContext } from './context.ts';
import { turnOnInboxes } from './inbox-actions.ts';
import { startInstances } from './instances.ts';
import { createMessageActions, type LastMessages } from './message-actions.ts';
import type { Population } from './population.ts';
import { createTaskActions, createTaskRecord } from './task-actions.ts';
import { createTaskStreams } from './task-streams.ts';
import { createRetry, type Outcomes } from './retry.ts';

export interface Load extends Outcomes {
  history: LoadHistory;
  /** Starts no new actions; resolves when all started ones are acknowledged and the inboxes are empty, or `giveUp` aborts. */
  finish(giveUp: AbortSignal): Promise<void>;
  /**
   * Sends two messages of different members to every thread, after `finish`. Every member then has a message of others at the end of
   * the thread, so that every delivered and handled mark must move once more. Resolves when the inboxes are empty, or `giveUp` aborts.
   */
  sendLast(giveUp: AbortSignal): Promise<LastMessages[]>;
  /** Reads the tasks of A2A clients and ends their streams; see `TaskStreams`. */
  finishStreams(giveUp: AbortSignal): Promise<void>;
  /** Stops the instances. */
  close(): Promise<void>;
}

/** Number of concurrent actions. */
const concurrency = 8;
const maxPauseBetweenActionsMs = 150;

/**
 * Runs actions of all agents until `finish`. Each action is retried with one key until it is acknowledged.
 * @param receiver gets the requests of webhooks; null: no webhooks are created.
 */
export async function startLoad(options: {
  base: string;
  population: Population;
  seed: number;
  receiver: WebhookReceiver | null;
}): Promise<Load> {
  const random = seededRandom(options.seed);
  const history: LoadHistory = {
    sends: [],
    contact_requests: [],
    marks: [],
    member_changes: [],
    uploads: [],
    webhooks: [],
    inboxes: [],
    leases: [],
    redrives: [],
    task_calls: [],
    a2a_tasks: [],
  };
  const outcomes: Outcomes = { complaints: [], uncertainOutcomes: new Map() };
  const stopped = new AbortController();
  const abandoned = new AbortController();
  const retry = createRetry(outcomes, random, abandoned.signal);
  const context = createLoadContext({ ...options, random, history, retry });
  const tasks = createTaskRecord(history);
  const streams = createTaskStreams((what) => void outcomes.complaints.push(what));
  const actions = {
    ...createMessageActions(context),
    ...createAgentActions(context),
    ...createTaskActions(context, tasks),
    ...createA2aActions(context, tasks, streams),
  };

  await turnOnInboxes(context);
  const instances = startInstances(context, { outcomes, abandoned: abandoned.signal });

  const running = Promise.all(
    Array.from({ length: concurrency }, async (_, index) => {
      // Short runs use A2A, too.
      if (index === 0) await actions.askOverA2a();
      while (!stopped.signal.aborted) {
        await runRandomAction(random, actions);
        await pause(random.below(maxPauseBetweenActionsMs));
      }
    }),
  );
  return {
    ...outcomes,
    history,
    async finish(giveUp) {
      stopped.abort();
      if (giveUp.aborted) abandoned.abort();
      giveUp.addEventListener('abort', () => abandoned.abort(), { once: true });
      await running;
      await instances.drain(giveUp);
    },
    async sendLast(giveUp) {
      const last = await actions.sendLast();
      await instances.drain(giveUp);
      return last;
    },
    finishStreams: streams.finish,
    async close() {
      await instances.stop();
      for (const agent of context.agents) context.callersOf(agent).cut();
    },
  };
}

type LoadActions = ReturnType<typeof createMessageActions> &
  ReturnType<typeof createAgentActions> &
  ReturnType<typeof createTaskActions> &
  ReturnType<typeof createA2aActions>;

/** The actions, each with its share in percent. */
const shares: [action: (actions: LoadActions) => Promise<unknown>, percent: number][] = [
  [(actions) => actions.send('REST'), 15],
  [(actions) => actions.send('tool'), 13],
  [(actions) => actions.send('call'), 11],
  [(actions) => actions.sendBatch(), 5],
  [(actions) => actions.sendFile(), 6],
  [(actions) => actions.openThread(), 5],
  [(actions) => actions.requestContact(), 4],
  [(actions) => actions.addMember(), 5],
  [(actions) => actions.removeMember(), 4],
  [(actions) => actions.createWebhook(), 1],
  [(actions) => actions.markRead(), 10],
  [(actions) => actions.openTask(), 8],
  [(actions) => actions.updateTask(), 6],
  [(actions) => actions.cancelTask(), 2],
  [(actions) => actions.askOverA2a(), 5],
];

async function runRandomAction(random: Random, actions: LoadActions): Promise<void> {
  let percent = random.below(100);
  for (const [run, share] of shares) {
    if (percent < share) return void (await run(actions));
    percent -= share;
  }
}
