import { randomId } from './random-id.ts';
import { backOffMs, waitOrAbort } from './calls/back-off.ts';
import { AgentMessagingError, ApprovalRequiredError, ConflictError } from './errors.ts';
import { isTransient } from './events/poll.ts';
import type { AcknowledgeMessageInput, InboxCalls, Lease } from './generated/inbox.ts';

/** A message that answers the item: sent with the acknowledgement, both or neither. */
export type WorkReply = NonNullable<AcknowledgeMessageInput['reply']>;

export interface WorkOptions {
  /**
   * Handles one item. When it returns, the item is acknowledged, with the reply that it returns; when it throws, another instance gets the
   * item. A reply that a person reviews first ends the lease, too; if it is denied, the item comes again. The signal is aborted when the
   * lease is lost, also if the service cannot be reached to renew it: drop the work.
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

const maxWaitSeconds = 20;
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
    // With handlers at work, a free place must not be waited for long: they finish in the meantime. The wait is part of the lease.
    const wait_seconds = running.size > 0 ? 1 : Math.min(maxWaitSeconds, Math.floor(leaseSeconds / 3));
    const claimedAt = performance.now();
    try {
      const { leases } = await inbox.claimMessages(
        {
          max: Math.min(100, concurrency - running.size),
          wait_seconds,
          lease_seconds: leaseSeconds,
          consumer: options.consumer,
        },
        { signal, maxRetries: 0, timeoutMs: wait_seconds * 1_000 + 15_000 },
      );
      failures = 0;
      for (const lease of leases) {
        const claim = { lease, lease_seconds: leaseSeconds, claimedAt };
        const item: Promise<void> = handle(inbox, claim, options).finally(() => running.delete(item));
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

/** A lease, and when its claim was sent, by the clock of this process: it lasts at least `lease_seconds` from then on. */
interface Claim {
  lease: Lease;
  lease_seconds: number;
  claimedAt: number;
}

async function handle(
  inbox: InboxCalls,
  claim: Claim,
  { handler, onError }: Pick<WorkOptions, 'handler' | 'onError'>,
): Promise<void> {
  const { lease } = claim;
  const lease_id = lease.id;
  const { lost, stop } = keepLease(inbox, claim);
  try {
    const reply = await handler(lease, lost);
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
    stop();
  }
}

/** Renews a lease until `stop` is called or it is lost. */
function keepLease(
  inbox: InboxCalls,
  { lease, lease_seconds, claimedAt }: Claim,
): { lost: AbortSignal; stop: () => void } {
  const [lost, over] = [new AbortController(), new AbortController()];
  const leaseMs = lease_seconds * 1_000;
  let ending: ReturnType<typeof setTimeout> | undefined;
  let endsAt = 0;
  function keepFrom(requestedAt: number): void {
    endsAt = Math.max(endsAt, requestedAt + leaseMs);
    clearTimeout(ending);
    ending = setTimeout(() => {
      lose(new ConflictError({ code: 'LEASE_LOST', message: 'The lease was not renewed before its end.' }));
    }, endsAt - performance.now());
  }
  const renewing = setInterval(() => {
    const requestedAt = performance.now();
    inbox.renewLease({ lease_id: lease.id, lease_seconds }, { signal: over.signal }).then(
      () => over.signal.aborted || keepFrom(requestedAt),
      (error: unknown) => {
        if (!over.signal.aborted && !isTransient(error)) lose(error);
      },
    );
  }, leaseMs / 3);
  function stop(): void {
    clearInterval(renewing);
    clearTimeout(ending);
    over.abort();
  }
  function lose(reason: unknown): void {
    stop();
    lost.abort(reason);
  }
  keepFrom(claimedAt);
  return { lost: lost.signal, stop };
}

const isInReview = (error: unknown): boolean => error instanceof ApprovalRequiredError;
const isLost = (error: unknown): boolean =>
  error instanceof AgentMessagingError && error.code === 'LEASE_LOST';

const ignore = (isExpected: (error: unknown) => boolean) => (error: unknown) => {
  if (!isExpected(error)) throw error;
};
