import type { Actor } from '../../packages/core/src/domain/auth/actor.ts';
import type { ApprovalAction } from '../../packages/core/src/domain/approvals.ts';
import type { FileAddresses } from '../../packages/core/src/domain/attachments/attachments.ts';
import { type Author, authorFromActor, serviceAuthor } from '../../packages/core/src/domain/auth/audit.ts';
import type { DomainError } from '../../packages/core/src/domain/errors.ts';
import type { Cursors } from './cursors.ts';
import type { LoopLimit, UnsentLimit } from '../../packages/core/src/domain/limits.ts';
import type { WebhookSender } from '../../packages/core/src/domain/outbound.ts';
import { Repositories } from '../repositories/index.ts';
import type { SealedBox } from '../shared/encryption.ts';
import { ChangeSet, type Recorder } from './change-set.ts';
import type { CommitRecord } from './commit.ts';
import type { KnownThreads } from './known-threads.ts';
import type { ReplicaReads } from './replica-reads.ts';
import { createTransact, type TransactionParts, withDomainErrors } from './transaction.ts';

/** What every unit of work in this process shares. */
export interface WorkSettings {
  cursors: Cursors;
  addresses: FileAddresses;
  /** How often two agents may answer each other quickly; null: unlimited. */
  loopLimit: LoopLimit | null;
  /** How many files an agent may keep without sending them; null: unlimited. */
  unsentLimit: UnsentLimit | null;
  /** The accepted media types of files; null accepts all. */
  attachmentTypes: readonly string[] | null;
  /** What this process remembers of threads between two sends. */
  knownThreads: KnownThreads;
  /** Encrypts what the database must not hold in plain text. */
  sealedBox: SealedBox;
  /** Sends to addresses that users choose. Never await it in a transaction. */
  webhookSender: WebhookSender;
  /** How many agents an owner may have; null: unlimited. */
  maxAgents: number | null;
  /** Runs the call that a person approved, as the agent of `work`; returns its answer as JSON text. Throws what the call throws. */
  runApproved(work: Work, call: ApprovedCall): Promise<string>;
}

/** The call that an approval allows. */
export interface ApprovedCall {
  action: ApprovalAction;
  /** Handle of the agent that it concerns. */
  target: string;
  /** The message to that agent; can be empty. */
  message: string;
}

/** What a use case without an acting agent gets: an operator's command, the authorization server, a job. */
export interface SystemWork extends Repositories, WorkSettings, Recorder {
  /** Milliseconds since the epoch; the same for the whole unit of work. */
  now: number;
}

/** What a use case of an agent gets. */
export interface Work extends SystemWork {
  actor: Actor;
  /** On a replica: which transactions were committed when the read began (pg_snapshot), because the replica cannot tell. */
  snapshot?: string;
}

/** The same unit of work, for an agent. */
export function actAs(work: SystemWork, actor: Actor): Work {
  return Object.assign(Object.create(Object.getPrototypeOf(work) as object) as SystemWork, work, { actor });
}

/** A request whose effect must happen only once. */
export interface IdempotencyClaim {
  key_hash: Buffer;
  request_hash: Buffer;
}

/** The response body, or the text to store in its place. */
interface IdempotentAnswer {
  body: string;
  kept_as?: string;
}

/** One of several writes in one transaction. */
export interface BatchedWrite {
  actor: Actor;
  claim: IdempotencyClaim | null;
  /** The traceparent of the request, if it is traced. */
  trace: string | undefined;
}

/** The outcome of one of several writes: its answer, its error, or null if it cannot be batched. */
export type BatchResult<T> = T | DomainError | null;

export interface UnitOfWorkParts extends TransactionParts {
  settings: WorkSettings;
  /** Without it, every read uses the primary database. */
  fromReplica?: ReplicaReads | undefined;
  /** The traceparent of the current request, if it is traced. */
  trace?(): string | undefined;
}

/** Opens units of work: reads on the pool, writes in one transaction each. Database errors become domain errors. */
export function createUnitOfWork(parts: UnitOfWorkParts) {
  return {
    ...createReads(parts),
    ...createWrites(parts),
    /** Encrypts `kept_as`. */
    sealedBox: parts.settings.sealedBox,
    currentTrace: () => parts.trace?.(),
  };
}

export type UnitOfWork = ReturnType<typeof createUnitOfWork>;

