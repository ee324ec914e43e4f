import { randomId } from './random-id.ts';
import { backOffMs, waitOrAbort } from './calls/back-off.ts';
import { AgentMessagingError, ApprovalRequiredError } from './errors.ts';
import { isTransient } from './events/poll.ts';
import type { AcknowledgeMessageInput, InboxCalls, Lease } from './generated/inbox.ts';

/** A message that answers the item: sent with the acknowledgement, both or neither. */
export type WorkReply = NonNullable<AcknowledgeMessageInput['reply']>;

export interface WorkOptions {
  /**
   * Handles one item. When it returns, the item is acknowledged, with the reply that it returns; when it throws, another instance gets the
   * item. A reply that a person reviews first ends the lease, too; if it is denied, the item comes again. The signal is aborted when the
   * lease is lost: drop the work.
   */
  handler: (lease: Lease, signal: AbortSignal) => Promise<WorkReply | void>;
  /** Items at a time; default: 1. */
  concurrency?: number;
  /** A lease is renewed while the handler runs; after a crash another instance gets the item after this time. Default: 60. */
  leaseSeconds?: number;
  /** The name of this instance; default: the host name and the process ID, or a random name in browsers. */
  consumer?: string;
  /** Ends the work: no more items are claimed, and those that are claimed are finished. */
  signal?: AbortSignal;
  /** What a handler threw, and failures of the service. Without a lease, claiming failed and is repeated. */
  onError?: (error: unknown, lease?: Lease) => void;
}

export interface InboxWork {
  /** Handles the items of the inbox, until the signal or SIGTERM. Resolves when the last handler has finished. */
  work(options: WorkOptions): Promise<void>;
}

/** What the work needs of the platform. */
export interface WorkPlatform {
  onTerminate?: OnTerminate;
  /** The host name and the process ID. */
  consumer?: string;
}

/** Calls back when the program is told to end; returns how to stop listening. */
export type OnTerminate = (stop: () => void) => () => void;

const waitSeconds = 20;
const maxDelaySeconds = 300;

/** Creates the loop that claims and handles items. */
export function createInboxWork(inbox: InboxCalls, { onTerminate, consumer }: WorkPlatform): InboxWork {
  const defaultConsumer = consumer ?? `client-${randomId().slice(0, 8)}`;
  return {
    async work(options) {
      const stop = new AbortController();
      const end = () => stop.abort();
      const forget = onTerminate?.(end);
      options.signal?.addEventListener('abort', end, { once: true });
      if (options.signal?.aborted) end();
      const running = new Set<Promise<void>>();
      try {
        const named = { ...options, consumer: options.consumer ?? defaultConsumer };
        await claimUntil(inbox, named, stop.signal, running);
      } finally {
        await Promise.all(running);
        options.signal?.removeEventListener('abort', end);
        forget?.();
      }
    },
  };
}

async function claimUntil(
  inbox: InboxCalls,
  { concurrency = 1, leaseSeconds = 60, ...options }: WorkOptions,
  signal: AbortSignal,
  running: Set<Promise<void>>,
): Promise<void> {
  for (let failures = 0; !signal.aborted;) {
    if (running.size >= concurrency) {
      await Promise.race(running);
      continue;
    }
    try {
      const { leases } = await inbox.claimMessages(
        {
          max: Math.min(100, concurrency - running.size),
          // With handlers at work, a free place must not be waited for long: they finish in the meantime.
          wait_seconds: running.size > 0 ? 1 : waitSeconds,
          lease_seconds: leaseSeconds,
          consumer: options.consumer,
        },
        { signal, maxRetries: 0 },
      );
      failures = 0;
      for (const lease of leases) {
        const item: Promise<void> = handle(inbox, lease, leaseSeconds, options).finally(() =>
          running.delete(item),
        );
        running.add(item);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!isTransient(error)) throw error;
      options.onError?.(error);
      failures += 1;
      await waitOrAbort(backOffMs(failures), signal);
    }
  }
}

async function handle(
  inbox: InboxCalls,
  lease: Lease,
  lease_seconds: number,
  { handler, onError }: Pick<WorkOptions, 'handler' | 'onError'>,
): Promise<void> {
  const lost = new AbortController();
  const lease_id = lease.id;
  const timer = setInterval(
    () => {
      inbox.renewLease({ lease_id, lease_seconds }).catch((error: unknown) => {
        if (!isTransient(error)) lost.abort(error);
      });
    },
    (lease_seconds * 1_000) / 3,
  );
  try {
    const reply = await handler(lease, lost.signal);
    await inbox
      .acknowledgeMessage({ lease_id, ...(reply !== undefined && { reply }) }, { idempotencyKey: lease_id })
      .catch(ignore(isInReview));
  } catch (error) {
    onError?.(error, lease);
    const reason = (error instanceof Error ? error.message : String(error)).slice(0, 500);
    const delay_seconds = Math.min(maxDelaySeconds, 2 ** (lease.attempt - 1));
    await inbox
      .releaseMessage({ lease_id, delay_seconds, reason })
      .catch(ignore(isLost))
      .catch((failure: unknown) => onError?.(failure, lease)); // the lease ends by itself
  } finally {
    clearInterval(timer);
  }
}

const isInReview = (error: unknown): boolean => error instanceof ApprovalRequiredError;
const isLost = (error: unknown): boolean =>
  error instanceof AgentMessagingError && error.code === 'LEASE_LOST';

const ignore = (isExpected: (error: unknown) => boolean) => (error: unknown) => {
  if (!isExpected(error)) throw error;
};
