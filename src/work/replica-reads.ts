import { DomainError } from '../../packages/core/src/domain/errors.ts';
import { createRepositories, type Repositories } from '../repositories/index.ts';
import type { AgentPosition } from '../repositories/feed/positions.ts';
import type { Queryable } from '../repositories/queryable.ts';

/**
 * The outcome of a read on a replica: `served`, or the reason why the primary did it. `behind`: the replica has not replayed what the reader
 * knows. `refused`: the use case refused. `failed`: it failed. `away`: no replica is healthy.
 */
export type ReplicaOutcome = 'served' | 'behind' | 'refused' | 'failed' | 'away';

export interface ReplicaReadParts {
  primary: Queryable;
  /** Runs in one snapshot of a healthy replica; returns null without running if there is none. */
  read<T>(run: (db: Queryable) => Promise<T>): Promise<T | null>;
  onOutcome(outcome: ReplicaOutcome): void;
}

/**
 * Reads from a replica that has replayed everything the agent did and received, through any transport and process. The primary only
 * returns the position of the agent, at the same time as the replica. Returns null if the primary must do the read. Never rejects: after
 * an error on the replica, the primary decides.
 */
export function createReplicaReads({ primary, read, onOutcome }: ReplicaReadParts) {
  const { positions } = createRepositories(primary);

  return async function fromReplica<T>(
    agentId: string,
    run: (db: Repositories, snapshot: string) => Promise<T>,
  ): Promise<{ result: T } | null> {
    let outcome: ReplicaOutcome = 'away';
    try {
      return await read(async (db) => {
        outcome = 'behind';
        const replica = createRepositories(db);
        const [current, replayed] = await Promise.all([
          positions.find(agentId),
          replica.positions.find(agentId),
        ]);
        if (!current || !replayed || !isSame(current, replayed)) return null;
        const result = await run(replica, current.snapshot);
        outcome = 'served';
        return { result };
      });
    } catch (error) {
      outcome = error instanceof DomainError ? 'refused' : 'failed';
      return null;
    } finally {
      onOutcome(outcome);
    }
  };
}

export type ReplicaReads = ReturnType<typeof createReplicaReads>;

/** A replica that is already ahead is not the same either: the snapshot of the primary does not describe it. */
function isSame(current: AgentPosition, replayed: AgentPosition): boolean {
  return current.version === replayed.version && current.last_number === replayed.last_number;
}
