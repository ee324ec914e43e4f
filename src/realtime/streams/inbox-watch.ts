import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { InboxWatch, StreamEnd } from '../contract.ts';
import type { Listener, StreamRegistry } from './registry.ts';
import { tokenEnded } from './waiter.ts';
import { createWakeableSleep } from './wakeable-sleep.ts';
import { steadyNow } from '../../shared/clock.ts';

interface Watch extends InboxWatch {
  listener: Listener;
  notifyInbox(): void;
}

/** The calls of this process that wait for items of their agent's inbox. They cost nothing while nothing happens. */
export function createInboxWatches(registry: Pick<StreamRegistry, 'add' | 'remove'>) {
  const byAgent = new Map<string, Set<Watch>>();

  function remove(watch: Watch): void {
    const { agent_id } = watch.listener.actor;
    const watches = byAgent.get(agent_id);
    registry.remove(watch.listener);
    watches?.delete(watch);
    if (watches?.size === 0) byAgent.delete(agent_id);
  }

  return {
    async open(actor: Actor): Promise<InboxWatch> {
      const watch = createWatch(actor, remove);
      const watches = byAgent.get(actor.agent_id) ?? new Set();
      byAgent.set(actor.agent_id, watches.add(watch));
      try {
        registry.add(watch.listener);
        return watch;
      } catch (error) {
        watch.close();
        throw error;
      }
    },
    notify(agentId?: string): void {
      const notified = agentId === undefined ? byAgent.values() : [byAgent.get(agentId) ?? new Set<Watch>()];
      for (const watches of notified) for (const watch of watches) watch.notifyInbox();
    },
  };
}

function createWatch(actor: Actor, onClose: (watch: Watch) => void): Watch {
  let position = 0;
  let notifiedNumber = 0;
  let isNotified = false;
  let ended: StreamEnd | undefined;
  const { sleep, wake } = createWakeableSleep();

  const watch: Watch = {
    listener: {
      actor,
      transport: 'poll',
      position: () => position,
      notify(number) {
        notifiedNumber = Math.max(notifiedNumber, number);
        if (notifiedNumber > position) wake();
      },
      end(reason) {
        ended = reason;
        wake();
      },
    },
    notifyInbox() {
      isNotified = true;
      wake();
    },
    async wait({ after, until, signal }) {
      position = after;
      // One millisecond more: timers may fire slightly early.
      const ms = Math.min(until, actor.expires_at) - steadyNow() + 1;
      const isQuiet = notifiedNumber <= position && !isNotified;
      if (ms > 1 && isQuiet && !ended && !signal?.aborted) await sleep(ms, signal);
      isNotified = false;
      if (ended === 'token_ended' || steadyNow() >= actor.expires_at) throw tokenEnded();
      if (ended) {
        throw new DomainError('UNAVAILABLE', 'The wait was interrupted. Try again.', { retry_after: 1 });
      }
    },
    close: () => onClose(watch),
  };
  return watch;
}