function createReads({ settings, database, now, fromReplica }: UnitOfWorkParts) {
  const pool = new Repositories(database);

  return {
    /**
     * Runs without a transaction: each statement sees its own snapshot. With `replica`, `run` runs in one snapshot of a replica if that has
     * replayed everything the actor did and received. It can then run a second time, on the primary.
     */
    async read<T>(actor: Actor, run: (work: Work) => Promise<T>, replica = false): Promise<T> {
      const open = (repositories: Repositories, snapshot?: string) =>
        run(
          Object.assign(repositories, settings, readOnly, {
            actor,
            now: now(),
            ...(snapshot !== undefined && { snapshot }),
          }),
        );
      const served = replica ? await fromReplica?.(actor.agent_id, open) : null;
      return served ? served.result : withDomainErrors(() => open(new Repositories(database)));
    },

    /** As `read`, without an actor: the token check, the authorization server, operators. */
    readAsSystem<T>(run: (repositories: Repositories) => Promise<T>): Promise<T> {
      return withDomainErrors(() => run(pool));
    },

    /** Those of these keys whose effects are committed. */
    listUsedKeys: (keyHashes: readonly Buffer[]) =>
      withDomainErrors(() => pool.idempotencyKeys.listAnswered(keyHashes)),

    /** The stored answer of a claim, if its effect is committed. */
    findAnswer: (claim: IdempotencyClaim) =>
      withDomainErrors(() => pool.idempotencyKeys.find(claim.key_hash)),
  };
}

function createWrites(parts: UnitOfWorkParts) {
  const { settings } = parts;
  const transact = createTransact(parts);
  const currentTrace = () => parts.trace?.();

  return {
    /** Runs in one transaction. With a claim, the answer is stored in the same commit. */
    write<T extends IdempotentAnswer>(
      actor: Actor,
      claim: IdempotencyClaim | null,
      run: (work: Work) => Promise<T>,
    ): Promise<T> {
      const changes = new ChangeSet(authorFromActor(actor), currentTrace());
      return transact({
        changeSets: [changes],
        touched: [actor.agent_id],
        run: (open, now) => run(Object.assign(open(), settings, recorderOf(changes), { actor, now })),
        keysOf: (answer) => toIdempotencyKeys(claim, answer),
      });
    },

    /**
     * Runs several writes of several actors in one transaction; each has its own change set. `run` returns an outcome for each, in order.
     * A write with an error or null must have changed nothing. A write that succeeds must emit an event to its actor: a replica sees
     * by the actor's feed whether it has replayed the write. If anything fails, nothing of any write stays.
     */
    writeBatch<Call extends BatchedWrite, T extends IdempotentAnswer>(
      calls: readonly Call[],
      run: (batch: readonly { call: Call; work: Work }[]) => Promise<readonly BatchResult<T>[]>,
    ): Promise<readonly BatchResult<T>[]> {
      const batch = calls.map((call) => ({
        call,
        changes: new ChangeSet(authorFromActor(call.actor), call.trace),
      }));
      return transact({
        changeSets: batch.map(({ changes }) => changes),
        run: (open, now) =>
          run(
            batch.map(({ call, changes }) => {
              const own = { actor: call.actor, now };
              return { call, work: Object.assign(open(), settings, recorderOf(changes), own) };
            }),
          ),
        keysOf: (answers) =>
          calls.flatMap((call, at) => {
            const answer = answers[at] ?? null;
            return answer === null || answer instanceof Error ? [] : toIdempotencyKeys(call.claim, answer);
          }),
      });
    },

    /** As `write`, without an actor. The audit log names `author`. */
    writeAsSystem<T>(run: (work: SystemWork) => Promise<T>, author: Author = serviceAuthor): Promise<T> {
      const changes = new ChangeSet(author, currentTrace());
      return transact({
        changeSets: [changes],
        run: (open, now) => run(Object.assign(open(), settings, recorderOf(changes), { now })),
      });
    },
  };
}

function recorderOf(changes: ChangeSet): Recorder {
  const { audit, emit, publish, moveHandledMarks, enqueue, defer, storeAnswer } = changes;
  const { changeRelations, expectRelations, afterCommit } = changes;
  const recorded = { audit, emit, publish, moveHandledMarks, enqueue, defer, storeAnswer };
  return { ...recorded, changeRelations, expectRelations, afterCommit };
}

const refuseChange = () => {
  throw new Error('a read must not change anything');
};
const readOnly: Recorder = {
  audit: refuseChange,
  emit: refuseChange,
  publish: refuseChange,
  moveHandledMarks: refuseChange,
  enqueue: refuseChange,
  defer: refuseChange,
  storeAnswer: refuseChange,
  changeRelations: refuseChange,
  expectRelations: refuseChange,
  afterCommit: refuseChange,
};

function toIdempotencyKeys(claim: IdempotencyClaim | null, answer: IdempotentAnswer): CommitRecord['keys'] {
  return claim ? [{ ...claim, answer: answer.kept_as ?? answer.body }] : [];
}
