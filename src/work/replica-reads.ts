import { DomainError } from '../domain/errors.ts';
import { Repositories } from '../repositories/index.ts';
import { type AgentPosition, positionsRepository } from '../repositories/feed/positions.ts';
import type { Queryable } from '../repositories/queryable.ts';

/**
 * What became of a read that a replica may do: `served` there; or done on the primary, because the replica has not replayed what its
 * reader knows (`behind`), refused (`refused`), failed (`failed`), or none was well (`away`).
 */
export type ReplicaOutcome = 'served' | 'behind' | 'refused' | 'failed' | 'away';

export interface ReplicaReadParts {
  primary: Queryable;
  /** Runs in one snapshot of a replica that is well; answers null, without running, when none is. */
  read<T>(run: (db: Queryable) => Promise<T>): Promise<T | null>;
  onOutcome(outcome: ReplicaOutcome): void;
}

/**
 * Reads from a replica what it may tell this agent: only when it has replayed all that the agent has done, by whatever door and
 * process, and all that it has been told of. The primary is asked for no more than the agent's position, at the same time as the replica.
 * Answers null when the primary has to do it. Never rejects: the replica has no last word, neither on refusals nor on faults.
 */
export function createReplicaReads({ primary, read, onOutcome }: ReplicaReadParts) {
  const positions = positionsRepository(primary);

  return async function fromReplica<T>(
    agentId: string,
    run: (repositories: Repositories, snapshot: string) => Promise<T>,
  ): Promise<{ result: T } | null> {
    let outcome: ReplicaOutcome = 'away';
    try {
      return await read(async (db) => {
        outcome = 'behind';
        const [now, there] = await Promise.all([
          positions.find(agentId),
          positionsRepository(db).find(agentId),
        ]);
        if (!now || !there || !isSame(now, there)) return null;
        const result = await run(new Repositories(db), now.snapshot);
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

/** A replica that is ahead by now is not the same: the primary's snapshot would not describe what it shows. */
function isSame(now: AgentPosition, there: AgentPosition): boolean {
  return now.version === there.version && now.last_number === there.last_number;
}
