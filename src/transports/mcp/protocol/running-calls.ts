import { z } from 'zod';
import { type BusLog, listenOnTopic, type McpBus, publishMessage } from './bus.ts';
import type { SessionOwner } from '../approvals/client-requests.ts';

export interface RunningCall {
  /** Aborts when nobody waits for the answer any more: the call is cancelled, its connection is gone, or the process stops. */
  signal: AbortSignal;
  /** Whether its client took it back. */
  isCancelled(): boolean;
  /** To be called when it is over. */
  end(): void;
}

export interface RunningCalls {
  /** Notes a call until its end. `by` is undefined for one without a session, which cannot be cancelled. */
  begin(by: SessionOwner | undefined, id: unknown, gone: AbortSignal): RunningCall;
  /** Takes a cancellation that arrived here to the process that runs the call (MCP, Cancellation). It may get lost. */
  cancel(by: SessionOwner, id: unknown): void;
  /** Lets no call wait any longer, nor any that begins. */
  close(): void;
}

const topic = 'mcp/cancelled';
const requestId = z.union([z.string().max(200), z.number()]);
const cancelSchema = z.object({ session: z.string(), agent_id: z.string(), id: requestId });

/** The calls that run in this process. A client takes one back by a POST that may reach any process, so all of them hear it. */
export function createRunningCalls(bus: McpBus, log: BusLog): RunningCalls {
  /** By session, agent and request id; a client should not, but may, use one id twice at once. */
  const cancellable = new Map<string, Set<() => void>>();
  const all = new Set<() => void>();
  let closed = false;
  const listening = listenOnTopic(bus, {
    topic,
    schema: cancelSchema,
    onMessage: (heard) => void cancelHere(heard, heard.id),
    log,
  });

  function cancelHere(by: SessionOwner, id: string | number): boolean {
    const found = cancellable.get(callKey(by, id));
    for (const cancel of found ?? []) cancel();
    return found !== undefined;
  }

  function noteCancellable(key: string, cancel: () => void): () => void {
    const same = cancellable.get(key) ?? new Set();
    cancellable.set(key, same.add(cancel));
    return () => {
      same.delete(cancel);
      if (same.size === 0) cancellable.delete(key);
    };
  }

  return {
    begin(by, id, gone) {
      /** Made for those who ask: most calls are over before anybody could leave. */
      let controller: AbortController | undefined;
      let aborted = gone.aborted || closed;
      let cancelled = false;
      const abort = () => {
        aborted = true;
        controller?.abort();
      };
      const forget =
        by &&
        noteCancellable(callKey(by, id), () => {
          cancelled = true;
          abort();
        });
      if (!aborted) gone.addEventListener('abort', abort, { once: true });
      all.add(abort);
      return {
        get signal() {
          controller ??= new AbortController();
          if (aborted) controller.abort();
          return controller.signal;
        },
        isCancelled: () => cancelled,
        end() {
          all.delete(abort);
          gone.removeEventListener('abort', abort);
          forget?.();
        },
      };
    },
    cancel(by, given) {
      const id = requestId.safeParse(given);
      if (!id.success || cancelHere(by, id.data)) return;
      publishMessage(bus, { topic, body: JSON.stringify({ ...by, id: id.data }) }, log);
    },
    close() {
      closed = true;
      for (const abort of all) abort();
      void listening.stop();
    },
  };
}

function callKey({ session, agent_id }: SessionOwner, id: unknown): string {
  return JSON.stringify([session, agent_id, id]);
}
