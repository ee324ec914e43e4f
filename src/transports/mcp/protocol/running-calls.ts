import { z } from 'zod';
import { type BusParts, listenOnTopic, publishForAgent } from './bus.ts';
import type { SessionOwner } from '../approvals/client-requests.ts';

export interface RunningCall {
  /** Aborts when the call is cancelled, its connection closes, or the process stops. */
  signal: AbortSignal;
  /** Whether the client cancelled the call. */
  isCancelled(): boolean;
  /** Must be called when the call has ended. */
  end(): void;
}

export interface RunningCalls {
  /** Registers a call until its end. Calls without a session cannot be cancelled. */
  begin(owner: SessionOwner | undefined, id: unknown, disconnected: AbortSignal): RunningCall;
  /** Cancels a call here or in another process (MCP, Cancellation). The message may be lost. @throws {McpHttpError} 429 */
  cancel(owner: SessionOwner, id: unknown): Promise<void>;
  /** Aborts all calls, including those that begin later. */
  close(): void;
}

const topic = 'mcp/cancelled';
const requestId = z.union([z.string().max(200), z.number()]);
const cancelSchema = z.object({ session: z.string(), agent_id: z.string(), id: requestId });

/** The running calls of this process. A cancellation may reach any process, so it is published to all. */
export function createRunningCalls(parts: BusParts): RunningCalls {
  /** By session, agent and request id. A set, because a client may reuse an id while it is in use. */
  const cancellable = new Map<string, Set<() => void>>();
  const running = new Set<() => void>();
  let closed = false;
  const unsubscribe = listenOnTopic(parts.bus, {
    topic,
    schema: cancelSchema,
    onMessage: (message) => void cancelHere(message, message.id),
  });

  function cancelHere(owner: SessionOwner, id: string | number): boolean {
    const found = cancellable.get(callKey(owner, id));
    for (const cancel of found ?? []) cancel();
    return found !== undefined;
  }

  function registerCancellable(key: string, cancel: () => void): () => void {
    const cancels = cancellable.get(key) ?? new Set();
    cancellable.set(key, cancels.add(cancel));
    return () => {
      cancels.delete(cancel);
      if (cancels.size === 0) cancellable.delete(key);
    };
  }

  return {
    begin(owner, id, disconnected) {
      // Created on first use: most calls never read the signal.
      let controller: AbortController | undefined;
      let aborted = disconnected.aborted || closed;
      let cancelled = false;
      const abort = () => {
        aborted = true;
        controller?.abort();
      };
      const unregister =
        owner &&
        registerCancellable(callKey(owner, id), () => {
          cancelled = true;
          abort();
        });
      if (!aborted) disconnected.addEventListener('abort', abort, { once: true });
      running.add(abort);
      return {
        get signal() {
          controller ??= new AbortController();
          if (aborted) controller.abort();
          return controller.signal;
        },
        isCancelled: () => cancelled,
        end() {
          running.delete(abort);
          disconnected.removeEventListener('abort', abort);
          unregister?.();
        },
      };
    },
    async cancel(owner, rawId) {
      const id = requestId.safeParse(rawId);
      if (!id.success || cancelHere(owner, id.data)) return;
      await publishForAgent(parts, owner, { topic, body: JSON.stringify({ ...owner, id: id.data }) });
    },
    close() {
      closed = true;
      for (const abort of running) abort();
      unsubscribe();
    },
  };
}

function callKey({ session, agent_id }: SessionOwner, id: unknown): string {
  return JSON.stringify([session, agent_id, id]);
}
