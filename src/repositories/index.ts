import { agentsRepository } from './agents.ts';
import { feedRepository } from './feed.ts';
import { idempotencyKeysRepository } from './idempotency-keys.ts';
import { messagesRepository } from './messages.ts';
import { outboxRepository } from './outbox.ts';
import type { Queryable } from './queryable.ts';
import { threadsRepository } from './threads.ts';

/** Every repository, bound to the pool or to one transaction. */
export function repositoriesOn(db: Queryable) {
  return {
    agents: agentsRepository(db),
    threads: threadsRepository(db),
    messages: messagesRepository(db),
    feed: feedRepository(db),
    outbox: outboxRepository(db),
    idempotencyKeys: idempotencyKeysRepository(db),
  };
}

export type Repositories = ReturnType<typeof repositoriesOn>;
